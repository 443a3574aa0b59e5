"""Binary floating-point formats, exactly: every value, its bits, and rounding to it.

IEEE 754-2019 for fp32, fp16 and (by the same rules) bf16; OCP 8-bit Floating Point 2023 for E4M3
and E5M2; OCP Microscaling Formats 2023 for E2M1. Values are Python floats, whose 53 bits hold all
of them exactly.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Count, Ratio, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of one sign bit, some exponent bits and some mantissa bits.

    Attributes:
        name: as it is written.
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
        """All of them."""
        return 1 + self.exponent + self.mantissa

    @property
    def bias(self) -> Count:
        """What the exponent field is above the exponent."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def least_exponent(self) -> int:
        """Of a normal number."""
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
        """Half of the distance from 1 to the next number: what is at most lost by rounding."""
        return 2.0 ** -(self.mantissa + 1)


FORMATS: Mapping[str, Format] = {
    "fp32": Format(name="fp32", exponent=8, mantissa=23),
    "bf16": Format(name="bf16", exponent=8, mantissa=7),
    "fp16": Format(name="fp16", exponent=5, mantissa=10),
    "e5m2": Format(name="FP8 E5M2", exponent=5, mantissa=2),
    "e4m3": Format(name="FP8 E4M3", exponent=4, mantissa=3, special="nan"),
    "e2m1": Format(name="FP4 E2M1", exponent=2, mantissa=1, special="none"),
}


def step_at(form: Format, value: float) -> Ratio:
    """Return the distance between the numbers of the format around a value."""
    exponent = math.frexp(value)[1] - 1 if value else form.least_exponent
    return 2.0 ** (max(exponent, form.least_exponent) - form.mantissa)


def rounded(form: Format, value: float, chance: Share | None = None) -> float:
    """Return the number of the format that a value is rounded to.

    To the nearest, of two equally near ones to that with an even mantissa; with a `chance` from 0
    to 1, up if the value lies so far on the way to the next number: stochastic rounding. What is
    too large becomes infinite in IEEE formats and the largest number in the others.
    """
    if value == 0 or math.isnan(value):
        return value
    if math.isinf(value):
        return value if form.special == "ieee" else math.copysign(form.largest, value)
    step = step_at(form, value)
    count = abs(value) / step
    whole = round(count) if chance is None else math.floor(count + chance)
    found = whole * step
    if found > form.largest:
        is_ieee = form.special == "ieee" and form.bits > 8
        found = math.inf if is_ieee else form.largest
    return math.copysign(found, value)


def code_of(form: Format, value: float) -> str:
    """Return the bits of a number of the format, sign first, as zeros and ones."""
    sign = "1" if math.copysign(1.0, value) < 0 else "0"
    size = abs(value)
    if math.isinf(size):
        field, rest = (1 << form.exponent) - 1, 0
    elif size < form.smallest_normal:
        field, rest = 0, round(size / form.smallest)
    else:
        exponent = math.frexp(size)[1] - 1
        field = exponent + form.bias
        rest = round((size / 2.0**exponent - 1) * (1 << form.mantissa))
    return f"{sign}{field:0{form.exponent}b}{rest:0{form.mantissa}b}"


def value_of(form: Format, code: str) -> float:
    """Return the number that bits stand for; NaN where they stand for none."""
    sign = -1.0 if code[0] == "1" else 1.0
    field, rest = int(code[1 : 1 + form.exponent], 2), int(code[1 + form.exponent :], 2)
    highest = (1 << form.exponent) - 1
    if form.special == "ieee" and field == highest:
        return math.nan if rest else sign * math.inf
    if form.special == "nan" and field == highest and rest == (1 << form.mantissa) - 1:
        return math.nan
    if not field:
        return sign * rest * form.smallest
    return sign * 2.0 ** (field - form.bias) * (1 + rest / (1 << form.mantissa))
