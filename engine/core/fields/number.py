"""The numeric input field: parsing, range, display and slider positions."""

import math
from dataclasses import dataclass

from engine.core.fields.scalar import Scalar
from engine.core.fields.unit import PLAIN, Unit
from engine.core.input_errors import InputError, list_options, quote
from engine.core.numbers import format_significant, typeset
from engine.core.parsing import parse_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A numeric input with a range.

    Attributes:
        label: what the reader sees beside it.
        unit: what it is typed in.
        low, high: the allowed range, SI, both included.
        scale: "linear" (slider moves by `step`), "log" (by significant digits), "log2" (by powers
            of two; any value in the range may still be typed).
        step: the smallest change on a linear scale, SI.
        whole: only whole numbers.
        symbol: its letter in the formulas.
        help: one sentence.
        advanced: folded away until asked for.
    """

    label: str
    unit: Unit = PLAIN
    low: float
    high: float
    scale: str = "linear"
    step: float = 1.0
    whole: bool = False
    symbol: str = ""
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the SI value; a bare number is in `unit` if typed, in SI if from a URL."""
        units = {self.unit.text.strip(): self.unit.size, **self.unit.also}
        units.pop("", None)
        units |= {_singular(name): size for name, size in units.items()}
        if typed and self.unit.shown and _has_no_unit(text):
            names = ", ".join(self.unit.shown)
            raise InputError(f"{quote(text)} has no unit; allowed is one of {names}")
        try:
            value = parse_number(text, self.unit.size if typed else 1.0, units)
        except ValueError as error:
            allowed = self.range_words()
            if self.unit.also and "unknown unit" in str(error):
                allowed += f"; its units are {list_options(self._units())}"
            raise InputError(f"{quote(text)} is {error}; allowed is {allowed}") from None
        return self.check(value, text)

    def _units(self) -> list[str]:
        """Return the units that can be typed, the default first."""
        names = dict.fromkeys((self.unit.text.strip(), *self.unit.also))
        return [name for name in names if name]

    def check(self, value: float, text: str) -> Scalar:
        """Return the value if it is in range, whole where it must be."""
        # A value typed in the unit and one computed from it may differ in the last bit.
        least, most = self.low - 1e-9 * abs(self.low), self.high + 1e-9 * abs(self.high)
        if not least <= value <= most:
            raise InputError(f"{quote(text)} is outside the range {self.range_words()}")
        if self.whole and not math.isclose(value, round(value), rel_tol=1e-12):
            words = self.range_words()
            raise InputError(f"{quote(text)} is not a whole number; allowed is {words}")
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

    def show(self, value: Scalar) -> str:
        """Return the value as it stands in its field."""
        unit, size = self.unit.of(float(value))
        amount = float(value) / size
        exact = format_significant(amount, 12, trim=True) if abs(amount) >= 1e-6 else f"{amount:g}"
        rounded = format_significant(amount, 6, trim=True) if abs(amount) >= 1e-6 else exact
        return (exact if len(exact) <= 9 else rounded) + (_singular(unit) if amount == 1 else unit)

    def range_words(self) -> str:
        """Return the range in words, for labels and messages."""
        return f"{typeset(self.show(self.low))} to {typeset(self.show(self.high))}"

    def position(self, value: Scalar) -> float:
        """Return where the value lies between low (0) and high (1) on the input's scale."""
        low, high, at = (self._warp(float(x)) for x in (self.low, self.high, value))
        return (at - low) / (high - low)

    def at(self, position: float) -> Scalar:
        """Return the value at a position from 0 to 1, snapped to a value worth stopping at."""
        low, high = self._warp(self.low), self._warp(self.high)
        share = min(max(position, 0.0), 1.0)
        return self._snap(self._unwarp(low + share * (high - low)))

    def nudge(self, value: Scalar, steps: int) -> Scalar:
        """Return the value `steps` small steps away, within the range.

        Steps lead along round values, as on a ruler: the first leads from any other value to the
        next mark, so a step back returns to where the reader was only if that was a mark.
        """
        amount = float(value)
        if not steps:
            return value
        if self.scale == "log2":
            exponent = math.log2(amount)
            start = math.floor(exponent + 1e-9) if steps > 0 else math.ceil(exponent - 1e-9)
            return self._snap(2.0 ** (start + steps))
        if self.scale == "log":
            return self._nudge_log(amount, steps)
        return self._snap(amount + steps * self.step)

    def _nudge_log(self, amount: float, steps: int) -> Scalar:
        """Return the value `steps` marks away; there are 180 marks in a decade."""
        way, nearest = (1, math.floor) if steps > 0 else (-1, math.ceil)
        for _ in range(min(abs(steps), 200)):
            units = amount / self.unit.size
            decade = 10.0 ** math.floor(math.log10(units) + way * 1e-9)
            mark = max(decade / 20, 1 / self.unit.size if self.whole else 0.0)
            count = nearest(units / mark + way * 1e-9) + way
            amount = float(self._snap(count * mark * self.unit.size))
        return round(amount) if self.whole else amount

    def _snap(self, value: float) -> Scalar:
        """Return the nearest value worth stopping at; the bounds are, however odd they look."""
        if value >= self.high * (1 - math.copysign(1e-9, self.high)):
            return self.high
        if value <= self.low * (1 + math.copysign(1e-9, self.low)):
            return self.low
        if self.scale == "log2":
            value = 2.0 ** round(math.log2(value))
        elif self.scale == "log":
            value = float(f"{value / self.unit.size:.3g}") * self.unit.size
        else:
            value = round((value - self.low) / self.step) * self.step + self.low
        value = min(max(float(f"{value:.12g}"), self.low), self.high)
        return round(value) if self.whole else value

    def _warp(self, value: float) -> float:
        return value if self.scale == "linear" else math.log(value)

    def _unwarp(self, value: float) -> float:
        return value if self.scale == "linear" else math.exp(value)


def _singular(unit: str) -> str:
    """Return a unit in the singular: " days" becomes " day"; " ms" and " tokens/s" stay."""
    word = unit.strip()
    plural = len(word) > 3 and word.isalpha() and word.islower() and word.endswith("s")
    return unit[:-1] if plural else unit


def _has_no_unit(text: str) -> bool:
    """Return whether the text is a number without a unit."""
    try:
        return math.isfinite(float(text.replace(",", "")))
    except ValueError:
        return False
