"""V-Half: two chunks per rank, about half of 1F1B's activations (Qi, Wan et al. 2024)."""

from engine.core.pipeline_op import ZIGZAG, Op
from engine.core.units import Count
from engine.schedules import _v_shape

TITLE = "V-Half"
SOURCES = ("qi2024memory",)
COPIES = 1
PLACEMENT = ZIGZAG
CHUNKS = range(2, 3)
STEADY = False


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return nothing: it always runs."""
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank.

    Going down the block takes two passes per rank, going up one, which leaves room for passes of
    other lengths. Where the ranks are an even number, it waits three passes at the top.
    """
    wait = 0 if pipeline_parallel % 2 else 3
    block = _v_shape.Block(pace=(2, 1, 2, 1), turns=(1, 1 + wait, 2))
    return _v_shape.order(rank, pipeline_parallel, num_microbatches, block)
