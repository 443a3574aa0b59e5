"""ZeRO-2: no rank keeps all gradients, so every micro-batch's are reduce-scattered.

Source: Rajbhandari et al. 2020.
"""

from engine.simulate.programs._replicated import Style, replicated
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "ZeRO-2"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step: as ZeRO-1, with a reduce-scatter per micro-batch."""
    return replicated(work, Style(cap=work.bucket, scattered=True, every=True))
