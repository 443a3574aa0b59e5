"""DDP with buckets: gradients are packed and summed beside the backward pass.

Source: Li et al. 2020.
"""

from engine.simulate.programs._replicated import Style, replicated
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "DDP with buckets"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step; unless told otherwise, DDP sums the gradients of every micro-batch."""
    return replicated(work, Style(cap=work.bucket, every=True))
