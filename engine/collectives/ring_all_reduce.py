"""Ring all-reduce: a ring reduce-scatter, then a ring all-gather (Patarasuk and Yuan 2009)."""

from functools import lru_cache

from engine.collectives import ring_all_gather, ring_reduce_scatter
from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Ring"
OPERATION = "all_reduce"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks the buffer is cut into: one per rank."""
    return world_size


@lru_cache(maxsize=64)
def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round; half way, rank r holds the whole sum of chunk r."""
    return ring_reduce_scatter.rounds(world_size) + ring_all_gather.rounds(world_size)


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank; all ranks send the same."""
    return 2 * (world_size - 1) / world_size * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return 2 * (world_size - 1)
