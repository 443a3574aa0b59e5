"""Newton-Schulz: a matrix whose singular values become about one, in plain floats, step by step."""

from collections.abc import Sequence
from math import fsum, hypot, sqrt

from engine.core.units import Count, Ratio
from engine.tiny.matrix import Matrix, dot, product, product_transposed

Coefficients = tuple[Ratio, Ratio, Ratio]

# x -> a x + b x^3 + c x^5 of every singular value: Jordan et al. 2024, as in `torch.optim.Muon`.
MUON: Coefficients = (3.4445, -4.7750, 2.0315)
# The odd cubic that stays at one (Björck and Bowie 1971): slow from small values, exact at the end.
CUBIC: Coefficients = (1.5, -0.5, 0.0)
STEPS: Count = 5
# Sweeps of Jacobi's rotations: far more than a matrix of a few columns needs.
_SWEEPS = 30


def polynomial(value: Ratio, coefficients: Coefficients) -> Ratio:
    """Return a singular value after one step of Newton-Schulz.

    Source: Jordan et al. 2024.
    """
    linear, cubic, fifth = coefficients
    square = value * value
    return value * (linear + square * (cubic + square * fifth))


def polynomial_iterates(
    value: Ratio, steps: Count, coefficients: Coefficients = MUON
) -> tuple[Ratio, ...]:
    """Return a singular value before the first step and after each step."""
    values = [value]
    for _ in range(steps):
        values.append(polynomial(values[-1], coefficients))
    return tuple(values)


def normalized(matrix: Matrix) -> Matrix:
    """Return the matrix over its Frobenius norm: no singular value is above one then."""
    norm = sqrt(fsum(dot(row, row) for row in matrix))
    return [[number / norm for number in row] for row in matrix] if norm else matrix


def newton_schulz(
    matrix: Matrix, steps: Count = STEPS, coefficients: Coefficients = MUON
) -> list[Matrix]:
    """Return the normalized matrix and the iterate after each step.

    X -> a X + (b A + c A A) X with A = X X^T, which changes every singular value as `polynomial`
    and no singular vector. As in `torch.optim.Muon`, a matrix with more rows than columns is
    turned first, so that A is the smaller square.

    Source: Jordan et al. 2024.
    """
    turned = len(matrix) > len(matrix[0])
    now = normalized(_transpose(matrix) if turned else [list(row) for row in matrix])
    iterates = [now]
    for _ in range(steps):
        now = _step(now, coefficients)
        iterates.append(now)
    return [_transpose(iterate) for iterate in iterates] if turned else iterates


def _step(matrix: Matrix, coefficients: Coefficients) -> Matrix:
    linear, cubic, fifth = coefficients
    gram = product_transposed(matrix, matrix)
    square = product(gram, gram)
    factor = [
        [
            cubic * gram_value + fifth * square_value
            for gram_value, square_value in zip(row, other, strict=True)
        ]
        for row, other in zip(gram, square, strict=True)
    ]
    change = product(factor, matrix)
    return [
        [linear * old + new for old, new in zip(row, other, strict=True)]
        for row, other in zip(matrix, change, strict=True)
    ]


def _transpose(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def singular_values(matrix: Matrix) -> tuple[Ratio, ...]:
    """Return the singular values, the largest first.

    Rotations make the rows orthogonal, two at a time; their lengths are the singular values.

    Source: Hestenes 1958 (one-sided Jacobi).
    """
    rows = [list(row) for row in (matrix if len(matrix) <= len(matrix[0]) else _transpose(matrix))]
    for _ in range(_SWEEPS):
        turned = [_rotate(rows, i, j) for i in range(len(rows)) for j in range(i)]
        if not any(turned):
            break
    return tuple(sorted((sqrt(dot(row, row)) for row in rows), reverse=True))


def _rotate(rows: Matrix, i: int, j: int) -> bool:
    """Make two rows orthogonal; return whether they were not."""
    first, second = rows[i], rows[j]
    across = dot(first, second)
    if abs(across) <= 1e-15 * hypot(*first) * hypot(*second):
        return False
    slope = (dot(second, second) - dot(first, first)) / (2 * across)
    tangent = (1 if slope >= 0 else -1) / (abs(slope) + hypot(1.0, slope))
    cosine = 1 / hypot(1.0, tangent)
    rows[i] = _combine(first, second, cosine, -tangent * cosine)
    rows[j] = _combine(first, second, tangent * cosine, cosine)
    return True


def _combine(
    first: Sequence[float], second: Sequence[float], first_weight: float, second_weight: float
) -> list[float]:
    return [
        first_weight * left + second_weight * right
        for left, right in zip(first, second, strict=True)
    ]
