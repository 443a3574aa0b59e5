"""Shapes of the rank map: node boxes, GPUs, curves, legend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.core.units import Count
from engine.core.views import Shape
from engine.simulate.layer.device_model import Axis

_INSET = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A square of the drawing: upper left corner and side."""

    x: float
    y: float
    side: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its center."""
        return self.x + self.side / 2, self.y + self.side / 2

    @property
    def corner(self) -> tuple[float, float]:
        """A point near its upper right corner, beside its number."""
        return self.x + 0.78 * self.side, self.y + 0.22 * self.side


def node_box(
    node: Count,
    corner: tuple[float, float],
    gpus: tuple[Count, Count],
    side: float,
    head: float,
    links: str,
) -> list[Shape]:
    """Return the box of a node of (columns, rows) GPUs, and its name if there is room."""
    x, y = corner
    attributes = {
        "x": f"{x - 2:.1f}",
        "y": f"{y + head - 2:.1f}",
        "width": f"{gpus[0] * side + 4:.1f}",
        "height": f"{gpus[1] * side + 4:.1f}",
        "rx": "3",
        "class": "port",
    }
    if links:
        attributes["data-links"] = links
    ground = Shape(key=f"n{node}", tag="rect", attributes=attributes)
    if not head:
        return [ground]
    return [ground, _text(f"m{node}", (x + 1, y + head - 7), 17.6, f"node {node}", "c-muted", "")]


def cell(rank: Count, at: Place, tint: tuple[str, float], chosen: bool, links: str) -> Shape:
    """Return the square of a GPU; the selected one has a border."""
    inset = _INSET if at.side > 14 else 0.5
    return Shape(
        key=f"g{rank}",
        tag="rect",
        attributes={
            "x": f"{at.x + inset:.1f}",
            "y": f"{at.y + inset:.1f}",
            "width": f"{at.side - 2 * inset:.1f}",
            "height": f"{at.side - 2 * inset:.1f}",
            "rx": "2",
            "class": f"cell c-{tint[0]}" + (" done" if chosen else ""),
            "fill-opacity": f"{tint[1]:g}",
            "data-links": links,
        },
    )


@lru_cache(maxsize=2048)
def label(rank: Count, at: Place) -> Shape:
    """Return the number of a GPU."""
    x, y = at.middle
    font = min(17.6, at.side * 0.42)
    return _text(f"t{rank}", (x, y + font * 0.36), font, str(rank), "message-value leaving")


def curve(
    slot: Count, chains: Sequence[tuple[Count, Count, str, bool]], seats: Sequence[Place]
) -> Shape:
    """Return the curve in a slot, dashed between nodes, or an invisible one."""
    if slot >= len(chains):
        attributes = {"d": "M0 0", "class": "link c-muted", "fill": "none", "opacity": "0"}
        return Shape(key=f"e{slot}", tag="path", attributes=attributes)
    a, b, axis, across = chains[slot]
    (x0, y0), (x1, y1) = seats[a].corner, seats[b].corner
    # Beside the straight line, so that it does not run through the numbers of the GPUs between.
    bend = 0.12
    x, y = (x0 + x1) / 2 + bend * (y1 - y0), (y0 + y1) / 2 - bend * (x1 - x0)
    return Shape(
        key=f"e{slot}",
        tag="path",
        attributes={
            "d": f"M{x0:.1f} {y0:.1f}Q{x:.1f} {y:.1f} {x1:.1f} {y1:.1f}",
            "class": f"link c-{axis}",
            "fill": "none",
            "stroke-dasharray": "5 4" if across else "none",
            "opacity": "0.9",
        },
    )


# Widths of a square with its gaps, and of a letter of the legend.
_SQUARE, _LETTER = 32.0, 10.5


def legend(
    names: Mapping[Axis, str], shown: Axis | None, width: float, at: tuple[float, float]
) -> list[Shape]:
    """Return a square and a name per axis; in a frame of one axis the others are faint.

    They begin at the left edge `at` of the nodes, unless the names need more room than is there.
    """
    left, top = at
    need = max((_SQUARE + _LETTER * len(name) for name in names.values()), default=0.0)
    left = max(0.0, min(left, width - need * len(names)))
    room = (width - 2 * left) / max(len(names), 1)
    room = min(max(room, need), (width - left) / max(len(names), 1))
    shapes = []
    for index, (axis, name) in enumerate(names.items()):
        x, weak = left + index * room + 4, shown not in (None, axis)
        shapes.append(
            Shape(
                key=f"k{index}",
                tag="rect",
                attributes={
                    "x": f"{x:.1f}",
                    "y": f"{top + 4:.1f}",
                    "width": "14",
                    "height": "14",
                    "class": f"cell c-{axis}",
                    "fill-opacity": "0.15" if weak else "0.75",
                },
            )
        )
        shapes.append(_text(f"l{index}", (x + 20, top + 17), 17.6, name, "c-ink", ""))
    return shapes


def _text(
    key: str, at: tuple[float, float], size: float, text: str, kind: str, anchor: str = "middle"
) -> Shape:
    attributes = {
        "x": f"{at[0]:.1f}",
        "y": f"{at[1]:.1f}",
        "font-size": f"{size:.3g}",
        "class": kind,
    }
    if anchor:
        attributes["text-anchor"] = anchor
    return Shape(key=key, tag="text", attributes=attributes, text=text)
