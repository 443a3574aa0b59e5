"""Schedules that repeat one V-shaped block every six passes (Qi, Wan et al. 2024, section 3).

Two chunks per rank, three passes each, all of one length: a block is when a micro-batch does its
six passes on every rank. The next micro-batch does the same six passes later, so passes of a rank
never meet if their times differ by anything but multiples of six. How long a block lives decides
how many micro-batches a rank holds. Gaps where the pipeline fills and empties are filled last.
"""

from functools import lru_cache
from typing import NamedTuple

from engine.core.pipeline_op import Op
from engine.core.units import Count
from engine.schedules._v_reorder import reordered

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
