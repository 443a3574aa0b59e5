"""Binary floating-point formats: exact values, bit patterns and rounding.

IEEE 754-2019 for fp32, fp16 and (by the same rules) bf16; OCP 8-bit Floating Point 2023 for E4M3
and E5M2; OCP Microscaling Formats 2023 for E2M1. Values are Python floats, whose 53 bits hold all
of them exactly.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Count, Ratio, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """A floating-point format of one sign bit, exponent bits and mantissa bits.

    Attributes:
        name: display name.
        exponent: bits of the exponent field.
        mantissa: bits of the mantissa field.
        special: "ieee": the highest exponent field holds infinity and NaN; "nan": only its highest
            code is NaN; "none": every code is a number.
    """

    name: str
    exponent: Count
    mantissa: Count
    special: str = "ieee"

    @property
    def bits(self) -> Count:
        """Number of bits."""
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> Count:
        """Exponent bias: exponent field minus exponent."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def least_exponent(self) -> int:
        """Smallest exponent of a normal number."""
        return 1 - self.bias

    @property
    def largest_field(self) -> Count:
        """The highest exponent field that holds numbers."""
        return (1 << self.exponent) - (2 if self.special == "ieee" else 1)

    @property
    def largest(self) -> Ratio:
        """The largest number."""
        top = (1 << self.mantissa) - (2 if self.special == "nan" else 1)
        scale = 2.0 ** (self.largest_field - self.bias)
        return scale * (1 + top / (1 << self.mantissa))

    @property
    def smallest_normal(self) -> Ratio:
        """The smallest number with all bits of precision."""
        return 2.0**self.least_exponent

    @property
    def smallest(self) -> Ratio:
        """The smallest number above zero."""
        return 2.0 ** (self.least_exponent - self.mantissa)

    @property
    def half_step(self) -> Share:
        """Largest relative rounding error: half the distance from 1 to the next number."""
        return 2.0 ** -(self.mantissa + 1)


FORMATS: Mapping[str, NumberFormat] = {
    "fp32": NumberFormat(name="fp32", exponent=8, mantissa=23),
    "bf16": NumberFormat(name="bf16", exponent=8, mantissa=7),
    "fp16": NumberFormat(name="fp16", exponent=5, mantissa=10),
    "e5m2": NumberFormat(name="FP8 E5M2", exponent=5, mantissa=2),
    "e4m3": NumberFormat(name="FP8 E4M3", exponent=4, mantissa=3, special="nan"),
    "e2m1": NumberFormat(name="FP4 E2M1", exponent=2, mantissa=1, special="none"),
}


def spacing_at(number_format: NumberFormat, value: float) -> Ratio:
    """Return the spacing of the format's numbers around a value."""
    exponent = math.frexp(value)[1] - 1 if value else number_format.least_exponent
    return 2.0 ** (max(exponent, number_format.least_exponent) - number_format.mantissa)


def round_to_format(
    number_format: NumberFormat, value: float, chance: Share | None = None
) -> float:
    """Return a value rounded to the format.

    To the nearest, of two equally near ones to that with an even mantissa; with a `chance` from 0
    to 1, up if the value lies so far on the way to the next number: stochastic rounding. What is
    too large becomes infinite in IEEE formats and the largest number in the others.
    """
    if value == 0 or math.isnan(value):
        return value
    if math.isinf(value):
        return (
            value
            if number_format.special == "ieee"
            else math.copysign(number_format.largest, value)
        )
    step = spacing_at(number_format, value)
    count = abs(value) / step
    whole = round(count) if chance is None else math.floor(count + chance)
    magnitude = whole * step
    if magnitude > number_format.largest:
        is_ieee = number_format.special == "ieee" and number_format.bits > 8
        magnitude = math.inf if is_ieee else number_format.largest
    return math.copysign(magnitude, value)


def encode_bits(number_format: NumberFormat, value: float) -> str:
    """Return the bit string of a number of the format, sign first."""
    sign = "1" if math.copysign(1.0, value) < 0 else "0"
    size = abs(value)
    if math.isinf(size):
        field, mantissa = (1 << number_format.exponent) - 1, 0
    elif size < number_format.smallest_normal:
        field, mantissa = 0, round(size / number_format.smallest)
    else:
        exponent = math.frexp(size)[1] - 1
        field = exponent + number_format.bias
        mantissa = round((size / 2.0**exponent - 1) * (1 << number_format.mantissa))
    return f"{sign}{field:0{number_format.exponent}b}{mantissa:0{number_format.mantissa}b}"


def decode_bits(number_format: NumberFormat, code: str) -> float:
    """Return the number of a bit string; NaN if it encodes none."""
    sign = -1.0 if code[0] == "1" else 1.0
    field, mantissa = (
        int(code[1 : 1 + number_format.exponent], 2),
        int(code[1 + number_format.exponent :], 2),
    )
    highest = (1 << number_format.exponent) - 1
    if number_format.special == "ieee" and field == highest:
        return math.nan if mantissa else sign * math.inf
    if (
        number_format.special == "nan"
        and field == highest
        and mantissa == (1 << number_format.mantissa) - 1
    ):
        return math.nan
    if not field:
        return sign * mantissa * number_format.smallest
    return (
        sign * 2.0 ** (field - number_format.bias) * (1 + mantissa / (1 << number_format.mantissa))
    )
