"""The kinds of input a calculator can declare, and how each reads, bounds and writes a value."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.basis.input_text import Sample, Text
from engine.basis.input_units import (
    BILLIONS,
    ELEMENTS,
    GBITS,
    GBYTES_PER_SECOND,
    GIGABYTES,
    MEBIBYTES,
    MEGABYTES,
    MICROSECONDS,
    MILLISECONDS,
    PERCENT,
    PLAIN,
    TFLOPS,
    Unit,
)
from engine.basis.refusal import InputError, listed, quoted
from engine.basis.text import plain, read, significant, typeset

__all__ = [  # a calculator takes all that it declares inputs with from here
    "BILLIONS",
    "ELEMENTS",
    "GBITS",
    "GBYTES_PER_SECOND",
    "GIGABYTES",
    "MEBIBYTES",
    "MEGABYTES",
    "MICROSECONDS",
    "MILLISECONDS",
    "PERCENT",
    "PLAIN",
    "TFLOPS",
    "Choice",
    "Compact",
    "Field",
    "InputError",
    "Number",
    "Order",
    "Sample",
    "Scalar",
    "Switch",
    "Text",
    "Unit",
]

Scalar = float | int | str | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number with a range.

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
        units |= {_one(name): size for name, size in units.items()}
        if typed and self.unit.shown and _bare(text):
            names = ", ".join(self.unit.shown)
            raise InputError(f"{quoted(text)} has no unit; allowed is one of {names}")
        try:
            value = read(text, self.unit.size if typed else 1.0, units)
        except ValueError as error:
            allowed = self.range_words()
            if self.unit.also and "unknown unit" in str(error):
                allowed += f"; its units are {listed(self._units())}"
            raise InputError(f"{quoted(text)} is {error}; allowed is {allowed}") from None
        return self.check(value, text)

    def _units(self) -> list[str]:
        """Return the units that a reader may type, that of the field first."""
        names = dict.fromkeys((self.unit.text.strip(), *self.unit.also))
        return [name for name in names if name]

    def check(self, value: float, text: str) -> Scalar:
        """Return the value if it is in range, whole where it must be."""
        # A value typed in the unit and one computed from it may differ in the last bit.
        least, most = self.low - 1e-9 * abs(self.low), self.high + 1e-9 * abs(self.high)
        if not least <= value <= most:
            raise InputError(f"{quoted(text)} is outside the range {self.range_words()}")
        if self.whole and not math.isclose(value, round(value), rel_tol=1e-12):
            words = self.range_words()
            raise InputError(f"{quoted(text)} is not a whole number; allowed is {words}")
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

    def show(self, value: Scalar) -> str:
        """Return the value as it stands in its field."""
        unit, size = self.unit.of(float(value))
        amount = float(value) / size
        exact = significant(amount, 12, trim=True) if abs(amount) >= 1e-6 else f"{amount:g}"
        rounded = significant(amount, 6, trim=True) if abs(amount) >= 1e-6 else exact
        return (exact if len(exact) <= 9 else rounded) + (_one(unit) if amount == 1 else unit)

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


def _one(unit: str) -> str:
    """Return the unit of a single one: " days" is " day"; " ms" and " tokens/s" stay."""
    word = unit.strip()
    plural = len(word) > 3 and word.isalpha() and word.islower() and word.endswith("s")
    return unit[:-1] if plural else unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a few named options: `options` maps the value to what the reader sees.

    `also` maps names that other calculators give to an option: a kept job is in their words.
    """

    label: str
    options: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the value if it is among the options."""
        option = self.also.get(text.strip(), text.strip())
        if option not in self.options:
            raise InputError(f"{quoted(text)} is not among {listed(list(self.options))}")
        return option

    def show(self, value: Scalar) -> str:
        """Return the option as the reader sees it."""
        return self.options[str(value)]

    def range_words(self) -> str:
        """Return the options in words."""
        return ", ".join(self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """On or off."""

    label: str
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return True for on, true, yes or 1, False for their opposites."""
        word = text.strip().lower()
        if word in ("on", "true", "yes", "1"):
            return True
        if word in ("off", "false", "no", "0"):
            return False
        raise InputError(f"{quoted(text)} is neither on nor off")

    def show(self, value: Scalar) -> str:
        """Return on or off."""
        return plain(bool(value))

    def range_words(self) -> str:
        """Return the two values."""
        return "on, off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A few named items in the reader's order: each once, written "B-A-C" in an address.

    What is left out when typed comes last, so that no item is ever lost.
    """

    label: str
    items: tuple[str, ...]
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the items in the order given, those that are not named behind them."""
        names = {item.lower(): item for item in self.items}
        found: list[str] = []
        for word in text.replace("-", " ").replace(",", " ").lower().split():
            if word not in names:
                raise InputError(f"{quoted(word)} is not among {listed(list(self.items))}")
            if names[word] in found:
                raise InputError(f"{names[word]} is there twice; each stands once in the order")
            found.append(names[word])
        if not found:
            raise InputError(f"{quoted(text)} names nothing of {listed(list(self.items))}")
        return "-".join((*found, *(item for item in self.items if item not in found)))

    def show(self, value: Scalar) -> str:
        """Return the items as the reader sees and types them."""
        return str(value).replace("-", " ")

    def range_words(self) -> str:
        """Return the items in words."""
        return f"{', '.join(self.items)} in any order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """A short text of one line that travels in links: written by another page, or by hand.

    Attributes:
        label: what the reader sees beside it.
        parse: raises `ValueError` with the reason where a text is none; never of an empty one.
        what: it is, in words.
        example: a text that can be read.
        help: one sentence.
        advanced: folded away until asked for.
    """

    label: str
    parse: Callable[[str], object]
    what: str = "a text that another page writes, or nothing"
    example: str = ""
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the text without blanks around it, if it can be read."""
        text = text.strip()
        if not text:
            return ""
        try:
            self.parse(text)
        except ValueError as error:
            raise InputError(str(error)) from None
        return text

    def show(self, value: Scalar) -> str:
        """Return the text."""
        return str(value)

    def range_words(self) -> str:
        """Return what it is, in words."""
        return self.what


Field = Number | Choice | Switch | Order | Text | Compact


def _bare(text: str) -> bool:
    """Return whether the text is a number and nothing else."""
    try:
        return math.isfinite(float(text.replace(",", "")))
    except ValueError:
        return False
