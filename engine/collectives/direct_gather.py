"""Direct gather: every rank sends its chunk to rank 0, which ends with all of them, not added."""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Direct gather"
OPERATION = "gather"
ROOT = 0


def chunks(world_size: Count) -> Count:
    """Return the number of chunks the gathered buffer consists of: one per rank."""
    return world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of the one round."""
    others = range(1, world_size)
    messages = tuple(Transfer(source=r, target=ROOT, chunk=r, reduce=False) for r in others)
    return (messages,) if messages else ()


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by every rank but the root; `size` is the gathered buffer.

    The root receives n - 1 times as much.
    """
    return size / world_size if world_size > 1 else 0.0


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return 1 if world_size > 1 else 0
