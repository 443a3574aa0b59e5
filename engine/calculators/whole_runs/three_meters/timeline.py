"""The picture of a waiting GPU: both ranks' lanes, and the three meters under them."""

from dataclasses import dataclass

from engine.basis.units import SECONDS, SHARE, Seconds, Share
from engine.basis.views import Axis, Lane, Series, Span, Timeline
from engine.simulate.on_ranks import Kernel
from engine.simulate.streams import COMPUTE, NETWORK

METERS = (
    ("utilization", "GPU utilization", "ink"),
    ("sm_active", "SM active", "accent"),
    ("tensor_active", "Tensor active", "compute"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the meters show from `start` on."""

    start: Seconds
    end: Seconds
    meters: tuple[Share, Share, Share]


def timeline(seen: tuple[Kernel, ...], readings: list[Reading], end: Seconds) -> Timeline:
    """Return both ranks, and the meters of rank 0."""
    lanes = [(rank, kind) for rank in (0, 1) for kind in (COMPUTE, NETWORK)]
    names = {COMPUTE: "compute", NETWORK: "network"}
    times = (*(r.start for r in readings), end)
    return Timeline(
        title="A GPU that waits, and three meters on it",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{rank}:{kind}", label=f"{names[kind]} {rank}", links=(f"rank:{rank}",))
            for rank, kind in lanes
        ),
        spans=tuple(
            Span(
                key=f"{one.op.key} on {one.rank}",
                lane=f"{one.rank}:{one.op.stream}",
                start=one.begin,
                end=one.end,
                label=one.op.label,
                color="compute" if one.op.stream == COMPUTE else "communication",
                exposed=one.op.stream == NETWORK,
                links=(f"rank:{one.rank}",),
            )
            for one in seen
        ),
        caption="The number of a lane is the rank; the curves are those of rank 0.",
        curves=tuple(
            Series(
                key=key,
                label=label,
                x=times,
                y=(*(r.meters[index] for r in readings), readings[-1].meters[index]),
                color=color,
            )
            for index, (key, label, color) in enumerate(METERS)
        ),
        curve_axis=Axis(label="meters of rank 0", quantity=SHARE, low=0.0, high=1.05),
    )
