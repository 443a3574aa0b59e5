"""V-Min: two chunks per rank, about a third of 1F1B's activations (Qi, Wan et al. 2024)."""

from engine.core.pipeline_op import ZIGZAG, Op
from engine.core.units import Count
from engine.schedules import _v_shape

TITLE = "V-Min"
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

    Every pass follows the one before it at once, on the way down and up and down and up: no block
    can be shorter. Where the ranks are a multiple of three, it waits two passes at the top.
    """
    wait = 2 if pipeline_parallel % 3 == 0 else 0
    block = _v_shape.Block(pace=(1, 1, 1, 1), turns=(1, 1 + wait, 1))
    return _v_shape.order(rank, pipeline_parallel, num_microbatches, block)
