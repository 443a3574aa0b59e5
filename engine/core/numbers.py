"""Numbers to words: the only place where a value meets a unit, a prefix or a comma."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import GB, HOUR, KB, KILO, KWH, MB, MEGA, TB, GiB, KiB, MiB, Quantity, TiB

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
_POWER = re.compile(r"(?<=\d)e([+-]\d+)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Significant digits: of what a model predicts, of links and models by their names.
_PREDICTED, NAMED = 3, 4
# A float has no more digits that mean something; 1e30 is no number to write out.
_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Display:
    """How the reader wants numbers: sizes in GiB (`binary`), links summed over `both_ways`."""

    binary: bool = False
    both_ways: bool = False


DEFAULT = Display()


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
        return _scaled(value, scales, NAMED, trim=True)
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
        return _scaled(2 * value, _SCALES["link_speed"], NAMED, trim=True) + " both ways"
    return _scaled(value, _SCALES["link_speed"], NAMED, trim=True)


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
    if digits >= 3 and 1e-4 <= abs(value) < 999:  # almost every number, in one stroke
        text = f"{value:#.{digits}g}".removesuffix(".")
    else:
        # The exponent after rounding: 9.99996 is 10.00 with four digits, not 10.000.
        magnitude = int(f"{value:.{digits - 1}e}".partition("e")[2])
        # Beyond this nobody counts the zeros; what was given stays as it is for longer.
        if magnitude < (-9 if trim else -6) or magnitude > _DIGITS:
            return f"{value:.{digits}g}" if trim else f"{value:.{digits - 1}e}"
        text = f"{value:,.{max(0, digits - 1 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if trim and "." in text else text
