"""GPUs as a grid of numbered cells, node by node; one frame for every axis of the chosen GPU."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.units import Count
from engine.core.views import Frame, Scene, Shape

_WIDTH, _LEFT, _FONT = 428.0, 4.0, 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A frame: the ranks that light up, in a color, and what is said of them."""

    ranks: tuple[Count, ...]
    color: str
    caption: Text


def rank_grid(count: Count, per_row: Count, chosen: Count, looks: Sequence[Look]) -> Scene:
    """Return the grid; `opening` is the last frame but one."""
    side = (_WIDTH - 2 * _LEFT) / per_row
    high = min(side, 40.0)
    rows = -(-count // per_row)
    return Scene(
        title="Whom the chosen GPU shares what with",
        width=_WIDTH,
        height=rows * high + 8,
        frames=tuple(
            Frame(
                caption=look.caption,
                shapes=tuple(
                    shape
                    for rank in range(count)
                    for shape in _cell(rank, per_row, (side, high), chosen, look)
                ),
            )
            for look in looks
        ),
        opening=max(0, len(looks) - 2),
        caption="A row is a node. Colored cells are the group of the GPU with the thick border.",
    )


def _cell(
    rank: Count, per_row: Count, size: tuple[float, float], chosen: Count, look: Look
) -> tuple[Shape, Shape]:
    row, column = divmod(rank, per_row)
    x, y = _LEFT + column * size[0], 4 + row * size[1]
    inside = rank in look.ranks
    kind = "cell done" if rank == chosen else "cell"
    square = Shape(
        key=f"g{rank}",
        tag="rect",
        attributes={
            "x": f"{x + 1:.1f}",
            "y": f"{y + 1:.1f}",
            "width": f"{size[0] - 2:.1f}",
            "height": f"{size[1] - 2:.1f}",
            "class": f"{kind} c-{look.color if inside else 'muted'}",
            "fill-opacity": "0.6" if inside else "0.06",
            "data-links": f"rank:{rank}",
        },
    )
    words = {
        "x": f"{x + size[0] / 2:.1f}",
        "y": f"{y + size[1] / 2 + 5:.1f}",
        "font-size": f"{min(_FONT, size[0] * 0.55):.3g}",
        "text-anchor": "middle",
        "class": "value c-ink",
    }
    return square, Shape(key=f"n{rank}", tag="text", attributes=words, text=f"{rank}")
