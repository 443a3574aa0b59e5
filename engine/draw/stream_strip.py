"""Scenes of stream orders: draggable operations in the row of their stream."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.core.text import Text
from engine.core.views import Frame, Scene, Shape
from engine.draw.drag_handle import DragHandle

_WIDTH, _ROOM, _BOX = 600.0, 66.0, 60.0
_HIGH, _ROW, _TOP = 60.0, 102.0, 30.0
_LARGE, _SMALL = 20.0, 19.0  # still read on a phone, where the sheet is half as wide
_QUIET, _WAITED, _NOW = "0.16", "0.36", "0.68"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A drawn operation.

    Attributes:
        name: unique in the drawing.
        kind: what it does, short.
        layer: of which layer.
        row: of its stream, from the top.
        color: of its stream.
        marked: belongs to the chain that sets the length of the step.
        waits: names of what it waits for.
        caption: when it runs and why not sooner.
        grip: what a move of it changes.
    """

    name: str
    kind: str
    layer: str
    row: int
    color: str
    marked: bool
    waits: tuple[str, ...]
    caption: Text
    grip: DragHandle


def strip_scene(
    rows: Sequence[tuple[str, str]], chips: Sequence[Chip], turns: Sequence[str]
) -> Scene:
    """Return the scene, with one frame per operation in turn.

    `rows` hold the name of each stream and what it comes to; `turns` are the names of the chips
    in the order of the frames.
    """
    titles = [
        _words(f"{key}{at}", x, at * _ROW + 20, _SMALL, anchor, text)
        for at, (name, total) in enumerate(rows)
        for key, x, anchor, text in (("row", 2, "start", name), ("sum", _WIDTH - 4, "end", total))
    ]
    by_name = {chip.name: chip for chip in chips}
    chips_in_row = {"": 0}
    boxes: dict[str, Shape] = {}
    texts: list[Shape] = []
    for chip in chips:
        row = f"row{chip.row}"
        chips_in_row[row] = chips_in_row.get(row, 0) + 1
        x, y = (chips_in_row[row] - 1) * _ROOM + 2, chip.row * _ROW + _TOP
        boxes[chip.name] = _box(chip, x, y)
        texts += _names(chip, x + _BOX / 2, y)
    frames = []
    for now in turns:
        chip = by_name[now]
        tones = {**dict.fromkeys(chip.waits, _WAITED), now: _NOW}
        drawn = [_toned(box, tones.get(name, "")) for name, box in boxes.items()]
        frames.append(Frame(caption=chip.caption, shapes=(*titles, *drawn, *texts)))
    return Scene(
        title="The order of the operations",
        width=_WIDTH,
        height=(len(rows) - 1) * _ROW + _TOP + _HIGH + 8,
        frames=tuple(frames),
        caption="Drag a box past its neighbor. Thick borders mark the chain without a pause "
        "from the start of the step to its end.",
    )


def _box(chip: Chip, x: float, y: float) -> Shape:
    return Shape(
        key=f"chip-{chip.name}",
        tag="rect",
        attributes={
            "x": f"{x:g}",
            "y": f"{y:g}",
            "width": f"{_BOX:g}",
            "height": f"{_HIGH:g}",
            "rx": "4",
            "class": f"cell {'done ' if chip.marked else ''}c-{chip.color}",
            "fill-opacity": _QUIET,
            "data-links": f"op:{chip.name}",
            **replace(chip.grip, notch=0.7 * _ROOM).attributes(),
        },
    )


def _toned(box: Shape, tone: str) -> Shape:
    if not tone:
        return box
    return Shape(key=box.key, tag=box.tag, attributes={**box.attributes, "fill-opacity": tone})


def _names(chip: Chip, middle: float, y: float) -> list[Shape]:
    return [
        _words(f"kind-{chip.name}", middle, y + 26, _LARGE, "middle", chip.kind),
        _words(f"layer-{chip.name}", middle, y + 50, _SMALL, "middle", chip.layer),
    ]


def _words(key: str, x: float, y: float, size: float, anchor: str, text: str) -> Shape:
    attributes = {
        "x": f"{x:g}",
        "y": f"{y:g}",
        "font-size": f"{size:g}",
        "text-anchor": anchor,
        "class": "value c-ink",
    }
    return Shape(key=key, tag="text", attributes=attributes, text=text)
