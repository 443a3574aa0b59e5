"""Direct all-to-all: in round k every rank sends the rank k places on the block meant for it.

Block s * n + d is what rank s has for rank d: who holds row s before holds column d afterwards.
"""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Direct all-to-all"
OPERATION = "all_to_all"


def chunks(world_size: Count) -> Count:
    """Return the number of blocks: one for every pair of ranks."""
    return world_size * world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round: one out and one in at every rank."""
    return tuple(
        tuple(
            Transfer(
                source=rank,
                target=(rank + turn) % world_size,
                chunk=rank * world_size + (rank + turn) % world_size,
                reduce=False,
            )
            for rank in range(world_size)
        )
        for turn in range(1, world_size)
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by every rank: its buffer of `size` without its own block."""
    return (world_size - 1) / world_size * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return world_size - 1
