"""A mixture of experts: each row goes to its best experts, whose results are summed by weight."""

import math
from dataclasses import dataclass

from engine.core.units import Count
from engine.tiny.layout import Weights
from engine.tiny.matrix import (
    Matrix,
    add,
    add_vectors,
    dot,
    product,
    product_transposed,
    transposed_product,
    zeros,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The routing of rows: `weights[i]` maps each expert of row i to its share of the result."""

    weights: list[dict[int, float]]


def route(rows: Matrix, router: Matrix, chosen: Count) -> Routing:
    """Return the `chosen` best experts of each row, weighted by a softmax over their logits."""
    weights = []
    for logits in product(rows, router):
        best = sorted(range(len(logits)), key=lambda expert: -logits[expert])[:chosen]
        powers = {expert: math.exp(logits[expert] - logits[best[0]]) for expert in sorted(best)}
        total = math.fsum(powers.values())
        weights.append({expert: power / total for expert, power in powers.items()})
    return Routing(weights=weights)


def route_backward(
    rows: Matrix, router: Matrix, routing: Routing, gradient: list[dict[int, float]]
) -> tuple[Matrix, Matrix]:
    """Return the gradients of the rows and of the router from those of the weights."""
    of_logits = zeros(len(rows), len(router[0]))
    for i, weights in enumerate(routing.weights):
        mean = math.fsum(weight * gradient[i][expert] for expert, weight in weights.items())
        for expert, weight in weights.items():
            of_logits[i][expert] = weight * (gradient[i][expert] - mean)
    return product_transposed(of_logits, router), transposed_product(rows, of_logits)


def rows_for(routing: Routing, expert: int) -> list[int]:
    """Return the rows that go to an expert."""
    return [i for i, weights in enumerate(routing.weights) if expert in weights]


def expert_weights(weights: Weights, expert: int) -> Weights:
    """Return the three matrices of one expert."""
    return {name: weights[f"{name} {expert}"] for name in ("gate", "up", "down")}


def combine(routing: Routing, results: dict[int, Matrix], width: Count) -> Matrix:
    """Return the weighted sum of the expert results; results[expert] has a row per token."""
    total = zeros(len(routing.weights), width)
    for expert in sorted(results):
        for i, row in zip(rows_for(routing, expert), results[expert], strict=True):
            share = routing.weights[i][expert]
            total[i] = add_vectors(total[i], [share * value for value in row])
    return total


def combine_backward(
    routing: Routing, results: dict[int, Matrix], gradient: Matrix
) -> tuple[dict[int, Matrix], list[dict[int, float]]]:
    """Return the gradients of the expert results and of the routing weights."""
    of_results: dict[int, Matrix] = {}
    of_weights: list[dict[int, float]] = [{} for _ in gradient]
    for expert in sorted(results):
        of_results[expert] = []
        for i, row in zip(rows_for(routing, expert), results[expert], strict=True):
            share = routing.weights[i][expert]
            of_results[expert].append([share * value for value in gradient[i]])
            of_weights[i][expert] = dot(gradient[i], row)
    return of_results, of_weights


def mixture(rows: Matrix, weights: Weights, chosen: Count) -> Matrix:
    """Return the result of all experts for the rows."""
    routing = route(rows, weights["router"], chosen)
    return combine(routing, _results(rows, weights, routing), len(rows[0]))


def mixture_backward(
    rows: Matrix, weights: Weights, chosen: Count, gradient: Matrix
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows, of the router and of all experts."""
    routing = route(rows, weights["router"], chosen)
    results = _results(rows, weights, routing)
    of_results, of_weights = combine_backward(routing, results, gradient)
    back, of_router = route_backward(rows, weights["router"], routing, of_weights)
    gradients: Weights = {"router": of_router}
    for expert, upstream in of_results.items():
        places = rows_for(routing, expert)
        own, of_expert = expert_backward(
            [rows[i] for i in places], expert_weights(weights, expert), upstream
        )
        back = add(back, scatter(own, places, len(rows), len(rows[0])))
        gradients |= {f"{name} {expert}": matrix for name, matrix in of_expert.items()}
    return back, gradients


def expert_backward(rows: Matrix, weights: Weights, gradient: Matrix) -> tuple[Matrix, Weights]:
    """Return the gradients of an expert's rows and matrices; zeros if no row came."""
    if not rows:
        return [], {name: zeros(len(own), len(own[0])) for name, own in weights.items()}
    return feed_forward_backward(rows, weights, gradient)


def scatter(rows: Matrix, indices: list[int], count: Count, width: Count) -> Matrix:
    """Return `count` rows with the given ones at their places, zeros elsewhere."""
    scattered = zeros(count, width)
    for row, index in zip(rows, indices, strict=True):
        scattered[index] = row
    return scattered


def _results(rows: Matrix, weights: Weights, routing: Routing) -> dict[int, Matrix]:
    return {
        expert: feed_forward(
            [rows[i] for i in rows_for(routing, expert)], expert_weights(weights, expert)
        )
        for expert in range(len(weights["router"][0]))
    }


# SwiGLU (Shazeer 2020): down(silu(gate(x)) up(x)); with some columns only, a part of the sum.


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
