"""Who sends how much to whom, as a scene: a square of colored cells, nodes outlined.

One frame shows all axes, then one frame each of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.units import Bytes, Count
from engine.core.views import Frame, Scene, Shape

SIDE, MARGIN, FOOT = 560.0, 34.0, 30.0
_DIGIT = 0.64  # width of a digit over its font size
_WEAKEST, _STRONGEST, _HIDDEN = 0.25, 0.95, 0.05
_DECADES = 4.0  # below the largest cell by so many, all cells are the weakest


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Bytes per step between parties: ranks, nodes, or blocks of nodes.

    Attributes:
        kind: "rank", "node" or "block": the kind of the parties' links.
        names: of the parties, along both sides.
        cells: (from, to) -> bytes by axis.
        per_node: parties of one node, outlined together; 1 outlines each by itself.
    """

    kind: str
    names: tuple[str, ...]
    cells: Mapping[tuple[Count, Count], Mapping[str, Bytes]]
    per_node: Count


def matrix_scene(
    matrix: Matrix, title: str, looks: Sequence[tuple[str, Text]], chosen: Count
) -> Scene:
    """Return the scene; `looks` are the frames, (axis, caption), the first of all axes ("")."""
    count = len(matrix.names)
    side = (SIDE - MARGIN) / count
    most = max((sum(cell.values()) for cell in matrix.cells.values()), default=1.0)
    ground = [_outline(index, matrix, side) for index in range(-(-count // matrix.per_node))]
    for index, name in enumerate(matrix.names):
        ground += _names((index, name), matrix, side, chosen)
    frames = []
    spots = tuple(f"{MARGIN + index * side + 0.5:.1f}" for index in range(count))
    squares = [
        (pair, cell, {"x": spots[pair[1]], "y": spots[pair[0]], "width": f"{side - 1:.1f}"})
        for pair, cell in sorted(matrix.cells.items())
    ]
    for axis, caption in looks:
        cells = [_cell(matrix.kind, *square, (axis, most)) for square in squares]
        frames.append(Frame(caption=caption, shapes=(*ground, *cells, *_legend(looks, axis))))
    return Scene(
        title=title,
        width=SIDE,
        height=SIDE + FOOT,
        frames=tuple(frames),
        caption="Rows send to columns. Color: the axis that moves most; stronger: more bytes, on a "
        "logarithmic scale. What lies outside the outlined squares leaves its node.",
    )


def _cell(
    kind: str,
    pair: tuple[Count, Count],
    cell: Mapping[str, Bytes],
    square: Mapping[str, str],
    look: tuple[str, Bytes],
) -> Shape:
    """Return a cell; frames of an axis fade the cells without its traffic."""
    shown, most = look
    axis = shown if shown in cell else max(cell, key=lambda name: cell[name])
    size = cell[axis] if shown else sum(cell.values())
    depth = min(1.0, math.log10(most / max(size, 1e-9)) / _DECADES)
    strength = _STRONGEST - (_STRONGEST - _WEAKEST) * depth
    if shown and shown not in cell:
        strength = _HIDDEN
    a, b = pair
    return Shape(
        key=f"c{a}.{b}",
        tag="rect",
        attributes={
            **square,
            "height": square["width"],
            "class": f"cell c-{axis}",
            "fill-opacity": f"{strength:.2f}",
            "data-links": f"{kind}:{a} {kind}:{b}",
        },
    )


def _legend(looks: Sequence[tuple[str, Text]], shown: str) -> list[Shape]:
    """Return a colored square and a name for each axis, under the matrix."""
    shapes = []
    axes = [axis for axis, _ in looks if axis]
    for index, axis in enumerate(axes):
        x = MARGIN + index * (SIDE - MARGIN) / len(axes)
        shapes.append(
            Shape(
                key=f"k{index}",
                tag="rect",
                attributes={
                    "x": f"{x:.1f}",
                    "y": f"{SIDE + 12:g}",
                    "width": "12",
                    "height": "12",
                    "class": f"cell c-{axis}",
                    "fill-opacity": "0.15" if shown not in ("", axis) else "0.8",
                },
            )
        )
        shapes.append(_label(f"l{index}", (x + 18, SIDE + 23), axis, 16.8, "c-ink"))
    return shapes


def _outline(index: Count, matrix: Matrix, side: float) -> Shape:
    first = index * matrix.per_node
    extent = min(matrix.per_node, len(matrix.names) - first) * side
    return Shape(
        key=f"o{index}",
        tag="rect",
        attributes={
            "x": f"{MARGIN + first * side:.1f}",
            "y": f"{MARGIN + first * side:.1f}",
            "width": f"{extent:.1f}",
            "height": f"{extent:.1f}",
            "class": "port",
        },
    )


def _names(label: tuple[Count, str], matrix: Matrix, side: float, chosen: Count) -> list[Shape]:
    """Return the name of a row, and that of its column where names stay apart."""
    index, name = label
    middle = MARGIN + (index + 0.5) * side
    font = min(16.8, side * 0.77)  # 11 pixels on a phone with 24 ranks
    kind = "c-accent" if index == chosen else "c-muted"
    every = math.ceil((_DIGIT * max(map(len, matrix.names)) + 0.4) * font / side)
    near = index != chosen and abs(index - chosen) < every
    above = "" if near or (index % every and index != chosen) else name
    return [
        _label(f"r{index}", (MARGIN - 5, middle + font * 0.35), name, font, kind, "end"),
        _label(f"q{index}", (middle, MARGIN - 6), above, font, kind, "middle"),
    ]


def _label(
    key: str,
    at: tuple[float, float],
    text: str,
    font: float,
    kind: str,
    anchor: str = "start",
) -> Shape:
    attributes = {
        "x": f"{at[0]:.1f}",
        "y": f"{at[1]:.1f}",
        "font-size": f"{font:.3g}",
        "text-anchor": anchor,
        "class": kind,
    }
    return Shape(key=key, tag="text", attributes=attributes, text=text)
