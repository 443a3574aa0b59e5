"""Async tensor parallelism: products are cut into pieces that run beside their collectives.

Source: PyTorch's async tensor parallelism (2024) and its forerunners (Wang et al. 2023).
"""

from dataclasses import replace

from engine.simulate.programs._closing import closing_ops
from engine.simulate.programs._passes import pass_ops, sequential_passes
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "Tensor parallelism, async"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step of a tensor-parallel group, in at least two chunks."""
    cut = replace(work, tensor_chunks=max(2, work.tensor_chunks))
    ops = [op for slot in sequential_passes(cut) for op in pass_ops(cut, slot)]
    return (*ops, *closing_ops(work, ops[-1].key))
