"""Tensor parallelism, blocking: products wait for their all-gather, the next for the scatter."""

from dataclasses import replace

from engine.simulate.programs._passes import in_turn, slot_ops
from engine.simulate.programs._replicated import update
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Workload

TITLE = "Tensor parallelism, blocking"


def program(work: Workload) -> tuple[Op, ...]:
    """Return one step of one group of tensor parallelism, without data parallelism."""
    blocking = replace(work, tensor_chunks=1)
    ops = [op for slot in in_turn(work) for op in slot_ops(blocking, slot)]
    return (*ops, *update(work, ops[-1].key))
