"""Gradient accumulation under no_sync: gradients are summed only after the last micro-batch."""

from engine.simulate.programs._replicated import Style, replicated
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "Accumulation with no_sync"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step of all micro-batches."""
    return replicated(work, Style(cap=work.bucket))
