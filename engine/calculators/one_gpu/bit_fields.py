"""Bit fields: the bits of a number in every floating-point format that training uses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number, Switch
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.parsing import exact_text
from engine.core.text import Text
from engine.core.units import COUNT, SHARE, Share, with_digits
from engine.core.views import Frame, Scene, Shape, Table
from engine.draw.drag_handle import DragHandle
from engine.draw.shapes import rect, text
from engine.simulate.numerics.number_format import (
    FORMATS,
    NumberFormat,
    decode_bits,
    encode_bits,
    round_to_format,
)

# Cells that a finger hits on a phone, where the drawing is about half as wide.
_WIDTH, _CELL, _TALL = 640.0, 39.0, 38.0
_PER_ROW, _NAME, _BETWEEN = 16, 28.0, 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bit:
    """A bit to draw.

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
class FormatLine:
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


def bit_fields(lines: Sequence[FormatLine], caption: Text) -> Scene:
    """Return the drawing of all formats, stacked vertically."""
    shapes: list[Shape] = []
    y = 0.0
    for line in lines:
        shapes.append(text(f"name-{line.key}", 0, y + 20, 19, line.name, "start"))
        shapes.append(text(f"says-{line.key}", _WIDTH - 1, y + 20, 19, line.says, "end"))
        for index, bit in enumerate(line.bits):
            shapes += _bit_shapes(line, index, bit, y + _NAME)
        y += _NAME + _TALL * -(-len(line.bits) // _PER_ROW) + _BETWEEN
    return Scene(
        title="One number in six formats",
        width=_WIDTH,
        height=y - _BETWEEN + 1,
        frames=(Frame(caption=caption, shapes=tuple(shapes)),),
        caption="Press a bit to flip it: the number changes in all formats. From the left: sign, "
        "exponent, mantissa bits, in three colors.",
    )


def _bit_shapes(line: FormatLine, index: int, bit: Bit, y: float) -> list[Shape]:
    key = f"{line.key}.{index}"
    # The fields stand a little apart.
    gap = {"sign": 0.0, "exponent": 4.0, "mantissa": 8.0}[bit.field]
    left = index % _PER_ROW * _CELL + gap
    y += index // _PER_ROW * _TALL
    attributes = [("fill-opacity", "0.5" if bit.on else "0.06")]
    if bit.input:
        grip = DragHandle(
            name=bit.input,
            key=key,
            notch=0,
            label=f"{line.name}, {bit.field} bit {index + 1} of {len(line.bits)}",
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


def format_number(value: float) -> str:
    """Return a number with enough digits to tell neighbors apart."""
    return "infinity" if math.isinf(value) else f"{value:.7g}"


TITLE = "One number, six formats"
QUESTION = "What is left of a number in 32, 16, 8 and 4 bits?"
HEADLINE = "bf16_off"
PRESETS = {
    "A typical learning rate": {"size": 3e-4},
    "A small gradient": {"size": 1e-7},
    "The largest of fp16, and one step more": {"size": 65_536.0},
    "An outlier": {"size": 300.0, "negative": True},
}
_LEAST, _MOST = 1e-30, 1e30


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    size: Annotated[
        float, Number(label="Number", low=_LEAST, high=_MOST, scale="log", symbol="x")
    ] = 0.1
    negative: Annotated[bool, Switch(label="Negative")] = False


_SPEC = ("IEEE 754 for fp32, fp16 and bf16, OCP for FP8 and FP4; rounded to the nearest.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The number in the formats.

    Attributes:
        value: as the reader gave it.
        held: format -> what it holds.
        bits: format -> the bits of that, sign first, and the number if that bit were flipped.
    """

    value: float
    held: dict[str, float]
    bits: dict[str, tuple[tuple[bool, float], ...]]
    bf16_off: Annotated[
        float,
        with_digits(SHARE, 2),
        Output("Off in bf16", assumes=_SPEC, sources=("ieee754", "ocp_mx")),
    ]
    e4m3_off: Annotated[
        float,
        with_digits(SHARE, 2),
        Output("Off in FP8 E4M3", assumes=_SPEC, sources=("ocp_fp8",)),
    ]
    fp16_most: Annotated[
        float,
        COUNT,
        Output("Largest number of fp16", basis="definition", assumes=_SPEC, sources=("ieee754",)),
    ] = FORMATS["fp16"].largest
    e4m3_most: Annotated[
        float,
        COUNT,
        Output("Largest number of E4M3", basis="definition", assumes=_SPEC, sources=("ocp_fp8",)),
    ] = FORMATS["e4m3"].largest


def solve(inputs: Inputs) -> Result:
    """Return the number in every format."""
    value = -inputs.size if inputs.negative else inputs.size
    stored = {key: round_to_format(form, value) for key, form in FORMATS.items()}

    def off(key: str) -> Share:
        return min(abs(stored[key] / value - 1), 1.0)

    bits = {key: _bits_and_flips(form, stored[key]) for key, form in FORMATS.items()}
    return Result(value=value, held=stored, bits=bits, bf16_off=off("bf16"), e4m3_off=off("e4m3"))


def _bits_and_flips(form: NumberFormat, stored: float) -> tuple[tuple[bool, float], ...]:
    code = encode_bits(form, stored if stored else math.copysign(0.0, stored or 1.0))
    return tuple(
        (bit == "1", decode_bits(form, f"{code[:at]}{'0' if bit == '1' else '1'}{code[at + 1 :]}"))
        for at, bit in enumerate(code)
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the bit drawing and the table of format ranges."""
    present = Presenter(result, inputs)
    return {
        "bits": partial(_bits, inputs, result),
        **present.values("bf16_off", "e4m3_off", "fp16_most", "e4m3_most"),
        "formats": _format_table(),
    }


def _bits(inputs: Inputs, result: Result) -> Scene:
    lines = [_format_line(inputs, result, key, form) for key, form in FORMATS.items()]
    return bit_fields(lines, _caption(result))


def _caption(result: Result) -> Text:
    zeros = [FORMATS[key].name for key, value in result.held.items() if value == 0]
    full = [
        FORMATS[key].name
        for key, value in result.held.items()
        if abs(value) < abs(result.value) and abs(value) == FORMATS[key].largest
    ]
    words = f"The number is {typeset(format_number(result.value))}. "
    if zeros:
        words += f"It is too small for {', '.join(zeros)}: there it is zero. "
    if full:
        words += f"It is too large for {', '.join(full)}: there it is the largest number. "
    if any(math.isinf(value) for value in result.held.values()):
        words += "In fp16 it is infinity. "
    return words.strip()


def _format_line(inputs: Inputs, result: Result, key: str, form: NumberFormat) -> FormatLine:
    return FormatLine(
        key=key,
        name=form.name,
        says=_stored_words(result.held[key], result.value),
        bits=tuple(
            _drawn_bit(inputs, form, index, *bit) for index, bit in enumerate(result.bits[key])
        ),
    )


def _stored_words(stored: float, value: float) -> str:
    if math.isinf(stored):
        return "−infinity" if stored < 0 else "infinity"
    off = abs(stored / value - 1)
    if not off:
        return f"{typeset(format_number(stored))}, exact"
    return f"{typeset(format_number(stored))}, off {typeset(format_significant(100 * off, 2))} %"


def _drawn_bit(inputs: Inputs, form: NumberFormat, index: int, on: bool, flipped: float) -> Bit:
    field = "sign" if not index else "exponent" if index <= form.exponent else "mantissa"
    if field == "sign":
        return Bit(field=field, on=on, input="negative", value="off" if inputs.negative else "on")
    size = abs(flipped)
    allowed = math.isfinite(size) and _LEAST <= size <= _MOST
    return Bit(
        field=field,
        on=on,
        input="size" if allowed else "",
        value=exact_text(size) if allowed else "",
    )


def _format_table() -> Table:
    return Table(
        title="What each format can hold",
        columns=(
            "Format",
            "Bits",
            "Largest",
            "Smallest normal",
            "Smallest",
            "Half a step",
        ),
        rows=tuple(
            (
                form.name,
                f"1 + {form.exponent} + {form.mantissa}",
                typeset(f"{form.largest:.4g}"),
                typeset(f"{form.smallest_normal:.3g}"),
                typeset(f"{form.smallest:.3g}"),
                f"{typeset(format_significant(100 * form.half_step, 3))} %",
            )
            for form in FORMATS.values()
        ),
        caption="Sign, exponent and mantissa bits. Half a step: the largest relative error of "
        "rounding to the nearest, and the largest update that can vanish.",
    )
