"""1F1B: after a warm-up, one forward and one backward in turn (Narayanan et al. 2019, 2021)."""

from engine.core.pipeline_op import BACKWARD, FORWARD, LOOP, Op
from engine.core.units import Count

TITLE = "1F1B"
SOURCES = ("narayanan2019", "narayanan2021")
COPIES = 1
PLACEMENT = LOOP
CHUNKS = range(1, 2)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return nothing: it always runs."""
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank: it starts as many micro-batches as ranks follow it."""
    warm_up = min(pipeline_parallel - 1 - rank, num_microbatches)
    ops = [Op(FORWARD, j) for j in range(warm_up)]
    for j in range(warm_up, num_microbatches):
        ops += (Op(FORWARD, j), Op(BACKWARD, j - warm_up))
    return ops + [Op(BACKWARD, j) for j in range(num_microbatches - warm_up, num_microbatches)]
