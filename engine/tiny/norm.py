"""RMSNorm: each row divided by its root mean square, then scaled (Zhang and Sennrich 2019)."""

import math

from engine.tiny.matrix import Matrix, dot

EPSILON = 1e-5


def norm(rows: Matrix, scale: Matrix) -> Matrix:
    """Return the normed rows [n, hidden]; `scale` is [1, hidden]."""
    return [
        [value * factor * weight for value, weight in zip(row, scale[0], strict=True)]
        for row, factor in zip(rows, _factors(rows), strict=True)
    ]


def norm_backward(rows: Matrix, scale: Matrix, gradient: Matrix) -> tuple[Matrix, Matrix]:
    """Return the gradients of the rows [n, hidden] and of the scale [1, hidden]."""
    back: Matrix = []
    of_scale = [0.0] * len(scale[0])
    for row, factor, upstream in zip(rows, _factors(rows), gradient, strict=True):
        scaled = [up * weight for up, weight in zip(upstream, scale[0], strict=True)]
        mean = dot(scaled, row) * factor**3 / len(row)
        back.append([up * factor - value * mean for up, value in zip(scaled, row, strict=True)])
        of_scale = [
            known + up * value * factor
            for known, up, value in zip(of_scale, upstream, row, strict=True)
        ]
    return back, [of_scale]


def _factors(rows: Matrix) -> list[float]:
    return [1 / math.sqrt(dot(row, row) / len(row) + EPSILON) for row in rows]
