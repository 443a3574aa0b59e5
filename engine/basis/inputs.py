"""The kinds of input a calculator can declare, and how each reads, bounds and writes a value."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.basis.text import plain, read, significant, typeset
from engine.basis.units import (
    BANDWIDTH,
    BYTES,
    FLOP_RATE,
    LINK_SPEED,
    PARAMETERS,
    SECONDS,
    SHARE,
    Quantity,
)

Scalar = float | int | str | bool
# Letters; a reader wants to know what is allowed, not to read a catalog.
_LONGEST_LIST = 140
_SAMPLE = "sample:"
_HALVES = re.compile(r"[\ud800-\udfff]")


class InputError(ValueError):
    """A reader's value that cannot be used; the message names the value and what is allowed."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit an input is typed and shown in.

    Attributes:
        text: as written after the number, with its space: " Gb/s", "B", "".
        size: in SI base units.
        also: other units a reader may type -> their size.
        shown: those of them that a value is shown in, whichever suits it; then a reader must name
            the unit.
        quantity: what a number in it measures, where that is always the same.
    """

    text: str
    size: float
    also: Mapping[str, float] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    quantity: Quantity | None = None

    def of(self, value: float) -> tuple[str, float]:
        """Return text and size of the unit that suits a value: the largest not above it."""
        sizes = sorted((self.also[name], f" {name}") for name in self.shown)
        fitting = [(text, size) for size, text in sizes if size <= abs(value) * (1 + 1e-9)]
        if fitting:
            return fitting[-1]
        return (sizes[0][1], sizes[0][0]) if sizes else (self.text, self.size)


PLAIN = Unit("", 1, {"k": 1e3, "M": 1e6})
BILLIONS = Unit(
    "B", 1e9, {"K": 1e3, "M": 1e6, "T": 1e12, "billion": 1e9, "million": 1e6}, quantity=PARAMETERS
)
# Elements of a buffer, as DeepSpeed counts them.
ELEMENTS = Unit(
    " M", 1e6, {"k": 1e3, "B": 1e9, "million": 1e6, "billion": 1e9}, quantity=PARAMETERS
)
GBITS = Unit(
    " Gb/s",
    1.25e8,
    {"G": 1.25e8, "Gbps": 1.25e8, "Tb/s": 1.25e11, "GB/s": 1e9, "MB/s": 1e6, "TB/s": 1e12},
    quantity=LINK_SPEED,
)
GBYTES_PER_SECOND = Unit(
    " GB/s", 1e9, {"Gb/s": 1.25e8, "TB/s": 1e12, "MB/s": 1e6}, quantity=BANDWIDTH
)
MICROSECONDS = Unit(" µs", 1e-6, {"us": 1e-6, "ns": 1e-9, "ms": 1e-3, "s": 1.0}, quantity=SECONDS)
MILLISECONDS = Unit(" ms", 1e-3, {"us": 1e-6, "µs": 1e-6, "s": 1.0}, quantity=SECONDS)
PERCENT = Unit(" %", 0.01, quantity=SHARE)
MEBIBYTES = Unit(
    " MiB", 2.0**20, {"B": 1, "KiB": 2.0**10, "GiB": 2.0**30, "MB": 1e6, "GB": 1e9}, quantity=BYTES
)
MEGABYTES = Unit(
    " MB", 1e6, {"B": 1, "kB": 1e3, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20}, quantity=BYTES
)
GIGABYTES = Unit(
    " GB",
    1e9,
    {"B": 1, "kB": 1e3, "MB": 1e6, "TB": 1e12, "MiB": 2.0**20, "GiB": 2.0**30},
    quantity=BYTES,
)
TFLOPS = Unit(
    " TFLOP/s", 1e12, {"PFLOP/s": 1e15, "TFLOPS": 1e12, "PFLOPS": 1e15}, quantity=FLOP_RATE
)


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
        if typed and self.unit.shown and _bare(text):
            names = ", ".join(self.unit.shown)
            raise InputError(f"{_quoted(text)} has no unit; allowed is one of {names}")
        try:
            value = read(text, self.unit.size if typed else 1.0, units)
        except ValueError as error:
            raise InputError(
                f"{_quoted(text)} is {error}; allowed is {self.range_words()}"
            ) from None
        return self.check(value, text)

    def check(self, value: float, text: str) -> Scalar:
        """Return the value if it is in range, whole where it must be."""
        # A value typed in the unit and one computed from it may differ in the last bit.
        least, most = self.low - 1e-9 * abs(self.low), self.high + 1e-9 * abs(self.high)
        if not least <= value <= most:
            raise InputError(f"{_quoted(text)} is outside the range {self.range_words()}")
        if self.whole and not math.isclose(value, round(value), rel_tol=1e-12):
            words = self.range_words()
            raise InputError(f"{_quoted(text)} is not a whole number; allowed is {words}")
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

    def show(self, value: Scalar) -> str:
        """Return the value as it stands in its field."""
        unit, size = self.unit.of(float(value))
        amount = float(value) / size
        exact = significant(amount, 12, trim=True) if abs(amount) >= 1e-6 else f"{amount:g}"
        rounded = significant(amount, 6, trim=True) if abs(amount) >= 1e-6 else exact
        return (exact if len(exact) <= 9 else rounded) + unit

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
            raise InputError(f"{_quoted(text)} is not among {_listed(list(self.options))}")
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
        raise InputError(f"{_quoted(text)} is neither on nor off")

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
                raise InputError(f"{_quoted(word)} is not among {_listed(list(self.items))}")
            if names[word] in found:
                raise InputError(f"{names[word]} is there twice; each stands once in the order")
            found.append(names[word])
        if not found:
            raise InputError(f"{_quoted(text)} names nothing of {_listed(list(self.items))}")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A text to try: `title` is what the reader sees."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of several lines: typed, pasted, read from a file, or one of its samples.

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

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the text with plain line ends, or the text of the sample that it names."""
        if len(text) <= _LONGEST_LIST and text.strip().startswith(_SAMPLE):
            name = text.strip().removeprefix(_SAMPLE)
            if name not in self.samples:
                raise InputError(f"{_quoted(name)} is not among {_listed(list(self.samples))}")
            return self.samples[name].text
        text = _one_kind_of_line_end(text)
        self._refuse(text)
        if self.check:
            self.check(text)
        return text

    def _refuse(self, text: str) -> None:
        if self.empty and not text.strip():
            raise InputError(self.empty)
        if len(text) > self.longest:
            raise InputError(f"{len(text):,} characters; at most {self.longest:,} are read")
        place = text.find("\0")
        if place >= 0:
            line = text.count("\n", 0, place) + 1
            column = place - text.rfind("\n", 0, place)
            raise InputError(f"line {line}, column {column}: a zero byte; this is no text file")

    def show(self, value: Scalar) -> str:
        """Return the text as it stands in its box."""
        return str(value)

    def write(self, value: Scalar) -> str:
        """Return the text, or what names it if it is a sample."""
        return self.linked(value) or str(value)

    def linked(self, value: Scalar) -> str:
        """Return what names the text in a link; nothing of a text that is no sample."""
        names = (name for name, sample in self.samples.items() if sample.text == value)
        return next((_SAMPLE + name for name in names), "")

    def brief(self, value: Scalar) -> str:
        """Return the text in a few words, for a line that has no room for it."""
        text, name = str(value), self.linked(value)
        lines = max(1, len(text.splitlines()))
        size = f"{lines:,} line{'s' if lines > 1 else ''}, {len(text):,} characters"
        return f"{name}, {size}" if name else size

    def range_words(self) -> str:
        """Return how much is read, in words."""
        return f"up to {self.longest:,} characters"


Field = Number | Choice | Switch | Order | Text | Compact


def _one_kind_of_line_end(text: str) -> str:
    """Return a text whose lines end in one way.

    Half of a character pair, which no file can hold, becomes a question mark.
    """
    plain_ends = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return plain_ends.encode("utf-8", "replace").decode() if _HALVES.search(text) else plain_ends


def _bare(text: str) -> bool:
    """Return whether the text is a number and nothing else."""
    try:
        return math.isfinite(float(text.replace(",", "")))
    except ValueError:
        return False


def _quoted(text: str) -> str:
    """Return what the reader gave, in quotes; of a long text only its beginning."""
    return f"'{text}'" if len(text) <= 40 else f"'{text[:39]}…'"


def _listed(options: list[str]) -> str:
    """Return the options; of a long list its beginning, and how many there are besides."""
    shown = options
    while len(", ".join(shown)) > _LONGEST_LIST:
        shown = shown[:-1]
    rest = len(options) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
