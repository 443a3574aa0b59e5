"""Schedules that repeat one V-shaped block every six passes (Qi, Wan et al. 2024, section 3).

Two chunks per rank, three passes each, all of one length: a block is when a micro-batch does its
six passes on every rank. The next micro-batch does the same six passes later, so passes of a rank
never meet if their times differ by anything but multiples of six. How long a block lives decides
how many micro-batches a rank holds. Gaps where the pipeline fills and empties are filled last.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeAlias

from engine.core.pipeline_op import FORWARD, INPUT, WEIGHT, Op
from engine.core.units import Count

_INTERVAL = 6


class Block(NamedTuple):
    """A block, in passes.

    Attributes:
        pace: from a rank to the next: forward down, forward up, backward down, backward up.
        turns: where the V turns: after forward down on the last rank, after forward up on rank 0,
            after backward down on the last rank.
    """

    pace: tuple[int, int, int, int]
    turns: tuple[int, int, int]


def order(rank: int, pipeline_parallel: Count, num_microbatches: Count, block: Block) -> list[Op]:
    """Return the operations of a rank: repeated blocks, the gaps at both ends filled."""
    return list(_orders(pipeline_parallel, num_microbatches, block)[rank])


@lru_cache(maxsize=64)
def _orders(pipeline_parallel: Count, num_microbatches: Count, block: Block) -> list[list[Op]]:
    """Return the operations of every rank."""
    return reordered(
        [
            [
                [start + _INTERVAL * j for j in range(num_microbatches)]
                for start in _times(rank, pipeline_parallel, block)
            ]
            for rank in range(pipeline_parallel)
        ]
    )


def _times(rank: int, pipeline_parallel: Count, block: Block) -> tuple[int, int, int, int]:
    """Return when the rank passes a micro-batch: forward by both chunks, then back by both."""
    down, up, back_down, back_up = block.pace
    whole, above = pipeline_parallel - 1, pipeline_parallel - 1 - rank
    bottom = down * whole + block.turns[0]
    top = bottom + up * whole + block.turns[1]
    turned = top + back_down * whole + block.turns[2]
    return down * rank, bottom + up * above, top + back_down * rank, turned + back_up * above


# Fill of the gaps that repeated V-shaped blocks leave (Qi, Wan et al. 2024, section 3.3).
#
# Repeated blocks leave gaps at both ends, where fewer than six passes share six slots. Passes move
# forward into those gaps as far as their inputs and the memory of the blocks allow. The authors'
# scheduler does so twice in passes of unit length: first with the weight gradients as passes of
# their own, then for the end only, where weight gradients take whatever the other passes leave.

# When a rank starts each pass: [row][micro-batch]. Rows: forward of chunk 0, of chunk 1, input
# gradient of chunk 1, of chunk 0, and in a first round weight gradients in their own order.
Starts: TypeAlias = list[list[int]]

_DOWN, _UP, _TOP, _WEIGHTS = 0, 1, 3, 4


def reordered(blocks: Sequence[Starts]) -> list[list[Op]]:
    """Return the operations of every rank, from the starts of four rows in repeated blocks."""
    first = [[*rank, _weights(rank)] for rank in blocks]
    _move(first)
    second = [rank[:_WEIGHTS] for rank in _squeezed(first)]
    _move(second)
    return [_ops(rank[:_WEIGHTS]) for rank in _squeezed([[*r, _weights(r)] for r in second])]


def _weights(rank: Starts) -> list[int]:
    """Return the slots of weight gradients: each the earliest left after its input gradient."""
    taken = set(chain.from_iterable(rank))
    slots: list[int] = []
    slot = -1
    for back in sorted(rank[2] + rank[3]):
        slot = max(slot, back) + 1
        while slot in taken:
            slot += 1
        slots.append(slot)
    return slots


def _held(rank: Starts) -> Count:
    """Return the most activations that a rank holds, in chunks of one micro-batch."""
    released = rank[_WEIGHTS] if len(rank) > _WEIGHTS else _weights(rank)
    forward = sorted(rank[_DOWN] + rank[_UP])
    return max(i + 1 - bisect_left(released, start) for i, start in enumerate(forward))


def _move(ranks: list[Starts]) -> None:
    """Move passes to earlier free slots, in place, between which the steady part stays as it is."""
    limit = max(map(_held, ranks))
    with_weights = len(ranks[0]) > _WEIGHTS
    last = len(ranks[0][_DOWN]) - 1
    steady = ended = False
    filled: list[set[int]] = [set() for _ in ranks]
    timed = sorted(
        (start, r, row, j)
        for r, rank in enumerate(ranks)
        for row, starts in enumerate(rank)
        for j, start in enumerate(starts)
    )
    for start, r, row, j in timed:
        steady = steady or (r == 0 and row == _TOP)
        stays = not ended if steady else not with_weights
        ended = ended or (steady and row == _DOWN and j == last)
        if not stays:
            ready = _ready(ranks, r, row, j)
            free = (slot for slot in range(ready, start) if slot not in filled[r])
            frees = with_weights and row > _UP  # a move that can only lower the memory held
            _take(ranks[r], row, j, free, None if frees else limit)
        filled[r].add(ranks[r][row][j])


def _take(rank: Starts, row: int, j: int, free: Iterable[int], limit: Count | None) -> None:
    """Move a pass to the first free slot within a limit of memory, if there is one."""
    start = rank[row][j]
    for slot in free:
        rank[row][j] = slot
        if limit is None or _held(rank) <= limit:
            return
    rank[row][j] = start


def _ready(ranks: Sequence[Starts], r: int, row: int, j: int) -> int:
    """Return the first slot after all that a pass waits for, in passes of one slot."""
    before = [-1]
    if row == _WEIGHTS:
        before.append(sorted(ranks[r][2] + ranks[r][3])[j])
    else:
        neighbor = r + (1 if row % 2 else -1)
        if 0 <= neighbor < len(ranks):
            before.append(ranks[neighbor][row][j])
        if row:
            before.append(ranks[r][row - 1][j])
    if j:
        before.append(ranks[r][row][j - 1])
    return max(before) + 1


def _squeezed(ranks: Sequence[Starts]) -> list[Starts]:
    """Return the starts when every pass runs as soon as it can, in the order of each rank."""
    played = [[[0] * len(starts) for starts in rank] for rank in ranks]
    free = [0] * len(ranks)
    timed = sorted(
        (start, r, row, j)
        for r, rank in enumerate(ranks)
        for row, starts in enumerate(rank)
        for j, start in enumerate(starts)
    )
    for _, r, row, j in timed:
        ready = 0 if row == _WEIGHTS else _ready(played, r, row, j)
        played[r][row][j] = max(ready, free[r])
        free[r] = played[r][row][j] + 1
    return played


def _ops(rank: Starts) -> list[Op]:
    """Return the operations of a rank: of the weight gradients due, chunk 1 goes first."""
    rows = ((FORWARD, 0), (FORWARD, 1), (INPUT, 1), (INPUT, 0))
    timed: list[tuple[int, Op | None]] = [
        (start, Op(kind, j, chunk))
        for (kind, chunk), starts in zip(rows, rank, strict=True)
        for j, start in enumerate(starts)
    ]
    timed += [(slot, None) for slot in _weights(rank)]
    ops: list[Op] = []
    due, done = [0, 0], [0, 0]
    for _, op in sorted(timed, key=lambda item: item[0]):
        if op is not None:
            ops.append(op)
            due[op.chunk] += op.kind == INPUT
            continue
        chunk = 1 if due[1] > done[1] else 0
        ops.append(Op(WEIGHT, done[chunk], chunk))
        done[chunk] += 1
    return ops
