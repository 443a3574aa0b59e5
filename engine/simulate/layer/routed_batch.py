"""Batches of tokens for a router: preferences that all share, and noise of each token's own."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from engine.core.units import Count, Ratio
from engine.simulate.layer.router import Router, Routing, Row, route
from engine.simulate.numerics.rng import chances, normals


def drawn(preferences: Sequence[Ratio], num_tokens: Count, seed: int) -> tuple[Row, ...]:
    """Return logits [num_tokens][num_experts]: a preference per expert plus normal noise."""
    noise = normals(chances(seed))
    return tuple(
        tuple(
            want + x for want, x in zip(preferences, islice(noise, len(preferences)), strict=True)
        )
        for _ in range(num_tokens)
    )


@lru_cache(maxsize=32)
def routed(router: Router, preferences: Row, num_tokens: Count) -> tuple[tuple[Row, ...], Routing]:
    """Return a batch's logits and where its tokens go."""
    rows = drawn(preferences, num_tokens, router.seed)
    return rows, route(router, rows)


def queues(routing: Routing) -> tuple[tuple[tuple[Count, Count], ...], ...]:
    """Return the (token, choice) pairs of every expert, [num_experts][...]: the kept ones first."""
    found: list[list[tuple[Count, Count]]] = [[] for _ in routing.asked]
    for kept in (True, False):
        for slot in range(len(routing.chosen[0])):
            for token, ids in enumerate(routing.chosen):
                if routing.kept[token][slot] is kept:
                    found[ids[slot]].append((token, slot))
    return tuple(map(tuple, found))


def lost_tokens(routing: Routing) -> Count:
    """Return the tokens none of whose experts had room: only the residual stream carries them."""
    return sum(not any(kept) for kept in routing.kept)
