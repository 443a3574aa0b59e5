"""Interleaved data parallelism: each tensor's gradient is summed as soon as it is ready."""

from engine.simulate.programs._replicated import Style, replicated
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "Interleaved data parallelism"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step: one message per tensor, beside the backward pass."""
    return replicated(work, Style(cap=0.0, every=True))
