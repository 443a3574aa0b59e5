"""Gradient accumulation under no_sync: gradients are summed only after the last micro-batch."""

from engine.simulate.programs._replicated import GradientReduction, replicated_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "Accumulation with no_sync"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step."""
    return replicated_step(work, GradientReduction(cap=work.bucket))
