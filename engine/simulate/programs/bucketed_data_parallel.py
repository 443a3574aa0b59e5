"""DDP with buckets: gradients are packed and summed beside the backward pass.

Source: Li et al. 2020.
"""

from engine.simulate.programs._replicated import GradientReduction, replicated_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "DDP with buckets"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step; DDP's default reduces after every micro-batch."""
    return replicated_step(work, GradientReduction(cap=work.bucket, every=True))
