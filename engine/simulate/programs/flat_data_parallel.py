"""One flat buffer: all gradients are all-reduced at once after the backward pass."""

import math

from engine.simulate.programs._replicated import GradientReduction, replicated_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "One flat buffer"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step with a single exposed all-reduce."""
    return replicated_step(work, GradientReduction(cap=math.inf, overlapped=False))
