"""Robust fits of few rows with outliers, which lose weight (Huber 1964).

Errors are relative to the measured value, and never below one percent: that far single rows are
from any formula.
"""

from collections.abc import Callable, Iterable, Sequence
from math import sqrt

from engine.core.units import Ratio, Share

LEAST_ERROR: Ratio = 0.01
_OUTLIER: Ratio = 0.05
_ROUNDS = 8


def huber_loss(error: float) -> float:
    """Return the Huber loss: quadratic for small errors, linear for large ones."""
    size = abs(error)
    return error * error if size <= _OUTLIER else _OUTLIER * (2 * size - _OUTLIER)


def golden_section_minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the minimizer of a unimodal function, by golden-section search."""
    golden = (sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(60):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
    return (low + high) / 2


def robust_mean(values: Iterable[float]) -> tuple[float, Ratio]:
    """Return the Huber-weighted mean and its standard error."""
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


def fit_two_columns(
    columns: Sequence[tuple[float, float]], times: Sequence[float]
) -> tuple[float, float, tuple[Ratio, Ratio]]:
    """Return the robust least-squares x, y of a x + b y = time, and their relative errors."""
    scaled = [(a / t, b / t) for (a, b), t in zip(columns, times, strict=True)]
    weights = [1.0] * len(scaled)
    x = y = 0.0
    normal_matrix = (1.0, 0.0, 1.0)
    for _ in range(_ROUNDS):
        normal_matrix = (
            sum(w * a * a for w, (a, _) in zip(weights, scaled, strict=True)),
            sum(w * a * b for w, (a, b) in zip(weights, scaled, strict=True)),
            sum(w * b * b for w, (_, b) in zip(weights, scaled, strict=True)),
        )
        target_x = sum(w * a for w, (a, _) in zip(weights, scaled, strict=True))
        target_y = sum(w * b for w, (_, b) in zip(weights, scaled, strict=True))
        determinant = normal_matrix[0] * normal_matrix[2] - normal_matrix[1] ** 2
        if determinant <= 1e-12 * normal_matrix[0] * normal_matrix[2]:
            return 0.0, 0.0, (1.0, 1.0)
        x = (target_x * normal_matrix[2] - target_y * normal_matrix[1]) / determinant
        y = (target_y * normal_matrix[0] - target_x * normal_matrix[1]) / determinant
        weights = [_weight(1 - a * x - b * y) for a, b in scaled]
    determinant = normal_matrix[0] * normal_matrix[2] - normal_matrix[1] ** 2
    residual = sum(
        w * (1 - a * x - b * y) ** 2 for w, (a, b) in zip(weights, scaled, strict=True)
    ) / max(1, len(scaled) - 2)
    spreads = (
        sqrt(residual * normal_matrix[2] / determinant),
        sqrt(residual * normal_matrix[0] / determinant),
    )
    return x, y, (_relative(spreads[0], x), _relative(spreads[1], y))


def _relative(spread: float, value: float) -> Ratio:
    return max(LEAST_ERROR, spread / abs(value)) if value else 1.0
