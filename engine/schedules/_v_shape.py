"""Schedules that repeat one V-shaped block every six passes (Qi, Wan et al. 2024, section 3).

Two chunks per rank, three passes each, all of one length: a block is when a micro-batch does its
six passes on every rank. The next micro-batch does the same six passes later, so passes of a rank
never meet if their times differ by anything but multiples of six. How long a block lives decides
how many micro-batches a rank holds.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

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
    """Return the operations of a rank by their time in the repeated blocks."""
    times = _times(rank, pipeline_parallel, block)
    weights = _weights(times[2:], [time % _INTERVAL for time in times])
    kinds = (
        *zip(times, (FORWARD, FORWARD, INPUT, INPUT), (0, 1, 1, 0), strict=True),
        *zip(weights, (WEIGHT, WEIGHT), (1, 0), strict=True),
    )
    timed = [
        (start + _INTERVAL * j, Op(kind, j, chunk))
        for j in range(num_microbatches)
        for start, kind, chunk in kinds
    ]
    return [op for _, op in sorted(timed)]


def _times(rank: int, pipeline_parallel: Count, block: Block) -> tuple[int, int, int, int]:
    """Return when the rank passes a micro-batch: forward by both chunks, then back by both."""
    down, up, back_down, back_up = block.pace
    whole, above = pipeline_parallel - 1, pipeline_parallel - 1 - rank
    bottom = down * whole + block.turns[0]
    top = bottom + up * whole + block.turns[1]
    turned = top + back_down * whole + block.turns[2]
    return down * rank, bottom + up * above, top + back_down * rank, turned + back_up * above


def _weights(backward: Sequence[int], taken: Sequence[int]) -> tuple[int, ...]:
    """Return when the weight gradients are computed: in the two slots left, as early as can be."""
    free = [slot for slot in range(_INTERVAL) if slot not in taken]

    def after(back: int, slot: int) -> int:
        return back + 1 + (slot - back - 1) % _INTERVAL

    candidates = [tuple(map(after, backward, slots)) for slots in permutations(free)]
    return min(candidates, key=sum)
