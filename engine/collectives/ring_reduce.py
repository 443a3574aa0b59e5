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
            Transfer(source=one.target, target=one.source, chunk=one.chunk, reduce=True)
            for one in messages
        )
        for messages in reversed(ring_broadcast.rounds(world_size))
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return what every rank but rank 0 sends: the buffer once."""
    return size if world_size > 1 else 0.0


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds: as many as chunks, and the way from the last rank."""
    return ring_broadcast.num_rounds(world_size)
