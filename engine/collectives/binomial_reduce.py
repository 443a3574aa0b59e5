"""Binomial reduce: a binomial broadcast played backwards, adding instead of copying."""

from engine.collectives import binomial_broadcast
from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Binomial tree reduce"
OPERATION = "reduce"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: one, since the buffer travels whole."""
    return 1


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round; rank 0 ends with the sum."""
    return tuple(
        tuple(
            Transfer(source=transfer.target, target=transfer.source, chunk=0, reduce=True)
            for transfer in messages
        )
        for messages in reversed(binomial_broadcast.rounds(world_size))
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank: one buffer. The root receives one per round."""
    return size if world_size > 1 else 0.0


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds, the logarithm rounded up."""
    return binomial_broadcast.num_rounds(world_size)
