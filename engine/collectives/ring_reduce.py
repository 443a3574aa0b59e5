"""Ring reduce: chunks follow one another up the ring to rank 0, every rank adding its part."""

from engine.collectives import ring_broadcast
from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Ring reduce"
OPERATION = "reduce"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: one per rank."""
    return world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round: those of a broadcast, backwards."""
    return tuple(
        tuple(
            Transfer(
                source=transfer.target, target=transfer.source, chunk=transfer.chunk, reduce=True
            )
            for transfer in messages
        )
        for messages in reversed(ring_broadcast.rounds(world_size))
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by every rank but rank 0: the buffer once."""
    return size if world_size > 1 else 0.0


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds: as many as chunks, and the way from the last rank."""
    return ring_broadcast.num_rounds(world_size)
