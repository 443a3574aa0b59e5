"""DualPipeV: DualPipe folded in half, one copy of the parameters (Sea AI Lab 2025)."""

from engine.core.pipeline_op import ZIGZAG, Op
from engine.core.units import Count
from engine.schedules import _dual

TITLE = "DualPipeV"
SOURCES = ("dualpipe", "qi2025")
COPIES = 1
PLACEMENT = ZIGZAG
CHUNKS = range(2, 3)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return the reason for which the schedule cannot run, or ""."""
    if num_microbatches < 2 * pipeline_parallel:
        return "needs two micro-batches per stage or more"
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank: the upper half of a DualPipe twice as deep."""
    return _dual.order(rank, pipeline_parallel, num_microbatches, (0, 1), (0, 0))
