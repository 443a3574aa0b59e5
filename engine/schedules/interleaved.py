"""Interleaved 1F1B: each rank holds several short stages (Narayanan et al. 2021, section 2.2)."""

from engine.core.pipeline_op import BACKWARD, FORWARD, LOOP, Op
from engine.core.units import Count

TITLE = "Interleaved 1F1B"
SOURCES = ("narayanan2021", "pytorch_pipelining", "megatron_schedules")
COPIES = 1
PLACEMENT = LOOP
CHUNKS = range(2, 9)


def group(pipeline_parallel: Count, num_microbatches: Count) -> Count:
    """Return the number of micro-batches that pass a chunk in a row; the last group may have fewer.

    PyTorch takes max(1, m // p) rounds of equal size (2.13, `ScheduleInterleaved1F1B`). Where they
    do not divide, it is the smallest `microbatch_group_size_per_vp_stage` of Megatron-LM (Core
    0.20, schedules.py): from p to m, and what remains for the last group is nothing or at least p.
    """
    p, m = pipeline_parallel, num_microbatches
    rounds = max(1, m // p)
    if m % rounds == 0:
        return m // rounds
    return next(size for size in range(p, m + 1) if m % size == 0 or m % size >= p)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return nothing: it always runs."""
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank.

    A group of micro-batches goes through chunk 0, then through chunk 1, and so on; backward from
    the last chunk to the first. The warm-up covers all but the last chunk of the first group, and
    two more for each rank that follows.
    """
    forwards, backwards = [], []
    each = group(pipeline_parallel, num_microbatches)
    for first in range(0, num_microbatches, each):
        row = range(first, min(first + each, num_microbatches))
        forwards += [Op(FORWARD, j, chunk) for chunk in range(num_chunks) for j in row]
        backwards += [Op(BACKWARD, j, chunk) for chunk in reversed(range(num_chunks)) for j in row]
    warm_up = (num_chunks - 1) * each + 2 * (pipeline_parallel - 1 - rank)
    warm_up = min(warm_up, len(forwards))
    ops = forwards[:warm_up]
    for ahead, back in zip(forwards[warm_up:], backwards, strict=False):
        ops += (ahead, back)
    return ops + backwards[len(forwards) - warm_up :]
