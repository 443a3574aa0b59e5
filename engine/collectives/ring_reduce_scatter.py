"""Ring reduce-scatter: n - 1 rounds of one chunk each; rank r ends with the sum of chunk r."""

from functools import lru_cache

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Ring reduce-scatter"
OPERATION = "reduce_scatter"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks the buffer is cut into: one per rank."""
    return world_size


@lru_cache(maxsize=64)
def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round.

    A chunk starts at the rank after its owner and is added to on its way around the ring; so in
    round k rank r passes on the chunk of the rank k + 1 places before it.
    """
    return tuple(
        tuple(
            Transfer(
                source=rank,
                target=(rank + 1) % world_size,
                chunk=(rank - 1 - step) % world_size,
                reduce=True,
            )
            for rank in range(world_size)
        )
        for step in range(num_rounds(world_size))
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank."""
    return (world_size - 1) / world_size * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return world_size - 1
