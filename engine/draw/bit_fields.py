"""A number in several formats, bit by bit; every bit can be pressed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.text import Text
from engine.core.views import Frame, Scene, Shape
from engine.draw.drag_handle import Grip
from engine.draw.shapes import rect, text

# Cells that a finger hits on a phone, where the drawing is about half as wide.
_WIDTH, _CELL, _TALL = 640.0, 39.0, 38.0
_PER_ROW, _NAME, _BETWEEN = 16, 28.0, 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bit:
    """One bit.

    Attributes:
        field: "sign", "exponent" or "mantissa".
        on: whether it is 1.
        input: that a press on it changes; empty if it would leave the range.
        value: that the press sets.
    """

    field: str
    on: bool
    input: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A format.

    Attributes:
        key: its own.
        name: as written.
        says: the number that it holds, and how far that is off.
        bits: from the sign on.
    """

    key: str
    name: str
    says: str
    bits: tuple[Bit, ...]


_COLORS = {"sign": "buffers", "exponent": "optimizer", "mantissa": "activations"}


def bit_fields(lines: Sequence[Line], caption: Text) -> Scene:
    """Return all formats, one below the other."""
    shapes: list[Shape] = []
    y = 0.0
    for line in lines:
        shapes.append(text(f"name-{line.key}", 0, y + 20, 19, line.name, "start"))
        shapes.append(text(f"says-{line.key}", _WIDTH - 1, y + 20, 19, line.says, "end"))
        for place, bit in enumerate(line.bits):
            shapes += _bit(line, place, bit, y + _NAME)
        y += _NAME + _TALL * -(-len(line.bits) // _PER_ROW) + _BETWEEN
    return Scene(
        title="One number in six formats",
        width=_WIDTH,
        height=y - _BETWEEN + 1,
        frames=(Frame(caption=caption, shapes=tuple(shapes)),),
        caption="Press a bit to flip it: the number changes in all formats. From the left: sign, "
        "exponent, mantissa bits, in three colors.",
    )


def _bit(line: Line, place: int, bit: Bit, y: float) -> list[Shape]:
    key = f"{line.key}.{place}"
    # The fields stand a little apart.
    gap = {"sign": 0.0, "exponent": 4.0, "mantissa": 8.0}[bit.field]
    left = place % _PER_ROW * _CELL + gap
    y += place // _PER_ROW * _TALL
    attributes = [("fill-opacity", "0.5" if bit.on else "0.06")]
    if bit.input:
        grip = Grip(
            name=bit.input,
            key=key,
            notch=0,
            label=f"{line.name}, {bit.field} bit {place + 1} of {len(line.bits)}",
            now=int(bit.on),
            high=1,
            text="1" if bit.on else "0",
            press=bit.value,
        )
        attributes += list(grip.attributes().items())
    kind = f"cell c-{_COLORS[bit.field]}"
    return [
        rect(f"bit-{key}", (left + 0.5, y), (_CELL - 1, _TALL - 2), kind, tuple(attributes)),
        text(f"digit-{key}", left + _CELL / 2, y + 25, 18.8, "1" if bit.on else "0"),
    ]


def written(value: float) -> str:
    """Return a number with enough digits to tell neighbors apart."""
    return "infinity" if math.isinf(value) else f"{value:.7g}"
