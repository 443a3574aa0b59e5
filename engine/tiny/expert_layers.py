"""A layer's experts spread over the ranks: rows go out to them and come back, all ranks in step."""

from dataclasses import dataclass

from engine.catalog.models import Model
from engine.tiny.exchange import Exchange
from engine.tiny.experts import (
    Routing,
    combine,
    combine_backward,
    expert_backward,
    expert_weights,
    feed_forward,
    route,
    route_backward,
    rows_for,
    scatter,
)
from engine.tiny.layout import Weights
from engine.tiny.matrix import Matrix, add, flatten_rows, split_rows
from engine.tiny.parts import norm, norm_backward

Across = list[Matrix]
# By rank, then by expert.
ByExpert = list[dict[int, Matrix]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MixturePass:
    """Forward pass of a mixture layer: routing, dispatched rows, expert results."""

    rows: Across
    normed: Across
    routing: list[Routing]
    arrived: ByExpert
    results: ByExpert


def expert_owner(model: Model, expert: int, ranks: int) -> int:
    """Return the rank that holds an expert."""
    return expert * ranks // model.num_experts


def mix(
    model: Model, weights: list[Weights], rows: Across, exchange: Exchange
) -> tuple[Across, MixturePass]:
    """Return the rows after the experts; `weights` of a rank hold its own experts only."""
    normed = [
        norm(own, rank_weights["mlp_norm"]) for own, rank_weights in zip(rows, weights, strict=True)
    ]
    routing = [
        route(own, rank_weights["router"], model.experts_per_token)
        for own, rank_weights in zip(normed, weights, strict=True)
    ]
    arrived = dispatch(
        model,
        [
            {e: [own[i] for i in rows_for(routed, e)] for e in range(model.num_experts)}
            for own, routed in zip(normed, routing, strict=True)
        ],
        exchange,
    )
    done: ByExpert = [
        {e: feed_forward(own, expert_weights(rank_weights, e)) for e, own in rank_rows.items()}
        for rank_rows, rank_weights in zip(arrived, weights, strict=True)
    ]
    results = return_rows(model, done, _counts(model, routing), exchange)
    mixed = MixturePass(rows=rows, normed=normed, routing=routing, arrived=arrived, results=results)
    return [
        add(own, combine(routed, rank_results, model.hidden_size))
        for own, routed, rank_results in zip(rows, routing, results, strict=True)
    ], mixed


def mix_backward(
    model: Model, weights: list[Weights], mixed: MixturePass, gradient: Across, exchange: Exchange
) -> tuple[Across, list[Weights]]:
    """Return the gradients of the rows before the experts, and of every rank's weights."""
    pairs = [
        combine_backward(routed, rank_results, upstream)
        for routed, rank_results, upstream in zip(
            mixed.routing, mixed.results, gradient, strict=True
        )
    ]
    upstream = dispatch(model, [of_results for of_results, _ in pairs], exchange)
    gradients: list[Weights] = [{} for _ in weights]
    of_arrived: ByExpert = [{} for _ in weights]
    for rank, rank_gradients in enumerate(upstream):
        for e, own in rank_gradients.items():
            back, slopes = expert_backward(
                mixed.arrived[rank][e], expert_weights(weights[rank], e), own
            )
            of_arrived[rank][e] = back
            gradients[rank] |= {f"{name} {e}": matrix for name, matrix in slopes.items()}
    home = return_rows(model, of_arrived, _counts(model, mixed.routing), exchange)
    result = []
    for rank, (_, of_weights) in enumerate(pairs):
        normed, rank_weights = mixed.normed[rank], weights[rank]
        routed = mixed.routing[rank]
        back, gradients[rank]["router"] = route_backward(
            normed, rank_weights["router"], routed, of_weights
        )
        for e, own in home[rank].items():
            back = add(back, scatter(own, rows_for(routed, e), len(normed), model.hidden_size))
        of_rows, gradients[rank]["mlp_norm"] = norm_backward(
            mixed.rows[rank], rank_weights["mlp_norm"], back
        )
        result.append(add(gradient[rank], of_rows))
    return result, gradients


def _counts(model: Model, routing: list[Routing]) -> list[dict[int, int]]:
    """Return how many rows each rank sends to each expert."""
    return [{e: len(rows_for(routed, e)) for e in range(model.num_experts)} for routed in routing]


def dispatch(model: Model, leaving: ByExpert, exchange: Exchange) -> ByExpert:
    """Return the rows dispatched to every rank's experts, in the order of the source ranks."""
    arrived: ByExpert = [{} for _ in leaving]
    for e in range(model.num_experts):
        target = expert_owner(model, e, exchange.ranks)
        arrived[target][e] = [
            row
            for source, rank_rows in enumerate(leaving)
            for row in _send(model, exchange, source, target, rank_rows[e])
        ]
    return arrived


def return_rows(
    model: Model, done: ByExpert, counts: list[dict[int, int]], exchange: Exchange
) -> ByExpert:
    """Return the expert results to the ranks that their rows came from."""
    home: ByExpert = [{} for _ in done]
    for e in range(model.num_experts):
        source, start = expert_owner(model, e, exchange.ranks), 0
        for target, rows_by_expert in enumerate(counts):
            rows = done[source][e][start : start + rows_by_expert[e]]
            home[target][e] = _send(model, exchange, source, target, rows)
            start += rows_by_expert[e]
    return home


def _send(model: Model, exchange: Exchange, source: int, target: int, rows: Matrix) -> Matrix:
    return split_rows(
        exchange.send(source, target, flatten_rows(rows), "activations"), model.hidden_size
    )
