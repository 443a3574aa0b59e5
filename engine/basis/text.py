"""Numbers to words and back: the only place where a value meets a unit, a prefix or a comma."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.basis.units import (
    GB,
    HOUR,
    KB,
    KILO,
    KWH,
    MB,
    MEGA,
    TB,
    GiB,
    KiB,
    MiB,
    Quantity,
    TiB,
    as_given,
)

NEVER = "no finite value"
# From here on a number is a power of ten: nobody counts so far.
_UNCOUNTED = {"count": 1e16, "tokens": 1e16, "ratio": 1e6}

_SCALES: Mapping[str, tuple[tuple[float, str], ...]] = {
    "bytes": ((1e15, " PB"), (TB, " TB"), (GB, " GB"), (MB, " MB"), (KB, " kB"), (1, " B")),
    "binary bytes": ((TiB, " TiB"), (GiB, " GiB"), (MiB, " MiB"), (KiB, " KiB"), (1, " B")),
    "seconds": (
        (86_400, " days"),
        (3_600, " h"),
        (60, " min"),
        (1, " s"),
        (1e-3, " ms"),
        (1e-6, " µs"),
        (1e-9, " ns"),
    ),
    "bandwidth": ((TB, " TB/s"), (GB, " GB/s"), (MB, " MB/s"), (KB, " kB/s"), (1, " B/s")),
    "link_speed": (
        (1e15 / 8, " Pb/s"),
        (1e12 / 8, " Tb/s"),
        (1e9 / 8, " Gb/s"),
        (1e6 / 8, " Mb/s"),
        (1e3 / 8, " kb/s"),
        (1 / 8, " b/s"),
    ),
    "operations": (
        (1e24, " YFLOP"),
        (1e21, " ZFLOP"),
        (1e18, " EFLOP"),
        (1e15, " PFLOP"),
        (1e12, " TFLOP"),
        (1e9, " GFLOP"),
        (1e6, " MFLOP"),
        (1, " FLOP"),
    ),
    "flop_rate": ((1e15, " PFLOP/s"), (1e12, " TFLOP/s"), (1e9, " GFLOP/s"), (1, " FLOP/s")),
    "intensity": ((1, " FLOP/B"),),
    "token_rate": ((1e6, "M tokens/s"), (1, " tokens/s")),
    "gpu_time": ((HOUR * MEGA, "M GPU h"), (HOUR, " GPU h")),
    "power": ((1e9, " GW"), (1e6, " MW"), (1e3, " kW"), (1, " W")),
    "energy": ((KWH * MEGA, " GWh"), (KWH * KILO, " MWh"), (KWH, " kWh")),
    "money": ((1e9, " billion"), (1e6, " million"), (1, "")),
    "price": ((1 / HOUR, " per hour"),),
    "parameters": ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"), (1, "")),
    "ratio": ((1, "×"),),
    "share": ((0.01, " %"),),
}
# How many of a unit it takes before it is used: links are named in Gb/s, so 1600 Gb/s stays that
# and does not become 1.6 Tb/s, and nobody counts one minute.
_KEEP = {" Tb/s": 1e5, " Pb/s": 1e5, " days": 3.0, " h": 2.0, " min": 2.0}
# A reader may type or paste what the pages show: grouped digits and a printed minus.
_IGNORED = str.maketrans({",": "", "_": "", "\u202f": "", "−": "-"})
_POWER = re.compile(r"(?<=\d)e([+-]\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# What is counted, where there is only one of it: "{n} GPUs" becomes "1 GPU".
_ONE = re.compile(
    r"(?<![\w.,\u2212-])1 (?:[a-z]+-[a-z]+ )?(GPUs|nodes|ports|buckets|micro-batches|stages|steps"
    r"|rounds|layers|ranks|samples|tokens|reads|hops|messages|pieces|latencies|cells|chunks"
    r"|all-reduces|SMs|copies|replicas|kernels|experts|sequences|groups|links|leaves)\b"
)
# Significant digits: of what a model predicts, of links and models by their names.
_PREDICTED, _NAMED = 3, 4
# A float has no more digits that mean something; 1e30 is no number to write out.
_DIGITS = 15
# Nothing that a reader types is longer; a pasted page is refused before it is looked at.
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Display:
    """How the reader wants numbers: sizes in GiB (`binary`), links summed over `both_ways`."""

    binary: bool = False
    both_ways: bool = False


DEFAULT = Display()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text with numbers in it, e.g. Sentence("moves {size} per GPU", {"size": (14e9, BYTES)})."""

    template: str
    numbers: Mapping[str, tuple[float, Quantity]] = field(default_factory=dict)


