"""The multiprocessors of a GPU as a grid of cells, filled by the tiles of each wave."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.views import Frame, Scene, Shape

_WIDTH, _TOP, _GAP = 640.0, 34.0, 3.0
_LETTER = 19.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A wave to draw.

    Attributes:
        on: tiles on each multiprocessor.
        title: over the grid.
        caption: of its frame.
    """

    on: tuple[int, ...]
    title: str
    caption: Text


def sm_grid(waves: Sequence[Filled], places: int, caption: Text) -> Scene:
    """Return a frame for each wave; a cell is as dark as its multiprocessor is full."""
    count = len(waves[0].on)
    columns = math.ceil(math.sqrt(2 * count))
    side = (_WIDTH + _GAP) / columns - _GAP
    rows = -(-count // columns)
    return Scene(
        title="The multiprocessors, wave by wave",
        width=_WIDTH,
        height=_TOP + rows * (side + _GAP),
        frames=tuple(
            Frame(caption=one.caption, shapes=tuple(_shapes(one, columns, side, places)))
            for one in waves
        ),
        caption=caption,
    )


def _shapes(wave: Filled, columns: int, side: float, places: int) -> list[Shape]:
    head = {"x": "0", "y": "21", "font-size": f"{_LETTER:g}", "class": "value c-ink"}
    found = [Shape(key="title", tag="text", attributes=head, text=wave.title)]
    for index, tiles in enumerate(wave.on):
        row, column = divmod(index, columns)
        attributes = {
            "x": f"{column * (side + _GAP):.1f}",
            "y": f"{_TOP + row * (side + _GAP):.1f}",
            "width": f"{side:.1f}",
            "height": f"{side:.1f}",
            "rx": "3",
            "class": "cell c-compute" if tiles else "cell c-muted",
            "fill-opacity": f"{0.25 + 0.65 * tiles / places:.2f}" if tiles else "0.06",
            "data-links": f"sm:{index}",
        }
        found.append(Shape(key=f"sm{index}", tag="rect", attributes=attributes))
    return found
