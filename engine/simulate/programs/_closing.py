"""What closes a step: the optimizer, gathers behind it, the host and the slowest GPU."""

from collections.abc import Sequence
from dataclasses import replace

from engine.simulate.streams.streams import COMPUTE, StreamOp
from engine.simulate.streams.workload import Workload


def closing_ops(
    work: Workload, after: str, gathers: Sequence[StreamOp] = ()
) -> tuple[StreamOp, ...]:
    """Return the optimizer, the gathers behind it, and what else a step takes, if any time."""
    ops: list[StreamOp] = []
    for key, time, label in (
        ("update", work.optimizer, "optimizer"),
        ("other", work.other, "host, and waiting for the slowest GPU"),
    ):
        if time:
            waited = ops[-1].key if ops else after
            ops.append(StreamOp(key=key, stream=COMPUTE, time=time, after=(waited,), label=label))
        if key == "update":
            waited = ops[-1].key if ops else after
            ops += [replace(gather, after=(waited,)) for gather in gathers]
    return tuple(ops)
