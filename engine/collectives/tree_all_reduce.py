"""Double binary tree all-reduce: two trees, each with half of the data (Sanders et al. 2009).

Who has two children in one tree is a leaf in the other, so every port works both ways. Each half
is cut into pieces that follow one another: while one piece goes down, the next still goes up.
"""

from collections.abc import Iterator

from engine.core.message import Transfer
from engine.core.units import Bytes, Count

TITLE = "Double tree"
OPERATION = "all_reduce"


def chunks(world_size: Count) -> Count:
    """Return the number of chunks of the buffer: the pieces of both halves."""
    return 2 * _pieces(world_size)


def rounds(world_size: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round."""
    return pipelined_rounds(world_size, _pieces(world_size))


def bytes_sent(world_size: Count, size: Bytes) -> Bytes:
    """Return the bytes sent by the busiest rank: half the buffer per parent and per child.

    From four ranks on some rank has a parent and two children in one tree and a parent in the
    other; two and three ranks have fewer neighbors.
    """
    return min(world_size, 4) / 2 * size if world_size > 1 else 0.0


def num_rounds(world_size: Count) -> Count:
    """Return the number of rounds: up, down, and one more for each piece after the first."""
    return 2 * _depth(world_size) + _pieces(world_size) - 1 if world_size > 1 else 0


def pipelined_rounds(world_size: Count, pieces: Count) -> tuple[tuple[Transfer, ...], ...]:
    """Return the messages of every round with each half cut into `pieces`.

    Piece p leaves the deepest ranks in round p, reaches the root `depth` rounds later and is
    everywhere after as many more. `chunks` is then 2 * pieces.
    """
    if world_size == 1:
        return ()
    total = 2 * _depth(world_size) + pieces - 1
    messages: list[list[Transfer]] = [[] for _ in range(total)]
    for half, turn, low, high in edges(world_size):
        for piece in range(pieces):
            chunk = half * pieces + piece
            up = Transfer(source=low, target=high, chunk=chunk, reduce=True)
            down = Transfer(source=high, target=low, chunk=chunk, reduce=False)
            messages[turn + piece].append(up)
            messages[2 * _depth(world_size) - 1 - turn + piece].append(down)
    return tuple(tuple(message) for message in messages)


def parent_of(node: int, world_size: Count) -> int:
    """Return the parent of `node` (not 0) in the in-order binary tree under node 0.

    A node's height is its lowest set bit. Of its neighbors at that distance one is a multiple of
    twice that bit but not of four times: the parent, if it exists; else the one below is.
    """
    bit = node & -node
    above, below = node + bit, node - bit
    return above if above & (2 * bit) and above < world_size else below


def edges(world_size: Count) -> Iterator[tuple[int, int, int, int]]:
    """Yield (tree, round in which its first piece goes up, child, parent) of both trees."""
    for half, relabel in enumerate((_same, _complement)):
        for turn, child, parent in _edges(world_size):
            yield half, turn, relabel(child, world_size), relabel(parent, world_size)


def _edges(world_size: int) -> Iterator[tuple[int, int, int]]:
    """Yield (round in which the first piece goes up, child, parent) for every edge of the tree."""
    deepest = _depth(world_size)
    for node in range(1, world_size):
        level, walk = 0, node
        while walk:
            level, walk = level + 1, parent_of(walk, world_size)
        yield deepest - level, node, parent_of(node, world_size)


def _same(node: int, _: int) -> int:
    return node


def _complement(node: int, world_size: int) -> int:
    """Swap odd nodes, the leaves, with even ones: by mirror, or by shift if n is odd."""
    return world_size - 1 - node if world_size % 2 == 0 else (node + 1) % world_size


def _depth(world_size: int) -> int:
    return (world_size - 1).bit_length()


def _pieces(world_size: int) -> int:
    """Return the pieces of a half: about as many chunks as in a ring, to compare the two."""
    return max(1, world_size // 2)
