"""Binomial broadcast: whoever has the buffer sends it on, so the holders double every round."""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Binomial tree broadcast"
OPERATION = "broadcast"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: one, since the buffer travels whole."""
    return 1


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round: the first 2^k ranks send to the next 2^k."""
    return tuple(
        tuple(
            Transfer(source=rank, target=rank + (1 << turn), chunk=0, reduce=False)
            for rank in range(min(1 << turn, world_size - (1 << turn)))
        )
        for turn in range(num_rounds(world_size))
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank, the root: a whole buffer per round."""
    return num_rounds(world_size) * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds, the logarithm rounded up."""
    return (world_size - 1).bit_length()
