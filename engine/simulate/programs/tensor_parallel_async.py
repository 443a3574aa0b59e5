"""Async tensor parallelism: products are cut into pieces that run beside their collectives.

Source: PyTorch's async tensor parallelism (2024) and its forerunners (Wang et al. 2023).
"""

from dataclasses import replace

from engine.simulate.programs._passes import in_turn, slot_ops
from engine.simulate.programs._replicated import update
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "Tensor parallelism, async"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step of one group of tensor parallelism, in at least two pieces."""
    cut = replace(work, tensor_chunks=max(2, work.tensor_chunks))
    ops = [op for slot in in_turn(cut) for op in slot_ops(cut, slot)]
    return (*ops, *update(work, ops[-1].key))
