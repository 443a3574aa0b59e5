"""Ring broadcast: chunks follow one another down the ring from rank 0, so every port sends once."""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Ring broadcast"
OPERATION = "broadcast"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: one per rank; more would fill the pipeline better."""
    return world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round: chunk c passes rank r in round c + r."""
    return tuple(
        tuple(
            Transfer(source=rank, target=rank + 1, chunk=turn - rank, reduce=False)
            for rank in range(world_size - 1)
            if 0 <= turn - rank < chunks(world_size)
        )
        for turn in range(num_rounds(world_size))
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by every rank but the last: the buffer once."""
    return size if world_size > 1 else 0.0


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds: as many as chunks, and the way to the last rank."""
    return 2 * (world_size - 1)
