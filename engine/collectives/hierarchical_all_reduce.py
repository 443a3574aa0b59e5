"""Hierarchical all-reduce: scattered in the node, reduced across nodes, gathered in the node."""

from engine.collectives._groups import group_size
from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Hierarchical"
OPERATION = "all_reduce"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks: a share for each GPU of a node, in a piece for each node."""
    return world_size


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round, with nodes of `group_size` ranks."""
    return nested_rounds(world_size, group_size(world_size))


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by every rank: (g - 1)/g inside, (m - 1)/(gm) across, both twice.

    Their sum is that of a flat ring: a hierarchy moves not a byte more.
    """
    return 2 * (world_size - 1) / world_size * size


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds: two rings in the node, two across nodes."""
    local = group_size(world_size)
    return 2 * (local - 1) + 2 * (world_size // local - 1)


def nested_rounds(world_size: Count, local: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round with nodes of `local` ranks.

    Share i of the buffer (chunks i * nodes and on) belongs to the i-th GPU of every node.
    """
    nodes = world_size // local
    inside = [_inside(world_size, local, step) for step in range(local - 1)]
    across = [_across(world_size, local, step) for step in range(nodes - 1)]
    return (
        *(_transfers(messages, reduce=True) for messages in inside),
        *(_transfers(messages, reduce=True) for messages in across),
        *(_transfers(_gather_messages(messages, nodes, 1), reduce=False) for messages in across),
        *(
            _transfers(_gather_messages(messages, local, nodes), reduce=False)
            for messages in inside
        ),
    )


Message = tuple[int, int, int]


def _inside(world_size: int, local: int, step: int) -> list[Message]:
    """Return a round inside nodes: ranks pass on the share of the rank step + 1 places before."""
    nodes = world_size // local
    messages = []
    for rank in range(world_size):
        node, local_rank = divmod(rank, local)
        share = (local_rank - 1 - step) % local
        target = node * local + (local_rank + 1) % local
        messages += [(rank, target, share * nodes + piece) for piece in range(nodes)]
    return messages


def _across(world_size: int, local: int, step: int) -> list[Message]:
    """Return a round across nodes: GPUs at the same place reduce their share in a ring."""
    nodes = world_size // local
    messages = []
    for rank in range(world_size):
        node, local_rank = divmod(rank, local)
        piece = (node - 1 - step) % nodes
        messages.append((rank, (rank + local) % world_size, local_rank * nodes + piece))
    return messages


def _gather_messages(messages: list[Message], cycle: int, stride: int) -> list[Message]:
    """Return the messages of the gather: of each cycle the chunk after the one scattered."""
    return [
        (
            source,
            target,
            chunk + (stride if chunk // stride % cycle < cycle - 1 else -(cycle - 1) * stride),
        )
        for source, target, chunk in messages
    ]


def _transfers(messages: list[Message], *, reduce: bool) -> tuple[Transfer, ...]:
    return tuple(
        Transfer(source=source, target=target, chunk=chunk, reduce=reduce)
        for source, target, chunk in messages
    )
