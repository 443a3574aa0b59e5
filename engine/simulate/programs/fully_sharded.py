"""ZeRO-3 or FSDP: parameters are gathered ahead of each layer, gradients scattered behind it.

Source: Rajbhandari et al. 2020; Zhao et al. 2023 (PyTorch FSDP).
"""

from dataclasses import replace

from engine.simulate.programs._passes import in_turn
from engine.simulate.programs._sharded import sharded
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "ZeRO-3, FSDP"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step, with the prefetch and the resharding of the workload."""
    return sharded(replace(work, replicas=None), in_turn(work))
