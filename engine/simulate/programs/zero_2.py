"""ZeRO-2: no rank keeps all gradients, so every micro-batch's are reduce-scattered.

Source: Rajbhandari et al. 2020.
"""

from engine.simulate.programs._replicated import GradientReduction, replicated_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "ZeRO-2"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step: ZeRO-1 with a reduce-scatter per micro-batch."""
    return replicated_step(work, GradientReduction(cap=work.bucket, scattered=True, every=True))
