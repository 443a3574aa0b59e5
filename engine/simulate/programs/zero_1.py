"""ZeRO-1: gradients reduce-scattered after the last micro-batch, parameters gathered at the start.

The gather of the updated parameters runs behind the next forward pass, which is the first thing
that a step shows (Rajbhandari et al. 2020; Megatron-LM's distributed optimizer).
"""

from engine.simulate.programs._replicated import GradientReduction, replicated_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "ZeRO-1"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step: reduce-scatter and all-gather."""
    return replicated_step(work, GradientReduction(cap=work.bucket, scattered=True))
