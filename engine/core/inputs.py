"""Public names for declaring inputs: field types, units and the input error."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.core.input_units import (
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
    TRILLIONS,
    Scalar,
    Unit,
)
from engine.core.numbers import format_significant, typeset
from engine.core.parsing import exact_text, parse_number

# Input fields without typed numbers: choice, switch, order.


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice among named options: `options` maps each value to its label.

    `also` maps names that other calculators give to an option: a kept job is in their words.
    `cites` is False where no option brings a source of its own to a number or a table: the build
    then tries none of them to find out, and a test does.
    """

    label: str
    options: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)
    cites: bool = field(default=True, repr=False)
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the value if it is among the options."""
        option = self.also.get(text.strip(), text.strip())
        if option not in self.options:
            raise InputError(f"{quote(text)} is not among {list_options(list(self.options))}")
        return option

    def show(self, value: Scalar) -> str:
        """Return the label of the option."""
        return self.options[str(value)]

    def range_words(self) -> str:
        """Return the options as a list in words."""
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
        raise InputError(f"{quote(text)} is neither on nor off")

    def show(self, value: Scalar) -> str:
        """Return on or off."""
        return exact_text(bool(value))

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
        """Return the order: the items named, then the remaining ones."""
        names = {item.lower(): item for item in self.items}
        order: list[str] = []
        for word in text.replace("-", " ").replace(",", " ").lower().split():
            if word not in names:
                raise InputError(f"{quote(word)} is not among {list_options(list(self.items))}")
            if names[word] in order:
                raise InputError(f"{names[word]} is there twice; each stands once in the order")
            order.append(names[word])
        if not order:
            raise InputError(f"{quote(text)} names nothing of {list_options(list(self.items))}")
        return "-".join((*order, *(item for item in self.items if item not in order)))

    def show(self, value: Scalar) -> str:
        """Return the items as the reader sees and types them."""
        return str(value).replace("-", " ")

    def range_words(self) -> str:
        """Return the items in words."""
        return f"{', '.join(self.items)} in any order"


# The numeric input field: parsing, range, display and slider positions.


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
        """Return the position of a value on the input's scale, from 0 (low) to 1 (high)."""
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
        direction, nearest = (1, math.floor) if steps > 0 else (-1, math.ceil)
        for _ in range(min(abs(steps), 200)):
            units = amount / self.unit.size
            decade = 10.0 ** math.floor(math.log10(units) + direction * 1e-9)
            mark = max(decade / 20, 1 / self.unit.size if self.whole else 0.0)
            count = nearest(units / mark + direction * 1e-9) + direction
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


# Text input fields: multi-line text with samples, and a short text for links.

_SAMPLE_PREFIX = "sample:"
_SURROGATES = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample text and its title."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A multi-line text input: typed, pasted, read from a file, or a sample.

    A link names a sample ("sample:NAME") and holds no other text: what a reader pastes stays with
    the reader.

    Attributes:
        label: what the reader sees above it.
        longest: characters that are read.
        samples: short name -> a text to try with one click.
        placeholder: what an empty box says.
        rows: lines that are seen at once.
        files: how the names of files end that may be chosen, as ".json,.txt"; empty: any.
        empty: why an empty text cannot be used; nothing: it can.
        check: raises `InputError` with line, column and reason where the text cannot be read.
        reader: what reads the files, where they are no text to look at: "trace"; then there is no
            box, and the text is what that reader hands over.
        help: one sentence.
        advanced: folded away until asked for.
    """

    label: str
    longest: int = 200_000
    samples: Mapping[str, Sample] = field(default_factory=dict)
    placeholder: str = ""
    rows: int = 10
    files: str = ""
    empty: str = "Nothing is here yet; paste a text, choose a file, or try a sample"
    check: Callable[[str], object] | None = None
    reader: str = ""
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> str:
        """Return the text with plain line ends, or the text of the sample that it names."""
        if len(text) <= LONGEST_LIST and text.strip().startswith(_SAMPLE_PREFIX):
            name = text.strip().removeprefix(_SAMPLE_PREFIX)
            if name not in self.samples:
                raise InputError(f"{quote(name)} is not among {list_options(list(self.samples))}")
            return self.samples[name].text
        text = _normalize_line_ends(text)
        self._refuse(text)
        if self.check:
            self.check(text)
        return text

    def _refuse(self, text: str) -> None:
        if self.empty and not text.strip():
            raise InputError(self.empty)
        if len(text) > self.longest:
            raise InputError(f"{len(text):,} characters; at most {self.longest:,} are read")
        offset = text.find("\0")
        if offset >= 0:
            line = text.count("\n", 0, offset) + 1
            column = offset - text.rfind("\n", 0, offset)
            raise InputError(f"line {line}, column {column}: a zero byte; this is no text file")

    def show(self, value: object) -> str:
        """Return the text as it stands in its box."""
        return str(value)

    def write(self, value: object) -> str:
        """Return the text, or the name of the sample with that text."""
        return self.linked(value) or str(value)

    def linked(self, value: object) -> str:
        """Return the sample name for links; "" if the text is no sample."""
        names = (name for name, sample in self.samples.items() if sample.text == value)
        return next((_SAMPLE_PREFIX + name for name in names), "")

    def brief(self, value: object) -> str:
        """Return the size of the text in words, after its sample name."""
        text, name = str(value), self.linked(value)
        lines = max(1, len(text.splitlines()))
        size = f"{lines:,} line{'s' if lines > 1 else ''}, {len(text):,} characters"
        return f"{name}, {size}" if name else size

    def range_words(self) -> str:
        """Return the maximum length in words."""
        return f"up to {self.longest:,} characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """A one-line text input that is part of links.

    Attributes:
        label: what the reader sees beside it.
        parse: raises `ValueError` with the reason where a text is none; never of an empty one.
        description: of an allowed text, in words.
        example: a text that can be read.
        help: one sentence.
        advanced: folded away until asked for.
    """

    label: str
    parse: Callable[[str], object]
    description: str = "a text that another page writes, or nothing"
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
        """Return the description of an allowed text."""
        return self.description


def _normalize_line_ends(text: str) -> str:
    """Return the text with line feeds as its only line ends.

    Half of a character pair, which no file can hold, becomes a question mark.
    """
    plain_ends = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return (
        plain_ends.encode("utf-8", "replace").decode() if _SURROGATES.search(text) else plain_ends
    )


__all__ = [
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
    "TRILLIONS",
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

Field = Number | Choice | Switch | Order | Text | Compact


# Error messages for input values that cannot be used.

# Letters; a reader wants to know what is allowed, not to read a catalog.
LONGEST_LIST = 140


class InputError(ValueError):
    """An invalid input value; the message names the value and the allowed ones."""


def quote(text: str) -> str:
    """Return a value in quotes, shortened to 40 characters."""
    return f"'{text}'" if len(text) <= 40 else f"'{text[:39]}…'"


def list_options(options: list[str]) -> str:
    """Return the options as a list in words, shortened to a sentence's length."""
    shown = options
    while len(", ".join(shown)) > LONGEST_LIST:
        shown = shown[:-1]
    more = len(options) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
