"""Interleaved data parallelism: each tensor's gradient is summed as soon as it is ready."""

from engine.simulate.programs._replicated import GradientReduction, replicated_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "Interleaved data parallelism"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step, with one overlapped all-reduce per tensor."""
    return replicated_step(work, GradientReduction(cap=0.0, every=True))
