"""Three utilization meters of a GPU that waits in a collective."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import MILLISECONDS, PERCENT, Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import SECONDS, SHARE, Count, Seconds, Share
from engine.core.views import Axis, Lane, Series, Span, Timeline, Value
from engine.simulate.streams.meters import LateRank, Meters, read_meters
from engine.simulate.streams.streams import COMPUTE, NETWORK

TITLE = "Three meters, one waiting GPU"
QUESTION = "What do three utilization metrics show while a GPU waits for another?"
HEADLINE = "utilization"
_CASE = LateRank()
_SECONDS = Unit(" s", 1.0, {"ms": 1e-3, "min": 60.0})
_AVERAGED = "Averaged over the whole picture. No kernel but these three runs."
_SOURCES = ("nvml_utilization", "dcgm_profiling")
_METERS = ("utilization", "sm_active", "tensor_active")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    compute: Annotated[
        float,
        Number(
            label="Computing before and after", unit=MILLISECONDS, low=0.05, high=5.0, step=0.05
        ),
    ] = _CASE.compute
    late: Annotated[
        float,
        Number(label="The other rank is late by", unit=_SECONDS, low=0.0, high=30.0, step=0.5),
    ] = _CASE.late
    taken: Annotated[
        int,
        Number(
            label="SMs that the collective takes",
            low=1,
            high=64,
            whole=True,
            help="One thread block for each NCCL channel.",
        ),
    ] = _CASE.taken
    tensor: Annotated[
        float,
        Number(
            label="Tensor pipe busy while computing", unit=PERCENT, low=0.05, high=0.95, step=0.05
        ),
    ] = _CASE.tensor
    sm_busy: Annotated[
        float,
        Number(
            label="SMs active while computing",
            unit=PERCENT,
            low=0.1,
            high=1.0,
            step=0.05,
            advanced=True,
        ),
    ] = _CASE.sm_busy


def _output(label: str, note: str, color: str, meaning: str) -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=(meaning, _AVERAGED),
        sources=_SOURCES,
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Means of the meters, waiting time of rank 0, and the timeline."""

    utilization: Annotated[
        Share,
        _output(
            "GPU utilization",
            "nvidia-smi",
            "ink",
            "The share of time in which at least one kernel runs: NVML's definition.",
        ),
    ]
    sm_active: Annotated[
        Share,
        _output(
            "SM active",
            "DCGM 1002; {taken} of {sms} SMs spin",
            "accent",
            "The share of time in which an SM holds at least one warp, averaged over all SMs: "
            "DCGM field 1002. Warps that spin count as active.",
        ),
    ]
    tensor_active: Annotated[
        Share,
        _output(
            "Tensor active",
            "DCGM 1004",
            "compute",
            "The share of cycles in which the tensor pipe is active: DCGM field 1004.",
        ),
    ]
    waiting: Annotated[
        Share,
        _output(
            "Waiting",
            "{spun} of {end}",
            "communication",
            "Spinning inside the collective until the other rank arrives.",
        ),
    ]
    spun: Seconds
    end: Seconds
    sms: Count
    meters: Meters


def solve(inputs: Inputs) -> Result:
    """Return the readings of the meters."""
    names = ("compute", "late", "taken", "tensor", "sm_busy")
    meters = read_meters(LateRank(**{name: getattr(inputs, name) for name in names}))
    return Result(
        utilization=meters.utilization,
        sm_active=meters.sm_active,
        tensor_active=meters.tensor_active,
        waiting=meters.waiting,
        spun=meters.spun,
        end=meters.end,
        sms=_CASE.sms,
        meters=meters,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values(*_METERS, "waiting"),
        "timeline": partial(_timeline, present, result.meters),
    }


def _timeline(present: Presenter, meters: Meters) -> Timeline:
    """Return both ranks' lanes, and the meters of rank 0 under them."""
    lanes = [(rank, kind) for rank in (0, 1) for kind in (COMPUTE, NETWORK)]
    names = {COMPUTE: "compute", NETWORK: "network"}
    return Timeline(
        title="A GPU that waits, and three meters on it",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=meters.end * 1.02),
        lanes=tuple(
            Lane(key=f"{rank}:{kind}", label=f"{names[kind]} {rank}", links=(f"rank:{rank}",))
            for rank, kind in lanes
        ),
        spans=tuple(
            Span(
                key=f"{kernel.op.key} on {kernel.rank}",
                lane=f"{kernel.rank}:{kernel.op.stream}",
                start=kernel.begin,
                end=kernel.end,
                label=kernel.op.label,
                color="compute" if kernel.op.stream == COMPUTE else "communication",
                exposed=kernel.op.stream == NETWORK,
                links=(f"rank:{kernel.rank}",),
            )
            for kernel in meters.kernels
        ),
        caption="The number of a lane is the rank; the curves are those of rank 0.",
        curves=tuple(_curve(meters, key, present.value(key)) for key in _METERS),
        curve_axis=Axis(label="meters of rank 0", quantity=SHARE, low=0.0, high=1.05),
    )


def _curve(meters: Meters, key: str, value: Value) -> Series:
    times = (*(r.start for r in meters.readings), meters.end)
    shown = tuple(getattr(r, key) for r in meters.readings)
    return Series(key=key, label=value.label, x=times, y=(*shown, shown[-1]), color=value.color)
