"""Kernels that the CPU launches one after the other: what is short on the GPU waits for it."""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.units import Seconds
from engine.simulate.streams.streams import LAUNCH, Op


def launched(ops: Sequence[Op], time: Seconds) -> tuple[Op, ...]:
    """Return the program with a launch of `time` on the CPU before every operation.

    The CPU runs ahead of the GPU as far as it can. An operation of many kernels counts as one.
    """
    found: list[Op] = []
    for op in ops:
        key = f"{op.key}:launch"
        found.append(
            Op(key=key, stream=LAUNCH, time=time, ranks=op.ranks, label=f"launch: {op.label}")
        )
        found.append(replace(op, after=(*op.after, key)))
    return tuple(found)
