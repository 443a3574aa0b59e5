"""The memories of a machine as shelves, the fastest on top; a tensor is dragged between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.draw.grip import Grip
from engine.text import Text
from engine.views import Frame, Scene, Shape

_WIDTH, _LETTER, _SMALL = 640.0, 19.0, 18.0  # read on a phone, where the sheet is half as wide
_HEAD, _CHIP, _FOOT = 29.0, 54.0, 15.0
_SHELF = _HEAD + _CHIP + _FOOT
_FIXED = 62.0  # of a shelf that nothing is dragged to
_GAP = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A memory on the chip and what it holds.

    Attributes:
        key: its own.
        name: of the memory.
        size: and speed, as written.
        inside: what it holds, in words.
        share: of the memory that this takes.
    """

    key: str
    name: str
    size: str
    inside: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A memory that tensors are dragged to.

    Attributes:
        key: its own, the value of the input.
        name: of the memory.
        size: how full it is, and how fast, as written.
        share: of its capacity that is taken; above 1 it does not fit.
    """

    key: str
    name: str
    size: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A tensor.

    Attributes:
        input: its name.
        key: its own.
        name: of the tensor.
        size: as written.
        color: of its kind.
        shelf: that it stands on, by number.
    """

    input: str
    key: str
    name: str
    size: str
    color: str
    shelf: int


def shelves_scene(
    fixed: Sequence[Fixed], shelves: Sequence[Shelf], chips: Sequence[Chip], caption: Text
) -> Scene:
    """Return the shelves from the fastest to the slowest, with the tensors on them."""
    shapes = [shape for at, one in enumerate(fixed) for shape in _fixed(at * _FIXED, one)]
    top = len(fixed) * _FIXED
    lefts, widths = _columns(chips)
    for at, shelf in enumerate(shelves):
        y = top + at * _SHELF
        shapes += _shelf(y, shelf)
        shapes += [
            _slot(f"{shelf.key}-{chip.key}", left, y + _HEAD, width)
            for chip, left, width in zip(chips, lefts, widths, strict=True)
        ]
    for chip, left, width in zip(chips, lefts, widths, strict=True):
        shapes += _chip(top, chip, left, width, shelves)
    return Scene(
        title="Which tensor lives where",
        width=_WIDTH,
        height=top + len(shelves) * _SHELF,
        frames=(Frame(caption=caption, shapes=tuple(shapes)),),
        caption="Drag a tensor up or down, or move it with the arrow keys. The line under a "
        "memory is as long as the memory is full. On the chip lies the tile of one matrix "
        "product; its program put it there, so it cannot be dragged.",
    )


def _columns(chips: Sequence[Chip]) -> tuple[list[float], list[float]]:
    """Return left ends and widths: every column as wide as its longest word."""
    letters = [max(len(chip.name), len(chip.size), 7) + 1 for chip in chips]
    room = (_WIDTH - (len(chips) - 1) * _GAP) / sum(letters)
    widths = [room * count for count in letters]
    lefts = [sum(widths[:at]) + at * _GAP for at in range(len(chips))]
    return lefts, widths


def _fixed(y: float, one: Fixed) -> Iterator[Shape]:
    yield _words(f"name-{one.key}", 0, y + 20, one.name, "start")
    yield _words(f"size-{one.key}", _WIDTH, y + 20, one.size, "end")
    yield _words(f"inside-{one.key}", 0, y + 42, one.inside, "start", "muted", _SMALL)
    yield from _line(one.key, y + _FIXED - 13, one.share)


def _shelf(y: float, shelf: Shelf) -> Iterator[Shape]:
    yield _words(f"name-{shelf.key}", 0, y + 20, shelf.name, "start")
    yield _words(f"size-{shelf.key}", _WIDTH, y + 20, shelf.size, "end")
    yield from _line(shelf.key, y + _HEAD + _CHIP + 4, shelf.share)


def _line(key: str, y: float, share: float) -> Iterator[Shape]:
    for part, width, opacity in (("all", 1.0, "0.14"), ("used", min(share, 1.0), "0.8")):
        attributes = {
            "x": "0",
            "y": f"{y:g}",
            "width": f"{_WIDTH * width:.1f}",
            "height": "4",
            "class": "sent c-buffers" if part == "used" and share > 1 else "sent c-ink",
            "fill-opacity": opacity,
        }
        yield Shape(key=f"{part}-{key}", tag="rect", attributes=attributes)


def _slot(key: str, left: float, top: float, width: float) -> Shape:
    attributes = _box(left, top, width) | {"class": "port", "stroke-dasharray": "3 4"}
    return Shape(key=f"slot-{key}", tag="rect", attributes=attributes)


def _box(left: float, top: float, width: float) -> dict[str, str]:
    return {
        "x": f"{left:.1f}",
        "y": f"{top:g}",
        "width": f"{width:.1f}",
        "height": f"{_CHIP:g}",
        "rx": "4",
    }


def _chip(
    top: float, chip: Chip, left: float, width: float, shelves: Sequence[Shelf]
) -> list[Shape]:
    y, last = top + chip.shelf * _SHELF + _HEAD, len(shelves) - 1
    grip = Grip(
        name=chip.input,
        key=chip.key,
        label=f"Where {chip.name} live",
        now=last - chip.shelf + 1,
        low=1,
        high=last + 1,
        text=f"{shelves[chip.shelf].name}, {chip.size}",
        notch=0.75 * _SHELF,
        ahead=shelves[chip.shelf - 1].key if chip.shelf else "",
        back=shelves[chip.shelf + 1].key if chip.shelf < last else "",
        up=True,
    )
    attributes = _box(left, y, width) | {
        "class": f"cell c-{chip.color}",
        "fill-opacity": "0.3",
        "data-links": f"tensor:{chip.key}",
        **grip.attributes(),
    }
    middle = left + width / 2
    return [
        Shape(key=f"chip-{chip.key}", tag="rect", attributes=attributes),
        _words(f"chip-name-{chip.key}", middle, y + 23, chip.name, "middle", size=_SMALL),
        _words(f"chip-size-{chip.key}", middle, y + 45, chip.size, "middle", size=_SMALL),
    ]


def _words(
    key: str,
    x: float,
    y: float,
    text: str,
    anchor: str,
    color: str = "ink",
    size: float = _LETTER,
) -> Shape:
    attributes = {
        "x": f"{x:.1f}",
        "y": f"{y:g}",
        "font-size": f"{size:g}",
        "text-anchor": anchor,
        "class": f"value c-{color}",
    }
    return Shape(key=key, tag="text", attributes=attributes, text=text)
