"""Document packing into sequences, and the attention work of each context-parallel rank.

A token attends to the tokens before it in its own document, so that a sequence of one long
document has far more to compute than one of many short ones.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Literal

from engine.core.units import Count
from engine.simulate.layer.attention_masks import Layout, PairCounts, document_lengths, rank_tokens

Cut = Literal["contiguous", "zigzag", "striped", "document"]
Packing = Literal["arrival", "balanced"]
PackedSequences = tuple[tuple[Count, ...], ...]


def pack_in_order(
    num_sequences: Count, length: Count, mean: Count, seed: int, *, long: bool
) -> PackedSequences:
    """Return documents packed in order of arrival; with `long` the first fills a sequence."""
    sequences: list[tuple[Count, ...]] = []
    for index in range(num_sequences):
        if long and index == 0:
            sequences.append((length,))
        else:
            sequences.append(document_lengths(length, mean, seed + index))
    return tuple(sequences)


def pack_balanced(sequences: PackedSequences) -> PackedSequences:
    """Return the documents repacked so that sequences of equal length have similar work.

    The longest first, each to the sequence with the fewest pairs that has room; a document for
    which none has room is cut. Source: after Wang et al. 2025 (WLB-LLM), who also let the
    lengths of sequences differ.
    """
    room = [sum(documents) for documents in sequences]
    work = [0] * len(sequences)
    packed: list[list[Count]] = [[] for _ in sequences]
    waiting = sorted((length for documents in sequences for length in documents), reverse=True)
    while waiting:
        length = waiting.pop(0)
        fitting = [index for index, left in enumerate(room) if left >= length]
        index = min(fitting, key=lambda i: work[i]) if fitting else room.index(max(room))
        part = min(length, room[index])
        packed[index].append(part)
        room[index] -= part
        work[index] += part * (part + 1) // 2
        if part < length:
            waiting.insert(0, length - part)
    return tuple(map(tuple, packed))


def rank_pairs(cut: Cut, world_size: Count, documents: Sequence[Count]) -> PairCounts:
    """Return the number of query-key pairs of each rank that shares one sequence.

    "document" cuts each document in a zig-zag by itself (WLB-LLM's sharding per document); the
    other cuts are of the whole sequence.
    """
    if cut == "document":
        each = [_document_pairs(world_size, length) for length in documents]
        return tuple(sum(column) for column in zip(*each, strict=True))
    return _sequence_pairs(cut, world_size, documents)


def _sequence_pairs(layout: Layout, world_size: Count, documents: Sequence[Count]) -> PairCounts:
    starts = [*accumulate(documents, initial=0)]
    owned = [rank_tokens(layout, world_size, rank, starts[-1]) for rank in range(world_size)]
    if layout == "striped":
        ends = list(pairwise(starts))
        return tuple(
            sum(_visible_keys(piece, *document) for piece in ranges for document in ends)
            for ranges in owned
        )
    before = [*accumulate(map(_causal_pairs, documents), initial=0)]

    def pairs_before(token: Count) -> Count:
        """Return the number of pairs of all tokens before this one."""
        index = bisect_right(starts, token) - 1
        return before[index] + _causal_pairs(token - starts[index])

    return tuple(
        sum(pairs_before(piece.stop) - pairs_before(piece.start) for piece in ranges)
        for ranges in owned
    )


def _document_pairs(world_size: Count, length: Count) -> PairCounts:
    """Return the number of pairs of each rank that shares one document."""
    return tuple(
        sum(
            _causal_pairs(chunk.stop) - _causal_pairs(chunk.start)
            for chunk in rank_tokens("zigzag", world_size, rank, length)
        )
        for rank in range(world_size)
    )


def _causal_pairs(length: Count) -> Count:
    """Return the number of causal pairs of the first `length` tokens of a document."""
    return length * (length + 1) // 2


def _visible_keys(tokens: range, start: Count, stop: Count) -> Count:
    """Return the number of causal pairs of the tokens that lie in a document."""
    low = max(0, -(-(start - tokens.start) // tokens.step))
    high = min(len(tokens), -(-(stop - tokens.start) // tokens.step))
    visible = tokens[low:high]
    return (
        sum((visible[0], visible[-1])) * len(visible) // 2 + (1 - start) * len(visible)
        if high > low
        else 0
    )
