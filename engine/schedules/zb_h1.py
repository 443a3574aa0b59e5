"""ZB-H1: 1F1B whose weight gradients wait until a rank would idle (Qi et al. 2024, section 2.1)."""

from engine.core.pipeline_op import FORWARD, INPUT, LOOP, WEIGHT, Op
from engine.core.units import Count

TITLE = "ZB-H1"
SOURCES = ("qi2024",)
COPIES = 1
PLACEMENT = LOOP
CHUNKS = range(1, 2)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return nothing: it always runs."""
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank.

    A rank r places begin to fill later: it puts off r weight gradients, so that every rank holds p
    micro-batches, as many as the first rank of 1F1B.
    """
    warm_up = min(pipeline_parallel - 1 - rank, num_microbatches)
    ops = [Op(FORWARD, j) for j in range(warm_up)]
    for j in range(num_microbatches):
        if warm_up + j < num_microbatches:
            ops.append(Op(FORWARD, warm_up + j))
        ops.append(Op(INPUT, j))
        if j >= rank:
            ops.append(Op(WEIGHT, j - rank))
    done = max(0, num_microbatches - rank)
    return ops + [Op(WEIGHT, j) for j in range(done, num_microbatches)]
