"""Token copies between expert-parallel ranks, from the simulation of a router."""

from functools import lru_cache

from engine.core.units import Count, Ratio
from engine.simulate.layer.routed_batch import route_batch
from engine.simulate.layer.router import Router, Row

CopyMatrix = tuple[tuple[Count, ...], ...]


@lru_cache(maxsize=64)
def token_copies(
    router: Router, preferences: Row, ranks: Count, tokens_per_rank: Count
) -> CopyMatrix:
    """Return the copies [from][to]; experts lie on the ranks in order.

    Raises:
        ValueError: the ranks do not divide the experts.
    """
    if router.num_experts % ranks:
        raise ValueError(f"{ranks} ranks do not divide {router.num_experts} experts")
    _, routing = route_batch(router, preferences, ranks * tokens_per_rank)
    matrix = [[0] * ranks for _ in range(ranks)]
    for token, ids in enumerate(routing.chosen):
        for expert in ids:
            matrix[token // tokens_per_rank][expert * ranks // router.num_experts] += 1
    return tuple(map(tuple, matrix))


def transpose(matrix: CopyMatrix) -> CopyMatrix:
    """Return the matrix of the combine: each rank returns as many results as it got copies."""
    return tuple(zip(*matrix, strict=True))


def received_copies(matrix: CopyMatrix) -> tuple[Count, ...]:
    """Return the number of copies that each rank processes, its own included."""
    return tuple(map(sum, transpose(matrix)))


def sent_copies(matrix: CopyMatrix) -> tuple[Count, ...]:
    """Return the number of copies that each rank sends to others."""
    return tuple(sum(row) - row[rank] for rank, row in enumerate(matrix))


def received_imbalance(matrix: CopyMatrix) -> Ratio:
    """Return the maximum number of processed copies of a rank over the mean."""
    counts = received_copies(matrix)
    return max(counts) * len(counts) / sum(counts)
