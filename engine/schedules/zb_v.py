"""ZB-V: two chunks per rank in the shape of a V, no gap within 1F1B's memory (Qi et al. 2024)."""

from engine.core.pipeline_op import FORWARD, INPUT, WEIGHT, ZIGZAG, Op
from engine.core.units import Count

TITLE = "ZB-V"
SOURCES = ("qi2024", "pytorch_pipelining")
COPIES = 1
PLACEMENT = ZIGZAG
CHUNKS = range(2, 3)


def obstacle(pipeline_parallel: Count, num_microbatches: Count) -> str:
    """Return no obstacle: missing micro-batches are left out of the schedule."""
    return ""


def order(
    rank: int, pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count
) -> list[Op]:
    """Return the operations of a rank: the order for at least 2p - 1 micro-batches, cut down."""
    wanted = max(num_microbatches, 2 * pipeline_parallel - 1)
    ops = [Op(FORWARD, j) for j in range(2 * (pipeline_parallel - rank) - 1)]
    ahead, back = [len(ops), 0], [0, 0]
    for _ in range(rank):
        ops += (Op(FORWARD, ahead[1], 1), Op(FORWARD, ahead[0], 0))
        ahead = [ahead[0] + 1, ahead[1] + 1]
    for _ in range(pipeline_parallel - rank):
        ops += _whole(ahead, back, 1, forward=True)
    while ahead[1] < wanted:
        ops += _whole(ahead, back, 0, forward=ahead[0] < wanted)
        ops += _whole(ahead, back, 1, forward=True)
    ops += _drain(rank, wanted, back)
    return [op for op in ops if op.microbatch < num_microbatches]


def _whole(ahead: list[int], back: list[int], chunk: int, *, forward: bool) -> list[Op]:
    """Return the next forward of a chunk, if any, and its next backward in two halves; count."""
    ops = [Op(FORWARD, ahead[chunk], chunk)] if forward else []
    ops += (Op(INPUT, back[chunk], chunk), Op(WEIGHT, back[chunk], chunk))
    ahead[chunk] += forward
    back[chunk] += 1
    return ops


def _drain(rank: int, wanted: Count, back: list[int]) -> list[Op]:
    """Return the end: input gradients first, weight gradients in the gaps and behind."""
    ops: list[Op] = []
    for j in range(rank):
        ops += (Op(INPUT, back[0] + j, 0), Op(INPUT, back[1] + j, 1))
    late = range(back[0] + rank, wanted)
    for j, i in enumerate(late):
        ops += (Op(INPUT, i, 0), Op(WEIGHT, back[0] + j, 0))
    ops += [Op(WEIGHT, j, 1) for j in range(back[1], wanted)]
    return ops + [Op(WEIGHT, j, 0) for j in range(back[0] + len(late), wanted)]
