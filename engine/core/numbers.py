"""Number formatting: values with units, SI prefixes and digit grouping."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import GB, HOUR, KB, KILO, KWH, MB, MEGA, TB, GiB, KiB, MiB, Quantity, TiB

NEVER, UNKNOWN = "no finite value", "–"
# From here on a number is a power of ten: nobody counts so far.
_SCIENTIFIC_FROM = {"count": 1e16, "tokens": 1e16, "ratio": 1e6}

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
_MIN_AMOUNT = {" Tb/s": 1e5, " Pb/s": 1e5, " days": 3.0, " h": 2.0, " min": 2.0}
_POWER = re.compile(r"(?<=\d)e([+-]\d+)")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Significant digits: of what a model predicts, of links and models by their names.
_PREDICTED_DIGITS, NAMED_DIGITS = 3, 4
# A float has no more digits that mean something; 1e30 is no number to write out.
_MAX_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Display:
    """The reader's units of numbers: sizes in GiB (`binary`), links summed over `both_ways`."""

    binary: bool = False
    both_ways: bool = False


DEFAULT = Display()


def format_value(value: float, quantity: Quantity, display: Display = DEFAULT) -> str:
    """Return the value with its unit, such as 490 ms, 14.0 GB or −0.5 %.

    Three significant digits, more than a model can promise; what the reader gave is written as it
    was given, a link or a model's size as it is named. What is not a number is a dash: a note
    says why there is none.
    """
    if not math.isfinite(value):
        return UNKNOWN if math.isnan(value) else NEVER
    if abs(value) >= _SCIENTIFIC_FROM.get(quantity.name, math.inf):
        return typeset(f"{value:.1e}")
    return typeset(_format_number(value, quantity, display) + quantity.sign)


def typeset(number: str) -> str:
    """Return a number with typographic signs: "-2.5e-08" becomes "−2.5 × 10⁻⁸"."""
    number = _POWER.sub(
        lambda e: f"\u00a0×\u00a010{str(int(e[1])).translate(_SUPERSCRIPTS)}", number
    )
    return number.replace("-", "−")


def _format_number(value: float, quantity: Quantity, display: Display) -> str:
    if quantity.name in ("count", "tokens"):
        return _format_count(value)
    if quantity.name == "share" and quantity.digits:
        return format_significant(value * 100, quantity.digits, trim=True) + " %"
    if quantity.name == "share":
        return _format_fixed(value * 100, 1, " %")
    if quantity.name == "link_speed":
        return _format_link_speed(value, display)
    binary = quantity.name == "bytes" and display.binary
    own_scales = ((quantity.size, ""),)  # a unit that a project has named itself
    scales = _SCALES.get("binary bytes" if binary else quantity.name, own_scales)
    if quantity.digits and not binary:
        return _format_scaled(value, scales, quantity.digits, trim=True)
    if quantity.name == "parameters":
        return _format_scaled(value, scales, NAMED_DIGITS, trim=True)
    return _format_scaled(value, scales)


def other_system(value: float, quantity: Quantity, display: Display = DEFAULT) -> str:
    """Return a size in the other unit system (GB or GiB); "" where both read the same.

    A few bytes read the same in both and are not said twice.
    """
    if quantity.name != "bytes" or not math.isfinite(value):
        return ""
    other = format_value(value, quantity, Display(binary=not display.binary))
    return "" if other == format_value(value, quantity, display) else other


def _format_count(value: float) -> str:
    rounded = round(value)
    # What is left of a sum that should be zero is zero; any other small number is written.
    whole = abs(value - rounded) < (1e-9 if rounded else 1e-15)
    if whole or abs(value) >= 999.95:
        return f"{rounded:,}"
    return f"{value:.4g}"


def _format_fixed(value: float, digits: int, unit: str) -> str:
    if 0 < abs(value) < 10**-digits / 2:
        # "> -0.1 %" would read as a bound that can be far above zero.
        return f"< {10**-digits:.{digits}f}{unit}" if value > 0 else f"{0:.{digits}f}{unit}"
    return f"{value:.{digits}f}{unit}"


def _format_link_speed(value: float, display: Display) -> str:
    if display.both_ways:
        return (
            _format_scaled(2 * value, _SCALES["link_speed"], NAMED_DIGITS, trim=True) + " both ways"
        )
    return _format_scaled(value, _SCALES["link_speed"], NAMED_DIGITS, trim=True)


def _format_scaled(
    value: float,
    scales: tuple[tuple[float, str], ...],
    digits: int = _PREDICTED_DIGITS,
    *,
    trim: bool = False,
) -> str:
    size, unit = scales[-1]
    if value == 0:
        return "0" + next((name for candidate, name in scales if candidate == 1), unit)
    for candidate, name in scales:
        # What rounds up belongs to the next unit, so that 999.96 ms is never written 1,000 ms.
        if abs(value) >= candidate * _MIN_AMOUNT.get(name, 1.0) * (1 - 0.5 * 10**-digits):
            size, unit = candidate, name
            break
    return format_significant(value / size, digits, trim=trim) + unit


def format_significant(value: float, digits: int = _PREDICTED_DIGITS, *, trim: bool = False) -> str:
    """Return `value` with `digits` significant digits and thousands separators."""
    if value == 0:
        return "0"
    if digits >= 3 and 1e-4 <= abs(value) < 999:  # almost every number, in one stroke
        text = f"{value:#.{digits}g}".removesuffix(".")
    else:
        # The exponent after rounding: 9.99996 is 10.00 with four digits, not 10.000.
        magnitude = int(f"{value:.{digits - 1}e}".partition("e")[2])
        # Beyond this nobody counts the zeros; what was given stays as it is for longer.
        if magnitude < (-9 if trim else -6) or magnitude > _MAX_DIGITS:
            return f"{value:.{digits}g}" if trim else f"{value:.{digits - 1}e}"
        text = f"{value:,.{max(0, digits - 1 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if trim and "." in text else text
