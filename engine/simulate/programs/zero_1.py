"""ZeRO-1: gradients reduce-scattered after the last micro-batch, parameters gathered at the start.

The gather of the updated parameters runs behind the next forward pass, which is the first thing
that a step shows (Rajbhandari et al. 2020; Megatron-LM's distributed optimizer).
"""

from engine.simulate.programs._replicated import Style, replicated
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "ZeRO-1"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step: the bytes of an all-reduce in two halves."""
    return replicated(work, Style(cap=work.bucket, scattered=True))
