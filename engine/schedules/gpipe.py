"""GPipe: every forward, then every backward (Huang et al. 2019, arXiv:1811.06965)."""

from engine.core.pipeline_op import BACKWARD, FORWARD, LOOP, Op
from engine.core.units import Count

TITLE = "GPipe"
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
    """Return the operations of a rank, the same for all."""
    return [Op(kind, j) for kind in (FORWARD, BACKWARD) for j in range(num_microbatches)]
