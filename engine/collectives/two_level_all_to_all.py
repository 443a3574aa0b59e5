"""Two-level all-to-all: first to the GPU at the right place of one's node, then across nodes.

Fewer and larger messages cross the network: one per node, not one per GPU of every node.
"""

from engine.collectives._groups import group_size
from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Two-level all-to-all"
OPERATION = "all_to_all"


def chunks(world_size: Count) -> Count:
    """Return the number of blocks: one for every pair of ranks."""
    return world_size * world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round, with nodes of `group_size` ranks."""
    local = group_size(world_size)
    nodes = world_size // local
    inside = (_inside(world_size, local, turn) for turn in range(1, local))
    across = (_across(world_size, local, turn) for turn in range(1, nodes))
    return (*inside, *across)


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by every rank: blocks for other places, then for other nodes.

    That is (g - 1)/g + (m - 1)/m of its buffer; only the second part leaves the node.
    """
    local = group_size(world_size)
    return ((local - 1) / local + 1 - local / world_size) * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds: all others in the node, then all other nodes."""
    local = group_size(world_size)
    return local - 1 + world_size // local - 1


def _inside(world_size: int, local: int, turn: int) -> tuple[Transfer, ...]:
    """Return a round inside nodes: blocks for the place `turn` further, in any node."""
    transfers = []
    for rank in range(world_size):
        node, local_rank = divmod(rank, local)
        other = (local_rank + turn) % local
        transfers += [
            _send(rank, node * local + other, rank * world_size + target)
            for target in range(other, world_size, local)
        ]
    return tuple(transfers)


def _across(world_size: int, local: int, turn: int) -> tuple[Transfer, ...]:
    """Return a round across nodes: the node's blocks for the same place, `turn` nodes further."""
    transfers = []
    for rank in range(world_size):
        node = rank // local
        target = (rank + turn * local) % world_size
        mates = range(node * local, node * local + local)
        transfers += [_send(rank, target, mate * world_size + target) for mate in mates]
    return tuple(transfers)


def _send(source: int, target: int, chunk: int) -> Transfer:
    return Transfer(source=source, target=target, chunk=chunk, reduce=False)
