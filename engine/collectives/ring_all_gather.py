"""Ring all-gather: n - 1 rounds; rank r starts with chunk r alone and all end with all chunks."""

from functools import lru_cache

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Ring all-gather"
OPERATION = "all_gather"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks the gathered buffer consists of: one per rank."""
    return world_size


@lru_cache(maxsize=64)
def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round: each rank passes on the chunk it received last."""
    return tuple(
        tuple(
            Transfer(
                source=rank,
                target=(rank + 1) % world_size,
                chunk=(rank - step) % world_size,
                reduce=False,
            )
            for rank in range(world_size)
        )
        for step in range(num_rounds(world_size))
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank; `size` is the gathered buffer."""
    return (world_size - 1) / world_size * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return world_size - 1
