"""One flat buffer: all gradients are copied together and summed once, after the backward pass."""

import math

from engine.simulate.programs._replicated import Style, replicated
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "One flat buffer"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step: a single collective, which nothing hides."""
    return replicated(work, Style(cap=math.inf, overlapped=False))
