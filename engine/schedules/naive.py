"""One micro-batch at a time through the whole model and back: what a split without pipeline is."""

from engine.core.pipeline_op import BACKWARD, FORWARD, LOOP, Op
from engine.core.units import Count

TITLE = "One at a time"
SOURCES = ("huang2019",)
COPIES = 1
PLACEMENT = LOOP
CHUNKS = range(1, 2)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return nothing: it always runs."""
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank: each micro-batch is back before the next one enters."""
    return [Op(kind, j) for j in range(num_microbatches) for kind in (FORWARD, BACKWARD)]
