"""Shapes of memory shelves: memories, slots, and draggable tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.views import Shape
from engine.draw.drag_handle import DragHandle

WIDTH, _LETTER, _SMALL = 640.0, 19.0, 18.8  # read on a phone, where the sheet is half as wide
HEAD, _CHIP, _FOOT = 29.0, 54.0, 15.0
SHELF = HEAD + _CHIP + _FOOT
FIXED = 62.0  # of a shelf that nothing is dragged to
GAP = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipMemory:
    """An on-chip memory and its contents.

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
    """A memory that accepts dragged tensors.

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
        caption: of its frame.
    """

    input: str
    key: str
    name: str
    size: str
    color: str
    shelf: int
    caption: Text


def chip_memory_shapes(y: float, memory: ChipMemory) -> Iterator[Shape]:
    """Yield the shapes of an on-chip memory with its top at `y`."""
    yield _words(f"name-{memory.key}", 0, y + 20, memory.name, "start")
    yield _words(f"size-{memory.key}", WIDTH, y + 20, memory.size, "end")
    yield _words(f"inside-{memory.key}", 0, y + 42, memory.inside, "start", "muted", _SMALL)
    yield from _line(memory.key, y + FIXED - 13, memory.share)


def shelf_shapes(y: float, shelf: Shelf) -> Iterator[Shape]:
    """Yield the shapes of an empty shelf with its top at `y`."""
    yield _words(f"name-{shelf.key}", 0, y + 20, shelf.name, "start")
    yield _words(f"size-{shelf.key}", WIDTH, y + 20, shelf.size, "end")
    yield from _line(shelf.key, y + HEAD + _CHIP + 4, shelf.share)


def _line(key: str, y: float, share: float) -> Iterator[Shape]:
    for part, width, opacity in (("all", 1.0, "0.14"), ("used", min(share, 1.0), "0.8")):
        attributes = {
            "x": "0",
            "y": f"{y:g}",
            "width": f"{WIDTH * width:.1f}",
            "height": "4",
            "class": "sent c-buffers" if part == "used" and share > 1 else "sent c-ink",
            "fill-opacity": opacity,
        }
        yield Shape(key=f"{part}-{key}", tag="rect", attributes=attributes)


def slot(key: str, left: float, top: float, width: float) -> Shape:
    """Return an empty slot of a shelf."""
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


def chip_shapes(
    top: float,
    chip: Chip,
    column: tuple[float, float],
    shelves: Sequence[Shelf],
    *,
    strong: bool,
) -> list[Shape]:
    """Return a tensor in its column (left, width); `top` is the top of all shelves."""
    left, width = column
    y, last = top + chip.shelf * SHELF + HEAD, len(shelves) - 1
    grip = DragHandle(
        name=chip.input,
        key=chip.key,
        label=f"Where {chip.name} live",
        now=last - chip.shelf + 1,
        low=1,
        high=last + 1,
        text=f"{shelves[chip.shelf].name}, {chip.size}",
        notch=0.75 * SHELF,
        ahead=shelves[chip.shelf - 1].key if chip.shelf else "",
        back=shelves[chip.shelf + 1].key if chip.shelf < last else "",
        up=True,
    )
    attributes = _box(left, y, width) | {
        "class": f"cell c-{chip.color}" + (" done" if strong else ""),
        "fill-opacity": "0.42" if strong else "0.3",
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
