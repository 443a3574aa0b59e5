"""Causal and document masks under context parallelism: attention work per rank and step.

Work is counted in query-key pairs that the mask leaves. A sequence is packed from documents; a
token attends to itself and to what comes before it in its own document.
"""

import math
from collections.abc import Sequence
from typing import Literal

from engine.core.units import Count, Ratio
from engine.simulate.numerics.rng import uniforms

Layout = Literal["contiguous", "striped", "zigzag"]
Exchange = Literal["ring", "all_gather", "ulysses"]
PairCounts = tuple[Count, ...]


def rank_tokens(
    layout: Layout, world_size: Count, rank: Count, num_tokens: Count
) -> tuple[range, ...]:
    """Return the token ranges of a rank.

    contiguous: one piece of N. striped: every N-th token (Brandon et al. 2023). zigzag: of 2N
    pieces the r-th from the front and the r-th from the back (Llama 3).
    """
    if layout == "striped":
        return (range(rank, num_tokens, world_size),)
    if layout == "contiguous":
        return (_token_range(num_tokens, world_size, rank),)
    pair = rank, 2 * world_size - 1 - rank
    return tuple(_token_range(num_tokens, 2 * world_size, index) for index in pair)


def _token_range(num_tokens: Count, count: Count, index: Count) -> range:
    return range(index * num_tokens // count, (index + 1) * num_tokens // count)


def document_lengths(num_tokens: Count, mean: Count, seed: int) -> tuple[Count, ...]:
    """Return exponential document lengths that fill a sequence, the last one cut off."""
    lengths: list[Count] = []
    left = num_tokens
    for chance in uniforms(seed):
        if left <= 0:
            break
        lengths.append(min(left, max(1, round(-mean * math.log(chance)))))
        left -= lengths[-1]
    return tuple(lengths)


def visible_pairs(queries: range, keys: range) -> Count:
    """Return the number of causal query-key pairs; both ranges have the same step.

    Of query i all keys up to i + d are seen, where d is how many steps the queries start later.
    """
    if not queries or not keys:
        return 0
    first = (queries.start - keys.start) // queries.step + 1
    last = first + len(queries) - 1
    # The number seen grows by one from query to query: from none, to all of the keys.
    low, high = max(first, 1), min(last, len(keys))
    growing = (low + high) * (high - low + 1) // 2 if high >= low else 0
    return growing + max(0, last - max(first - 1, len(keys))) * len(keys)


def _tokens_within(tokens: range, start: Count, stop: Count) -> range:
    def index_of(token: Count) -> Count:
        return min(max(0, -(-(token - tokens.start) // tokens.step)), len(tokens))

    return tokens[index_of(start) : index_of(stop)]


def work_matrix(
    layout: Layout, world_size: Count, documents: Sequence[Count]
) -> tuple[PairCounts, ...]:
    """Return the number of pairs [world_size][world_size] by query rank and key rank.

    `documents` are the lengths of the documents of the sequence; one for a plain causal mask.

    Raises:
        ValueError: there is no rank, or no token.
    """
    if world_size < 1 or sum(documents) < 1:
        raise ValueError(
            f"world_size is {world_size} and documents have {sum(documents)} tokens; "
            "at least 1 of each is needed"
        )
    tokens = sum(documents)
    owned = [rank_tokens(layout, world_size, rank, tokens) for rank in range(world_size)]
    matrix = [[0] * world_size for _ in range(world_size)]
    start = 0
    for length in documents:
        stop = start + length
        visible = [[_tokens_within(piece, start, stop) for piece in ranges] for ranges in owned]
        present = [rank for rank in range(world_size) if any(visible[rank])]
        for rank in present:
            for other in present:
                matrix[rank][other] += sum(
                    visible_pairs(queries, keys)
                    for queries in visible[rank]
                    for keys in visible[other]
                )
        start = stop
    return tuple(tuple(row) for row in matrix)


def rank_work(
    exchange: Exchange, layout: Layout, world_size: Count, documents: Sequence[Count]
) -> tuple[Ratio, ...]:
    """Return the number of pairs of each rank, [world_size], in all heads.

    Ulysses gives each rank all tokens of an N-th of the heads, so that the layout plays no part.
    """
    if exchange == "ulysses":
        pairs = sum(length * (length + 1) // 2 for length in documents)
        return (pairs / world_size,) * world_size
    return tuple(float(sum(row)) for row in work_matrix(layout, world_size, documents))


def ring_work(
    layout: Layout, world_size: Count, documents: Sequence[Count]
) -> tuple[PairCounts, ...]:
    """Return the number of pairs [step][rank]: in step j rank r has the keys of rank r - j.

    Source: Liu et al. 2023.
    """
    matrix = work_matrix(layout, world_size, documents)
    ranks = range(world_size)
    return tuple(tuple(matrix[r][(r - step) % world_size] for r in ranks) for step in ranks)


def even_ring_work(layout: Layout, world_size: Count, half: Count) -> tuple[PairCounts, ...]:
    """Return `ring_work` of one causal sequence with two pieces of `half` tokens per rank.

    Only three blocks differ: a rank's own keys, those of an earlier rank and those of a later one.
    """
    tokens = 2 * world_size * half
    first, second = (
        rank_tokens(layout, world_size, rank, tokens) for rank in (0, min(1, world_size - 1))
    )
    diagonal, earlier, later = (
        sum(visible_pairs(q, k) for q in queries for k in keys)
        for queries, keys in ((first, first), (second, first), (first, second))
    )
    steps = range(1, world_size)
    return (
        (diagonal,) * world_size,
        *((later,) * step + (earlier,) * (world_size - step) for step in steps),
    )


def imbalance(work: Sequence[Ratio]) -> Ratio:
    """Return the maximum work over the mean."""
    return max(work) * len(work) / sum(work)


def lockstep_imbalance(steps: Sequence[Sequence[Ratio]]) -> Ratio:
    """Return the imbalance if all ranks synchronize in each step of the ring, [step][rank].

    A contiguous causal ring then costs twice the even work: some rank has a full block in every
    step but the first.
    """
    return sum(max(step) for step in steps) * len(steps[0]) / sum(sum(step) for step in steps)
