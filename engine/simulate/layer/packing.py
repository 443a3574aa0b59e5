"""Documents packed into sequences, and how much attention each rank of each sequence then has.

A token attends to the tokens before it in its own document, so that a sequence of one long
document has far more to compute than one of many short ones.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Literal

from engine.core.units import Count
from engine.simulate.layer.attention_masks import Layout, Pairs, document_lengths, pieces

Cut = Literal["contiguous", "zigzag", "striped", "document"]
Packing = Literal["arrival", "balanced"]
Packed = tuple[tuple[Count, ...], ...]


def arrived(num_sequences: Count, length: Count, mean: Count, seed: int, *, long: bool) -> Packed:
    """Return documents as they come, cut where a sequence ends; with `long` the first fills one."""
    found: list[tuple[Count, ...]] = []
    for index in range(num_sequences):
        if long and index == 0:
            found.append((length,))
        else:
            found.append(document_lengths(length, mean, seed + index))
    return tuple(found)


def balanced(sequences: Packed) -> Packed:
    """Return the same documents dealt out so that sequences of equal length have similar work.

    The longest first, each to the sequence with the fewest pairs that has room; a document for
    which none has room is cut. Source: after Wang et al. 2025 (WLB-LLM), who also let the
    lengths of sequences differ.
    """
    room = [sum(one) for one in sequences]
    work = [0] * len(sequences)
    dealt: list[list[Count]] = [[] for _ in sequences]
    waiting = sorted((length for one in sequences for length in one), reverse=True)
    while waiting:
        length = waiting.pop(0)
        fitting = [index for index, left in enumerate(room) if left >= length]
        at = min(fitting, key=lambda i: work[i]) if fitting else room.index(max(room))
        part = min(length, room[at])
        dealt[at].append(part)
        room[at] -= part
        work[at] += part * (part + 1) // 2
        if part < length:
            waiting.insert(0, length - part)
    return tuple(map(tuple, dealt))


def rank_pairs(cut: Cut, world_size: Count, documents: Sequence[Count]) -> Pairs:
    """Return the pairs of query and key of each rank that shares one sequence.

    "document" cuts each document in a zig-zag by itself (WLB-LLM's sharding per document); the
    other cuts are of the whole sequence.
    """
    if cut == "document":
        each = [_alone(world_size, length) for length in documents]
        return tuple(sum(column) for column in zip(*each, strict=True))
    return _pairs(cut, world_size, documents)


def _pairs(layout: Layout, world_size: Count, documents: Sequence[Count]) -> Pairs:
    starts = [*accumulate(documents, initial=0)]
    owned = [pieces(layout, world_size, rank, starts[-1]) for rank in range(world_size)]
    if layout == "striped":
        ends = list(pairwise(starts))
        return tuple(
            sum(_seen(piece, *document) for piece in mine for document in ends) for mine in owned
        )
    before = [*accumulate(map(_causal, documents), initial=0)]

    def seen(token: Count) -> Count:
        """Return the pairs of all tokens before this one."""
        at = bisect_right(starts, token) - 1
        return before[at] + _causal(token - starts[at])

    return tuple(sum(seen(piece.stop) - seen(piece.start) for piece in mine) for mine in owned)


def _alone(world_size: Count, length: Count) -> Pairs:
    """Return the pairs of each rank that shares one document: its tokens see nothing else."""
    return tuple(
        sum(
            _causal(own.stop) - _causal(own.start)
            for own in pieces("zigzag", world_size, rank, length)
        )
        for rank in range(world_size)
    )


def _causal(length: Count) -> Count:
    """Return the pairs of the first tokens of a document: each sees itself and those before it."""
    return length * (length + 1) // 2


def _seen(tokens: range, start: Count, stop: Count) -> Count:
    """Return the keys that the tokens of a document see: as many as their place in it."""
    low = max(0, -(-(start - tokens.start) // tokens.step))
    high = min(len(tokens), -(-(stop - tokens.start) // tokens.step))
    own = tokens[low:high]
    return sum((own[0], own[-1])) * len(own) // 2 + (1 - start) * len(own) if high > low else 0