Text = str | Sentence


def say(template: str, **numbers: tuple[float, Quantity]) -> Sentence:
    """Return a sentence whose numbers are written when the reader's units are known."""
    return Sentence(template, numbers)


def literal(text: str) -> str:
    """Return a reader's text for a template, in which braces mean numbers."""
    return text.replace("{", "{{").replace("}", "}}")


def words(text: Text, display: Display = DEFAULT, *, space: str = " ") -> str:
    """Return the sentence with its numbers in the reader's units, `space` before each unit."""
    if isinstance(text, str):
        return text
    said = text.template.format_map(
        {
            key: show(value, quantity, display).replace(" ", space)
            for key, (value, quantity) in text.numbers.items()
        }
    )
    return _ONE.sub(_singular, said) if "1 " in said else said


def _singular(found: re.Match[str]) -> str:
    for ending, one in (("ies", "y"), ("ches", "ch"), ("leaves", "leaf"), ("s", "")):
        if found[0].endswith(ending):
            return found[0].removesuffix(ending) + one
    return found[0]


def as_printed(text: Text) -> Text:
    """Return a published text's sentence with the four digits that it prints, not with ours."""
    if isinstance(text, str):
        return text
    numbers = {key: (value, as_given(q, _NAMED)) for key, (value, q) in text.numbers.items()}
    return Sentence(text.template, numbers)


def show(value: float, quantity: Quantity, display: Display = DEFAULT) -> str:
    """Return the value with its unit: 490 ms, 14.0 GB, −0.5 %.

    Three significant digits, more than a model can promise; what the reader gave is written as it
    was given, a link or a model's size as it is named.
    """
    if not math.isfinite(value):
        return NEVER
    if abs(value) >= _UNCOUNTED.get(quantity.name, math.inf):
        return typeset(f"{value:.1e}")
    return typeset(_written(value, quantity, display) + quantity.sign)


def typeset(number: str) -> str:
    """Return a number as print has it: "-2.5e-08" becomes "−2.5 × 10⁻⁸"."""
    number = _POWER.sub(lambda e: f"\u00a0×\u00a010{str(int(e[1])).translate(_RAISED)}", number)
    return number.replace("-", "−")


def _written(value: float, quantity: Quantity, display: Display) -> str:
    if quantity.name in ("count", "tokens"):
        return _whole(value)
    if quantity.name == "share" and quantity.given:
        return significant(value * 100, quantity.given, trim=True) + " %"
    if quantity.name == "share":
        return _fixed(value * 100, 1, " %")
    if quantity.name == "link_speed":
        return _link_speed(value, display)
    binary = quantity.name == "bytes" and display.binary
    own = ((quantity.size, ""),)  # a unit that a project has named itself
    scales = _SCALES.get("binary bytes" if binary else quantity.name, own)
    if quantity.given and not binary:
        return _scaled(value, scales, quantity.given, trim=True)
    if quantity.name == "parameters":
        return _scaled(value, scales, _NAMED, trim=True)
    return _scaled(value, scales)


def other_system(value: float, quantity: Quantity, display: Display = DEFAULT) -> str:
    """Return a size in the unit system the reader did not choose, else an empty text.

    A few bytes read the same in both and are not said twice.
    """
    if quantity.name != "bytes" or not math.isfinite(value):
        return ""
    other = show(value, quantity, Display(binary=not display.binary))
    return "" if other == show(value, quantity, display) else other


def _whole(value: float) -> str:
    rounded = round(value)
    # What is left of a sum that should be zero is zero; any other small number is written.
    whole = abs(value - rounded) < (1e-9 if rounded else 1e-15)
    if whole or abs(value) >= 999.95:
        return f"{rounded:,}"
    return f"{value:.4g}"


