"""All-reduce in the switch, as NVLS does it: the switch adds on the way and copies on the way back.

The switch is one more node behind the ranks. Rank r has the sum of chunk r formed, then hands it
back for all; the parts of one buffer follow one another, so the four rounds overlap in practice.
"""

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "In-switch"
OPERATION = "all_reduce"
# Nodes beside the ranks: they start with nothing and are owed nothing.
SWITCHES = 1


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: one per rank."""
    return world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of the four rounds; the switch is node `world_size`."""
    if world_size == 1:
        return ()
    switch, ranks = world_size, range(world_size)
    up = [(rank, switch, chunk, True) for rank in ranks for chunk in ranks]
    pull = [(switch, rank, rank, False) for rank in ranks]
    push = [(rank, switch, rank, False) for rank in ranks]
    down = [(switch, rank, chunk, False) for rank in ranks for chunk in ranks if chunk != rank]
    return tuple(
        tuple(Transfer(source=s, target=t, chunk=c, reduce=add) for s, t, c, add in messages)
        for messages in (up, pull, push, down)
    )


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by every rank: its buffer once, and the sum of its own part."""
    return (world_size + 1) / world_size * size if world_size > 1 else 0.0


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds."""
    return 4 if world_size > 1 else 0
