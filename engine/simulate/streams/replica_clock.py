"""When the phases of a data-parallel step end, without overlap, on made-up times of a sample."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.units import MILLI, Count, Seconds
from engine.simulate.streams.streams import COMPUTE, NETWORK, Op, run

# Made up: of one sample forward and backward, and of an update.
FORWARD: Seconds = 1 * MILLI
BACKWARD: Seconds = 2 * MILLI
UPDATE: Seconds = 1 * MILLI


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """When the phases of a step end.

    Attributes:
        forward: of each GPU.
        backward: of each GPU.
        ready: when the last GPU has its gradient.
        reduced: when all have the average.
        end: of the step.
    """

    forward: tuple[Seconds, ...]
    backward: tuple[Seconds, ...]
    ready: Seconds
    reduced: Seconds
    end: Seconds

    @property
    def waiting(self) -> Seconds:
        """What the fastest GPU waits for the slowest, before the all-reduce."""
        return self.ready - min(self.backward)


def clock(sizes: Sequence[Count], all_reduce: Seconds) -> Clock:
    """Return the step of GPUs with so many samples each, run on the streams of all of them."""
    ranks = range(len(sizes))
    ops = [
        Op(
            key=f"{way}{rank}",
            stream=COMPUTE,
            time=each * size,
            ranks=(rank,),
            label=f"{way} {rank}",
        )
        for rank, size in enumerate(sizes)
        for way, each in (("F", FORWARD), ("B", BACKWARD))
    ]
    ops.append(
        Op(
            key="sum",
            stream=NETWORK,
            time=all_reduce if len(sizes) > 1 else 0.0,
            after=tuple(f"B{rank}" for rank in ranks),
            ranks=tuple(ranks),
            label="all-reduce",
        )
    )
    ops += [
        Op(
            key=f"U{rank}",
            stream=COMPUTE,
            time=UPDATE,
            after=("sum",),
            ranks=(rank,),
            label="update",
        )
        for rank in ranks
    ]
    spans = {span.op.key: span for span in run(ops)}
    return Clock(
        forward=tuple(spans[f"F{rank}"].end for rank in ranks),
        backward=tuple(spans[f"B{rank}"].end for rank in ranks),
        ready=spans["sum"].start,
        reduced=spans["sum"].end,
        end=spans["U0"].end,
    )
