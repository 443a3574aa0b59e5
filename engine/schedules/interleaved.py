"""Interleaved 1F1B: each rank holds several short stages (Narayanan et al. 2021, section 2.2)."""

from engine.basis.pipeline_op import BACKWARD, FORWARD, LOOP, Op
from engine.basis.units import Count

TITLE = "Interleaved 1F1B"
SOURCES = ("narayanan2021", "pytorch_pipelining")
COPIES = 1
PLACEMENT = LOOP
CHUNKS = range(2, 9)


def rounds(pipeline_parallel: Count, num_microbatches: Count) -> Count:
    """Return in how many equal rounds the micro-batches go through the chunks (PyTorch's rule).

    A round has as many as there are stages, or more where they do not divide. Megatron-LM lets
    one choose: `microbatch_group_size_per_vp_stage`.
    """
    return max(1, num_microbatches // pipeline_parallel)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return why it cannot run: its rounds are equal."""
    count = rounds(pipeline_parallel, num_microbatches)
    if num_microbatches % count:
        return f"needs micro-batches that divide into {count} rounds"
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank.

    A round of micro-batches goes through chunk 0, then through chunk 1, and so on; backward from
    the last chunk to the first. The warm-up covers all but the last chunk of the first round, and
    two more for each rank that follows.
    """
    forwards, backwards = [], []
    each = num_microbatches // rounds(pipeline_parallel, num_microbatches)
    for first in range(0, num_microbatches, each):
        group = range(first, first + each)
        forwards += [Op(FORWARD, j, chunk) for chunk in range(num_chunks) for j in group]
        backwards += [
            Op(BACKWARD, j, chunk) for chunk in reversed(range(num_chunks)) for j in group
        ]
    warm_up = (num_chunks - 1) * each + 2 * (pipeline_parallel - 1 - rank)
    warm_up = min(warm_up, len(forwards))
    ops = forwards[:warm_up]
    for ahead, back in zip(forwards[warm_up:], backwards, strict=False):
        ops += (ahead, back)
    return ops + backwards[len(forwards) - warm_up :]
