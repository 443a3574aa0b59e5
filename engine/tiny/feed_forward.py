"""SwiGLU (Shazeer 2020): down(silu(gate(x)) up(x)); with some columns only, a part of the sum."""

import math

from engine.tiny.layout import Weights
from engine.tiny.matrix import Matrix, add, product, product_transposed, transposed_product


def feed_forward(rows: Matrix, weights: Weights) -> Matrix:
    """Return the result [n, hidden] of the inner columns in `weights`."""
    gate, up = product(rows, weights["gate"]), product(rows, weights["up"])
    return product(_inner(gate, up), weights["down"])


def feed_forward_backward(
    rows: Matrix, weights: Weights, gradient: Matrix
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows and of the three matrices."""
    gate, up = product(rows, weights["gate"]), product(rows, weights["up"])
    of_inner = product_transposed(gradient, weights["down"])
    of_gate: Matrix = []
    of_up: Matrix = []
    inner: Matrix = []
    for slopes, gates, ups in zip(of_inner, gate, up, strict=True):
        curves = [_sigmoid(g) for g in gates]
        inner.append([g * c * u for g, c, u in zip(gates, curves, ups, strict=True)])
        of_up.append([s * g * c for s, g, c in zip(slopes, gates, curves, strict=True)])
        of_gate.append(
            [
                s * u * c * (1 + g * (1 - c))
                for s, u, g, c in zip(slopes, ups, gates, curves, strict=True)
            ]
        )
    back = add(
        product_transposed(of_gate, weights["gate"]), product_transposed(of_up, weights["up"])
    )
    return back, {
        "gate": transposed_product(rows, of_gate),
        "up": transposed_product(rows, of_up),
        "down": transposed_product(inner, gradient),
    }


def _inner(gate: Matrix, up: Matrix) -> Matrix:
    return [
        [g * _sigmoid(g) * u for g, u in zip(gates, ups, strict=True)]
        for gates, ups in zip(gate, up, strict=True)
    ]


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))
