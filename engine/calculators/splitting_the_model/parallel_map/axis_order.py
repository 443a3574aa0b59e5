"""The order of a mesh's axes as chips in a row, the innermost on the left; each can be dragged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.views import Frame, Scene, Shape
from engine.draw.drag_handle import DragHandle

_WIDTH, _HEIGHT, _CHIP, _TOP = 600.0, 92.0, 130.0, 26.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An axis.

    Attributes:
        axis: as a color.
        name: what it is called.
        size: its ranks, and how far apart neighbors are, in words.
        caption: of its frame.
    """

    axis: str
    name: str
    size: str
    caption: Text


def order_scene(chips: Sequence[Chip], orders: Sequence[str]) -> Scene:
    """Return the axis chips, innermost first, with a frame for each.

    `orders` holds, for each place but the last, the value of the input with this chip and the next
    changed over.
    """
    return Scene(
        title="The order of the ranks",
        width=_WIDTH,
        height=_HEIGHT,
        frames=tuple(
            Frame(caption=chip.caption, shapes=tuple(_shapes(chips, orders, now)))
            for now, chip in enumerate(chips)
        ),
        caption="Drag a box past its neighbor. Ranks of the leftmost axis have "
        "neighboring numbers; those of the rightmost are farthest apart.",
    )


def _shapes(chips: Sequence[Chip], orders: Sequence[str], now: int) -> Iterator[Shape]:
    yield _label("inner", 4, 14, "neighbors", "start")
    yield _label("outer", _WIDTH - 4, 14, "far apart", "end")
    room = _WIDTH / len(chips)
    for index, chip in enumerate(chips):
        yield from _chip(index, room, chip, orders, strong=index == now)


def _chip(
    index: int, room: float, chip: Chip, orders: Sequence[str], *, strong: bool
) -> list[Shape]:
    axis, name, size = chip.axis, chip.name, chip.size
    middle = (index + 0.5) * room
    last = len(orders)
    grip = DragHandle(
        name="order",
        key=axis,
        label=f"Place of {name}",
        now=index + 1,
        low=1,
        high=last + 1,
        text=f"{name}, place {index + 1} of {last + 1}",
        notch=0.7 * room,
        back=orders[index - 1] if index else "",
        ahead=orders[index] if index < last else "",
    )
    box = Shape(
        key=f"chip-{axis}",
        tag="rect",
        attributes={
            "x": f"{middle - _CHIP / 2:g}",
            "y": f"{_TOP:g}",
            "width": f"{_CHIP:g}",
            "height": "58",
            "rx": "4",
            "class": f"cell c-{axis}",
            "fill-opacity": "0.5" if strong else "0.22",
            "data-links": f"axis:{axis}",
            **grip.attributes(),
        },
    )
    return [
        box,
        _label(f"name-{axis}", middle, _TOP + 25, name, "middle", 20),
        _label(f"size-{axis}", middle, _TOP + 47, size, "middle", 17.6),
    ]


def _label(key: str, x: float, y: float, text: str, anchor: str, size: float = 17.6) -> Shape:
    return Shape(
        key=key,
        tag="text",
        attributes={
            "x": f"{x:g}",
            "y": f"{y:g}",
            "font-size": f"{size:g}",
            "text-anchor": anchor,
            "class": "value c-ink",
        },
        text=text,
    )
