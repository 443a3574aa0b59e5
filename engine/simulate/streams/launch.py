"""Kernel launches on the CPU, for which short operations on the GPU wait."""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.units import Seconds
from engine.simulate.streams.streams import LAUNCH, StreamOp


def with_launches(ops: Sequence[StreamOp], time: Seconds) -> tuple[StreamOp, ...]:
    """Return the program with a CPU launch of `time` before every operation.

    The CPU runs ahead of the GPU as far as it can. An operation of many kernels counts as one.
    """
    program: list[StreamOp] = []
    for op in ops:
        key = f"{op.key}:launch"
        program.append(
            StreamOp(key=key, stream=LAUNCH, time=time, ranks=op.ranks, label=f"launch: {op.label}")
        )
        program.append(replace(op, after=(*op.after, key)))
    return tuple(program)
