"""ZB-H2: more forwards before the first backward leave no gap at all (Qi et al. 2024, 2.2)."""

from engine.core.pipeline_op import FORWARD, INPUT, LOOP, WEIGHT, Op
from engine.core.units import Count

TITLE = "ZB-H2"
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

    It warms up with two micro-batches per rank that follows, and puts off two weight gradients per
    rank before it: every rank holds 2p - 1 micro-batches.
    """
    warm_up = min(2 * (pipeline_parallel - 1 - rank), num_microbatches)
    ops = [Op(FORWARD, j) for j in range(warm_up)]
    for j in range(num_microbatches):
        if warm_up + j < num_microbatches:
            ops.append(Op(FORWARD, warm_up + j))
        ops.append(Op(INPUT, j))
        if j >= 2 * rank:
            ops.append(Op(WEIGHT, j - 2 * rank))
    done = max(0, num_microbatches - 2 * rank)
    return ops + [Op(WEIGHT, j) for j in range(done, num_microbatches)]
