"""Paired passes (DualPipe's F&B): forward of one micro-batch beside backward of another.

Layer by layer the two take turns on the compute stream, so that the collectives of one run beside
the products of the other. The first forward and the last backward pass have no partner.

Source: DeepSeek-V3 report 2024 and DualPipe 2025, for the pairing; parameters are sharded as in
`fully_sharded`.
"""

from dataclasses import replace

from engine.simulate.programs._passes import Slot, backward, forward
from engine.simulate.programs._sharded import sharded
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "Paired forward and backward"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step."""
    return sharded(replace(work, replicas=None), _order(work))


def _order(work: Workload) -> list[Slot]:
    last = work.num_microbatches - 1
    slots = forward(work, 0)
    for micro in range(last):
        pairs = zip(backward(work, micro), forward(work, micro + 1), strict=True)
        slots += [slot for pair in pairs for slot in pair]
    return slots + backward(work, last)
