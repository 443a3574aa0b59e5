"""Direct scatter: rank 0 cuts its buffer and sends every other rank the chunk that is its own."""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Direct scatter"
OPERATION = "scatter"
ROOT = 0


def chunks(world_size: Count) -> Count:
    """Return the number of chunks the buffer is cut into: one per rank."""
    return world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of the one round."""
    others = range(1, world_size)
    messages = tuple(Transfer(source=ROOT, target=r, chunk=r, reduce=False) for r in others)
    return (messages,) if messages else ()


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the root: all but its own chunk."""
    return (world_size - 1) / world_size * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return 1 if world_size > 1 else 0
