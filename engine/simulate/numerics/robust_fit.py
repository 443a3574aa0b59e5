"""Fits of few rows of which some may be wrong: outliers lose weight (Huber 1964).

Errors are relative to the measured value, and never below one percent: that far single rows are
from any formula.
"""

from collections.abc import Callable, Iterable, Sequence
from math import sqrt

from engine.core.units import Ratio, Share

LEAST_ERROR: Ratio = 0.01
_OUTLIER: Ratio = 0.05
_ROUNDS = 8


def huber(error: float) -> float:
    """Return the square of a small error, and of a large one what grows in proportion."""
    size = abs(error)
    return error * error if size <= _OUTLIER else _OUTLIER * (2 * size - _OUTLIER)


def least(of: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of one valley is least, by golden section."""
    golden = (sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = of(left), of(right)
    for _ in range(60):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = of(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = of(right)
    return (low + high) / 2


def robust_mean(values: Iterable[float]) -> tuple[float, Ratio]:
    """Return the mean in which outliers weigh less, and its standard error."""
    rows = sorted(values)
    if not rows:
        return 0.0, 1.0
    middle = rows[len(rows) // 2]
    for _ in range(_ROUNDS):
        weights = [_weight(value - middle) for value in rows]
        middle = sum(w * v for w, v in zip(weights, rows, strict=True)) / sum(weights)
    weights = [_weight(value - middle) for value in rows]
    spread = sum(w * (v - middle) ** 2 for w, v in zip(weights, rows, strict=True)) / sum(weights)
    return middle, max(LEAST_ERROR, sqrt(spread / sum(weights)))


def _weight(error: float) -> Share:
    return min(1.0, _OUTLIER / abs(error)) if error else 1.0


def two_columns(
    columns: Sequence[tuple[float, float]], times: Sequence[float]
) -> tuple[float, float, tuple[Ratio, Ratio]]:
    """Return x, y and their relative errors, so that a x + b y comes nearest to each time."""
    scaled = [(a / t, b / t) for (a, b), t in zip(columns, times, strict=True)]
    weights = [1.0] * len(scaled)
    x = y = 0.0
    corner = (1.0, 0.0, 1.0)
    for _ in range(_ROUNDS):
        corner = (
            sum(w * a * a for w, (a, _) in zip(weights, scaled, strict=True)),
            sum(w * a * b for w, (a, b) in zip(weights, scaled, strict=True)),
            sum(w * b * b for w, (_, b) in zip(weights, scaled, strict=True)),
        )
        one = sum(w * a for w, (a, _) in zip(weights, scaled, strict=True))
        other = sum(w * b for w, (_, b) in zip(weights, scaled, strict=True))
        whole = corner[0] * corner[2] - corner[1] ** 2
        if whole <= 1e-12 * corner[0] * corner[2]:
            return 0.0, 0.0, (1.0, 1.0)
        x = (one * corner[2] - other * corner[1]) / whole
        y = (other * corner[0] - one * corner[1]) / whole
        weights = [_weight(1 - a * x - b * y) for a, b in scaled]
    whole = corner[0] * corner[2] - corner[1] ** 2
    left = sum(
        w * (1 - a * x - b * y) ** 2 for w, (a, b) in zip(weights, scaled, strict=True)
    ) / max(1, len(scaled) - 2)
    spreads = sqrt(left * corner[2] / whole), sqrt(left * corner[0] / whole)
    return x, y, (_relative(spreads[0], x), _relative(spreads[1], y))


def _relative(spread: float, value: float) -> Ratio:
    return max(LEAST_ERROR, spread / abs(value)) if value else 1.0
