"""Naive data parallelism: every gradient is summed after the backward pass, tensor by tensor."""

from engine.simulate.programs._replicated import GradientReduction, replicated_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "Naive data parallelism"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step without overlap."""
    return replicated_step(work, GradientReduction(cap=0.0, overlapped=False))
