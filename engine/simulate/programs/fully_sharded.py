"""ZeRO-3 or FSDP: parameters are gathered ahead of each layer, gradients scattered behind it.

Source: Rajbhandari et al. 2020; Zhao et al. 2023 (PyTorch FSDP).
"""

from dataclasses import replace

from engine.simulate.programs._passes import sequential_passes
from engine.simulate.programs._sharded import sharded_step
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "ZeRO-3, FSDP"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step, with the workload's prefetch and resharding."""
    return sharded_step(replace(work, replicas=None), sequential_passes(work))