def _fixed(value: float, digits: int, unit: str) -> str:
    if 0 < abs(value) < 10**-digits / 2:
        # "> -0.1 %" would read as a bound that can be far above zero.
        return f"< {10**-digits:.{digits}f}{unit}" if value > 0 else f"{0:.{digits}f}{unit}"
    return f"{value:.{digits}f}{unit}"


def _link_speed(value: float, display: Display) -> str:
    if display.both_ways:
        return _scaled(2 * value, _SCALES["link_speed"], _NAMED, trim=True) + " both ways"
    return _scaled(value, _SCALES["link_speed"], _NAMED, trim=True)


def _scaled(
    value: float,
    scales: tuple[tuple[float, str], ...],
    digits: int = _PREDICTED,
    *,
    trim: bool = False,
) -> str:
    size, unit = scales[-1]
    if value == 0:
        return "0" + next((name for candidate, name in scales if candidate == 1), unit)
    for candidate, name in scales:
        # What rounds up belongs to the next unit, so that 999.96 ms is never written 1,000 ms.
        if abs(value) >= candidate * _KEEP.get(name, 1.0) * (1 - 0.5 * 10**-digits):
            size, unit = candidate, name
            break
    return significant(value / size, digits, trim=trim) + unit


def significant(value: float, digits: int = _PREDICTED, *, trim: bool = False) -> str:
    """Return `value` with `digits` significant digits and thousands separators."""
    if value == 0:
        return "0"
    # The exponent after rounding: 9.99996 is 10.00 with four digits, not 10.000.
    magnitude = int(f"{value:.{digits - 1}e}".partition("e")[2])
    # Beyond this nobody counts the zeros; what was given stays as it is for longer.
    if magnitude < (-9 if trim else -6) or magnitude > _DIGITS:
        return f"{value:.{digits}g}" if trim else f"{value:.{digits - 1}e}"
    text = f"{value:,.{max(0, digits - 1 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if trim and "." in text else text


def read(text: str, bare: float, suffixes: Mapping[str, float]) -> float:
    """Return the number that a reader typed: "7e9", "1,024", "7 B", "400 Gb/s", "25 MiB", "50 %".

    Args:
        text: what was typed.
        bare: the factor for a number without a unit.
        suffixes: unit -> factor to SI.

    Raises:
        ValueError: it is not a number, or the unit is not among the suffixes.
    """
    if len(text) > _LONGEST:
        raise ValueError("too long for a number")
    if not _grouped(text):
        raise ValueError("not a number (decimals follow a point, a comma separates thousands)")
    cleaned = text.strip().translate(_IGNORED)
    end = len(cleaned)
    while end and not _is_number(cleaned[:end]):
        end -= 1
    if not end:
        raise ValueError("not a number")
    unit = cleaned[end:].strip()
    if not unit:
        return float(cleaned) * bare
    folded = {name.lower(): factor for name, factor in suffixes.items()}
    factor = suffixes.get(unit, folded.get(unit.lower()))
    if factor is None:
        raise ValueError(f"in an unknown unit '{unit}'")
    return float(cleaned[:end]) * factor


def _grouped(text: str) -> bool:
    """Return whether every comma is followed by exactly three digits: "0,5" is not five."""
    groups = text.split(",")[1:]
    return all(
        len(group) >= 3 and group[:3].isdecimal() and not group[3:4].isdecimal() for group in groups
    )


def _is_number(text: str) -> bool:
    """Return whether the text is a number in ASCII; its last character rules out "nan", "inf"."""
    if not (text.isascii() and text[-1] in "0123456789."):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def plain(value: float | int | str | bool) -> str:
    """Return the shortest exact text of an SI value for a URL: no plus sign, no trailing zeros."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if value == round(value) and abs(value) < 1e7:
        return str(round(value))
    mantissa, e, exponent = f"{value:e}".partition("e")
    tidy = mantissa.rstrip("0").rstrip(".") + e + str(int(exponent))
    exact = [text for text in (f"{value:.12g}", tidy) if float(text) == value]
    return min(exact, key=len, default=repr(value)).replace("e+", "e")
