"""Star all-reduce: every rank sends all it has to rank 0, which adds and sends the sum to all."""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Star"
OPERATION = "all_reduce"
ROOT = 0


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: one, since the buffer travels whole."""
    return 1


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of the two rounds, all through the one port of the root."""
    others = range(1, world_size)
    if not others:
        return ()
    return (
        tuple(Transfer(source=rank, target=ROOT, chunk=0, reduce=True) for rank in others),
        tuple(Transfer(source=ROOT, target=rank, chunk=0, reduce=False) for rank in others),
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank, the root."""
    return (world_size - 1) * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return 2 if world_size > 1 else 0
