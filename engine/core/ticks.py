"""Axis ticks: a few round values in the reader's units."""

import math
from collections.abc import Iterable

from engine.core.numbers import Display, format_significant, format_value
from engine.core.units import Quantity
from engine.core.views import Axis

# Decades of seconds read badly from a minute on: 100 s, 16.67 min, 2.778 h.
_CLOCK_TICKS = (1.0, 10.0, 60.0, 600.0, 3_600.0, 21_600.0, 86_400.0, 864_000.0, 8_640_000.0)
# Beside 10 min and 6 h, an axis says 1 h where a sentence counts 60 min.
_SINGLE_UNITS = {60.0: "1 min", 3_600.0: "1 h", 86_400.0: "1 day"}
_UNIT_SUFFIXES = {60.0: " min", 3_600.0: " h", 86_400.0: " days"}


def ticks(axis: Axis, display: Display, most: int = 6) -> list[tuple[float, str]]:
    """Return (value, text) of about `most` ticks or fewer within the axis range."""
    values = (
        _log_ticks(axis, display, most)
        if axis.scale == "log"
        else _linear_ticks(axis, display, most)
    )
    return [(value, _tick_text(value, axis, display)) for value in values]


def _tick_text(value: float, axis: Axis, display: Display) -> str:
    """Return the text of a tick; on a linear time axis all ticks share one unit."""
    if axis.scale != "log" and axis.quantity.name == "seconds" and value:
        unit = _round_unit(axis.quantity, max(abs(axis.low), abs(axis.high)), display)
        if unit in _UNIT_SUFFIXES and value != unit:
            return (
                format_significant(value / unit, 4, trim=True).replace("-", "−")
                + _UNIT_SUFFIXES[unit]
            )
    return tick_text(value, axis.quantity, display)


def tick_text(value: float, quantity: Quantity, display: Display) -> str:
    """Return a value as a tick label without trailing zeros: 500 ms, 1 GB, 50 %."""
    if quantity.name == "seconds" and value in _SINGLE_UNITS:
        return _SINGLE_UNITS[value]
    text = format_value(value, quantity, display)
    number = text
    while number and not (number[-1].isdigit()):
        number = number[:-1]
    unit = text[len(number) :]
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number + unit


def _linear_ticks(axis: Axis, display: Display, most: int) -> list[float]:
    unit = _round_unit(axis.quantity, max(abs(axis.low), abs(axis.high)), display)
    span = (axis.high - axis.low) / unit
    if span <= 0:
        return [axis.low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(step for step in _round_steps(axis.quantity, power) if span / step <= most)
    first, last = math.ceil(axis.low / unit / step - 1e-9), axis.high / unit / step + 1e-9
    return [float(f"{k * step * unit:.12g}") for k in range(first, math.floor(last) + 1)]


def _round_steps(quantity: Quantity, power: float) -> Iterable[float]:
    """Return candidate tick distances, smallest first; counts have whole ones."""
    steps = tuple(power * size for size in (1, 2, 2.5, 5, 10, 20))
    return [max(1.0, round(step)) for step in steps] if quantity.name == "count" else steps


def _log_ticks(axis: Axis, display: Display, most: int) -> list[float]:
    clock = [mark for mark in _CLOCK_TICKS if axis.low <= mark <= axis.high]
    if axis.quantity.name == "seconds" and axis.high >= 600 and axis.low >= 1 < len(clock) <= most:
        return clock
    base = 1024.0 if axis.quantity.name == "bytes" and display.binary else 10.0
    unit = _round_unit(axis.quantity, 1.0, display)
    low, high = math.log(axis.low / unit, base), math.log(axis.high / unit, base)
    exponents = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
    if len(exponents) > most:
        stride = math.ceil(len(exponents) / most)
        return [base**e * unit for e in exponents if e % stride == 0]
    if base == 10.0 and 2 * len(exponents) < most:
        powers = range(math.floor(low), exponents.stop)
        candidates = [m * 10.0**e * unit for e in powers for m in (1, 2, 5)]
        inside = [v for v in candidates if axis.low * 0.999999 <= v <= axis.high * 1.000001]
        return inside if len(inside) > 1 else _linear_ticks(axis, display, most)
    return [base**e * unit for e in exponents]


def _round_unit(quantity: Quantity, high: float, display: Display) -> float:
    """Return the size whose multiples make round ticks, e.g. 1 GiB for bytes in GiB."""
    if quantity.name == "bytes" and display.binary and high > 0:
        return 1024.0 ** math.floor(math.log(max(high, 1.0), 1024))
    if quantity.name == "link_speed":
        return 1 / 16 if display.both_ways else 1 / 8
    if quantity.name == "gpu_time":
        return 3_600.0
    if quantity.name == "seconds":
        return next((float(size) for size in (86_400, 3_600, 60) if high >= 3 * size), 1.0)
    return quantity.size
