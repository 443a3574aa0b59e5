"""Who sends how many copies of tokens to whose experts, from the simulation of a router."""

from functools import lru_cache

from engine.core.units import Count, Ratio
from engine.simulate.layer.routed_batch import routed
from engine.simulate.layer.router import Router, Row

Matrix = tuple[tuple[Count, ...], ...]


@lru_cache(maxsize=64)
def copies_between(router: Router, preferences: Row, ranks: Count, each: Count) -> Matrix:
    """Return copies [from][to] of `each` tokens per rank; experts lie on the ranks in order.

    Raises:
        ValueError: the ranks do not divide the experts.
    """
    if router.num_experts % ranks:
        raise ValueError(f"{ranks} ranks do not divide {router.num_experts} experts")
    _, routing = routed(router, preferences, ranks * each)
    found = [[0] * ranks for _ in range(ranks)]
    for token, ids in enumerate(routing.chosen):
        for expert in ids:
            found[token // each][expert * ranks // router.num_experts] += 1
    return tuple(map(tuple, found))


def turned(matrix: Matrix) -> Matrix:
    """Return the matrix of the way back: whoever got copies sends as many results."""
    return tuple(zip(*matrix, strict=True))


def arrived(matrix: Matrix) -> tuple[Count, ...]:
    """Return the copies that each rank works on, its own included."""
    return tuple(map(sum, turned(matrix)))


def leaves(matrix: Matrix) -> tuple[Count, ...]:
    """Return the copies that each rank sends to others."""
    return tuple(sum(row) - row[rank] for rank, row in enumerate(matrix))


def hottest(matrix: Matrix) -> Ratio:
    """Return the most that a rank works on, over the mean."""
    counts = arrived(matrix)
    return max(counts) * len(counts) / sum(counts)
