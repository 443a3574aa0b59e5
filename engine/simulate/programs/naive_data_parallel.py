"""Naive data parallelism: every gradient is summed after the backward pass, tensor by tensor."""

from engine.simulate.programs._replicated import Style, replicated
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "Naive data parallelism"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step: nothing overlaps."""
    return replicated(work, Style(cap=0.0, overlapped=False))
