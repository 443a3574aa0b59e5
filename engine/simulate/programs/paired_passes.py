"""Paired passes (DualPipe's F&B): forward overlapped with backward of another micro-batch.

Layer by layer the two take turns on the compute stream, so that the collectives of one run beside
the products of the other. The first forward and the last backward pass have no partner.

Source: DeepSeek-V3 report 2024 and DualPipe 2025, for the pairing; parameters are sharded as in
`fully_sharded`.
"""

from dataclasses import replace

from engine.simulate.programs._passes import LayerPass, backward_passes, forward_passes
from engine.simulate.programs._sharded import sharded_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "Paired forward and backward"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step."""
    return sharded_step(replace(work, replicas=None), _order(work))


def _order(work: Workload) -> list[LayerPass]:
    last = work.num_microbatches - 1
    slots = forward_passes(work, 0)
    for micro in range(last):
        pairs = zip(backward_passes(work, micro), forward_passes(work, micro + 1), strict=True)
        slots += [slot for pair in pairs for slot in pair]
    return slots + backward_passes(work, last)
