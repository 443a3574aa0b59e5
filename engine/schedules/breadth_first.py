"""Breadth-first: every micro-batch through one chunk, then through the next (Lamy-Poirier 2022)."""

from engine.core.pipeline_op import BACKWARD, FORWARD, LOOP, Op
from engine.core.units import Count

TITLE = "Breadth-first"
SOURCES = ("lamypoirier2023",)
COPIES = 1
PLACEMENT = LOOP
CHUNKS = range(2, 9)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return nothing: it always runs."""
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank, the same for all."""
    every = range(num_microbatches)
    ahead = [Op(FORWARD, j, chunk) for chunk in range(num_chunks) for j in every]
    return ahead + [Op(BACKWARD, j, chunk) for chunk in reversed(range(num_chunks)) for j in every]
