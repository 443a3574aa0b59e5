"""Tensor parallelism, blocking: products wait for their all-gather, the next for the scatter."""

from dataclasses import replace

from engine.simulate.programs._closing import closing_ops
from engine.simulate.programs._passes import pass_ops, sequential_passes
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload

TITLE = "Tensor parallelism, blocking"


def program(work: Workload) -> tuple[StreamOp, ...]:
    """Return the operations of one step of a tensor-parallel group, without data parallelism."""
    blocking = replace(work, tensor_chunks=1)
    ops = [op for slot in sequential_passes(work) for op in pass_ops(blocking, slot)]
    return (*ops, *closing_ops(work, ops[-1].key))
