"""DualPipe: micro-batches from both ends, forward under backward (DeepSeek-AI 2024)."""

from engine.core.pipeline_op import MIRROR, Op
from engine.core.units import Count
from engine.schedules import _dual

TITLE = "DualPipe"
SOURCES = ("deepseek2024", "dualpipe")
COPIES = 2
PLACEMENT = MIRROR
CHUNKS = range(2, 3)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return the reason for which the schedule cannot run, or ""."""
    if pipeline_parallel % 2:
        return "needs an even number of stages"
    if num_microbatches % 2:
        return "needs an even number of micro-batches"
    if num_microbatches < 2 * pipeline_parallel:
        return "needs two micro-batches per stage or more"
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank; the second half of the ranks mirrors the first.

    Chunk 0 is the copy that micro-batches 0 to m/2 - 1 pass from rank 0 up; chunk 1 is the one
    that the others pass from the last rank down.
    """
    half = num_microbatches // 2
    mirrored = rank >= pipeline_parallel // 2
    position = min(rank, pipeline_parallel - 1 - rank)
    chunks, first = ((1, 0), (half, 0)) if mirrored else ((0, 1), (0, half))
    return _dual.order(position, pipeline_parallel // 2, half, chunks, first)
