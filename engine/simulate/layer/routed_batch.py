"""Token batches for a router: shared expert preferences plus noise per token."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from engine.core.units import Count, Ratio
from engine.simulate.layer.router import Router, Routing, Row, route_tokens
from engine.simulate.numerics.rng import normals, uniforms


def sample_logits(preferences: Sequence[Ratio], num_tokens: Count, seed: int) -> tuple[Row, ...]:
    """Return logits [num_tokens][num_experts]: a preference per expert plus normal noise."""
    noise = normals(uniforms(seed))
    return tuple(
        tuple(
            preference + deviation
            for preference, deviation in zip(
                preferences, islice(noise, len(preferences)), strict=True
            )
        )
        for _ in range(num_tokens)
    )


@lru_cache(maxsize=32)
def route_batch(
    router: Router, preferences: Row, num_tokens: Count
) -> tuple[tuple[Row, ...], Routing]:
    """Return the logits and the routing of a batch."""
    rows = sample_logits(preferences, num_tokens, router.seed)
    return rows, route_tokens(router, rows)


def expert_queues(routing: Routing) -> tuple[tuple[tuple[Count, Count], ...], ...]:
    """Return the (token, choice) queue of every expert, [num_experts][...], kept ones first."""
    queues: list[list[tuple[Count, Count]]] = [[] for _ in routing.asked]
    for kept in (True, False):
        for slot in range(len(routing.chosen[0])):
            for token, ids in enumerate(routing.chosen):
                if routing.kept[token][slot] is kept:
                    queues[ids[slot]].append((token, slot))
    return tuple(map(tuple, queues))


def lost_tokens(routing: Routing) -> Count:
    """Return the number of tokens without any expert, carried by the residual stream alone."""
    return sum(not any(kept) for kept in routing.kept)
