"""The eight phases that DualPipe and DualPipeV have in common (DeepSeek-AI 2024, dualpipe.py)."""

from collections import deque

from engine.core.pipeline_op import BACKWARD, FORWARD, INPUT, PAIR, WEIGHT, Op
from engine.core.units import Count


class _Rank:
    """Schedule of a rank under construction; streams 0 and 1 are its two chunks."""

    def __init__(self, chunks: tuple[int, int], first: tuple[int, int]) -> None:
        """Start: the chunk of each stream, and the number of its first micro-batch."""
        self.chunks = chunks
        self.ahead, self.back = list(first), list(first)
        self.late: deque[Op] = deque()
        self.ops: list[Op] = []

    def forward(self, stream: int) -> None:
        self.ops.append(Op(FORWARD, self.ahead[stream], self.chunks[stream]))
        self.ahead[stream] += 1

    def backward(self, stream: int, *, split: bool = False) -> None:
        """Add a backward; if split, its weight gradient waits in line."""
        microbatch, chunk = self.back[stream], self.chunks[stream]
        self.ops.append(Op(INPUT if split else BACKWARD, microbatch, chunk))
        if split:
            self.late.append(Op(WEIGHT, microbatch, chunk))
        self.back[stream] += 1

    def pair(self, ahead: int, back: int) -> None:
        """Add a forward of one stream, overlapped with a backward of the other."""
        forward = self.ahead[ahead], self.chunks[ahead]
        backward = self.back[back], self.chunks[back]
        self.ops.append(Op(PAIR, *forward, *backward))
        self.ahead[ahead] += 1
        self.back[back] += 1

    def weight(self) -> None:
        self.ops.append(self.late.popleft())


def order(
    position: int, positions: Count, steps: Count, chunks: tuple[int, int], first: tuple[int, int]
) -> list[Op]:
    """Return the operations of a rank that is `position` away from the outer end of `positions`.

    `steps` micro-batches pass each of the two streams; stream 0 comes from the rank's nearer end.
    """
    rank = _Rank(chunks, first)
    inner = positions - 1 - position
    for _ in range(2 * inner):
        rank.forward(0)
    for _ in range(position + 1):
        rank.forward(0)
        rank.forward(1)
    for _ in range(inner):
        rank.backward(1, split=True)
        rank.weight()
        rank.forward(1)
    for turn in range(steps - 2 * positions + position + 1):
        if turn == 0 and inner == 0:
            # Not overlapped, so that the backward leaves the innermost rank earlier.
            rank.forward(0)
            rank.backward(1)
        else:
            rank.pair(0, 1)
        rank.pair(1, 0)
    for _ in range(inner):
        rank.backward(1)
        rank.pair(1, 0)
    _drain(rank, position, inner)
    return rank.ops


def _drain(rank: _Rank, position: int, inner: int) -> None:
    """Add the end: from its middle on weight gradients are put off until they fill a gap."""
    half = (position + 1) // 2
    for turn in range(position + 1):
        rank.backward(1, split=turn > half or (turn == half and position % 2 == 1))
        rank.backward(0, split=turn >= half)
    for _ in range(inner):
        rank.weight()
        rank.backward(0, split=True)
    for _ in range(position + 1):
        rank.weight()
