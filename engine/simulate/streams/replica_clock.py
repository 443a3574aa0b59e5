"""Phase ends of a data-parallel step without overlap, on assumed times per sample."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.units import MILLI, Count, Seconds
from engine.simulate.streams.streams import COMPUTE, NETWORK, StreamOp, run_program

# Assumed: forward and backward time of one sample, and time of an update.
FORWARD: Seconds = 1 * MILLI
BACKWARD: Seconds = 2 * MILLI
UPDATE: Seconds = 1 * MILLI


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaClock:
    """Ends of the phases of a step.

    Attributes:
        forward: end of the forward pass on each GPU.
        backward: end of the backward pass on each GPU.
        ready: time at which the last GPU has its gradient.
        reduced: end of the all-reduce.
        end: end of the step.
    """

    forward: tuple[Seconds, ...]
    backward: tuple[Seconds, ...]
    ready: Seconds
    reduced: Seconds
    end: Seconds

    @property
    def waiting(self) -> Seconds:
        """Time that the fastest GPU waits for the slowest before the all-reduce."""
        return self.ready - min(self.backward)


def replica_times(sizes: Sequence[Count], all_reduce: Seconds) -> ReplicaClock:
    """Return the phase ends of a step in which each GPU has a number of samples."""
    ranks = range(len(sizes))
    ops = [
        StreamOp(
            key=f"{prefix}{rank}",
            stream=COMPUTE,
            time=sample_time * size,
            ranks=(rank,),
            label=f"{prefix} {rank}",
        )
        for rank, size in enumerate(sizes)
        for prefix, sample_time in (("F", FORWARD), ("B", BACKWARD))
    ]
    ops.append(
        StreamOp(
            key="sum",
            stream=NETWORK,
            time=all_reduce if len(sizes) > 1 else 0.0,
            after=tuple(f"B{rank}" for rank in ranks),
            ranks=tuple(ranks),
            label="all-reduce",
        )
    )
    ops += [
        StreamOp(
            key=f"U{rank}",
            stream=COMPUTE,
            time=UPDATE,
            after=("sum",),
            ranks=(rank,),
            label="update",
        )
        for rank in ranks
    ]
    spans = {span.op.key: span for span in run_program(ops)}
    return ReplicaClock(
        forward=tuple(spans[f"F{rank}"].end for rank in ranks),
        backward=tuple(spans[f"B{rank}"].end for rank in ranks),
        ready=spans["sum"].start,
        reduced=spans["sum"].end,
        end=spans["U0"].end,
    )
