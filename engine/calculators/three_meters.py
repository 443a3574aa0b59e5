"""Three meters on one GPU while it waits in a collective: which of them shows that it waits?"""

from dataclasses import dataclass
from typing import Annotated

from engine.accelerators import ACCELERATORS
from engine.inputs import MILLISECONDS, PERCENT, Number, Unit
from engine.simulate.on_ranks import Kernel, kernels, on_ranks
from engine.simulate.streams import COMPUTE, NETWORK, Op, run
from engine.text import Text, say
from engine.units import COUNT, MILLI, SECONDS, SHARE, Seconds, Share
from engine.views import Axis, Lane, Receipt, Series, Span, Timeline, Value, View

TITLE = "Three meters, one waiting GPU"
QUESTION = "What do three utilization metrics show while a GPU waits for another?"
_SMS = ACCELERATORS["H100-SXM"].sms
_SECONDS = Unit(" s", 1.0, {"ms": 1e-3, "min": 60.0})
_METERS = (
    ("utilization", "GPU utilization", "ink"),
    ("sm_active", "SM active", "accent"),
    ("tensor_active", "tensor active", "compute"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    compute: Annotated[
        float,
        Number(
            label="Computing before and after", unit=MILLISECONDS, low=0.05, high=5.0, step=0.05
        ),
    ] = 1.0
    late: Annotated[
        float,
        Number(label="The other rank is late by", unit=_SECONDS, low=0.0, high=30.0, step=0.5),
    ] = 8.0
    taken: Annotated[
        int,
        Number(
            label="SMs that the collective takes",
            low=1,
            high=64,
            whole=True,
            help="One thread block for each NCCL channel.",
        ),
    ] = 16
    tensor: Annotated[
        float,
        Number(
            label="Tensor pipe busy while computing", unit=PERCENT, low=0.05, high=0.95, step=0.05
        ),
    ] = 0.5
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
    ] = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What the meters show from `start` on."""

    start: Seconds
    end: Seconds
    meters: tuple[Share, Share, Share]


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    program = (
        Op(key="before", stream=COMPUTE, time=inputs.compute, label="computing"),
        Op(
            key="sum",
            stream=NETWORK,
            time=20 * MILLI,
            after=("before",),
            label="all-reduce",
        ),
        Op(key="after", stream=COMPUTE, time=inputs.compute, after=("sum",), label="computing"),
    )
    seen = kernels(run(on_ranks(program, (1.0, 1 + inputs.late / inputs.compute))))
    own = [one for one in seen if one.rank == 0]
    end = max(one.end for one in own)
    readings = [_read(inputs, one) for one in own]
    spun = next(one.moved - one.begin for one in own if one.op.stream == NETWORK)
    return {
        **_values(inputs, readings),
        "waiting": Value(
            label="Waiting",
            value=spun / end,
            quantity=SHARE,
            receipt=_receipt("Spinning inside the collective until the other rank has come."),
            note=say("{t} of {e}", t=(spun, SECONDS), e=(end, SECONDS)),
            color="communication",
        ),
        "timeline": _timeline(seen, readings, end),
    }


def _read(inputs: Inputs, one: Kernel) -> _Reading:
    """Return the meters while this kernel runs; both kinds of kernel count as utilization."""
    meters = (1.0, inputs.sm_busy, inputs.tensor)
    if one.op.stream == NETWORK:
        meters = (1.0, inputs.taken / _SMS, 0.0)
    return _Reading(start=one.begin, end=one.end, meters=meters)


def _receipt(*assumptions: str) -> Receipt:
    return Receipt(
        basis="simulated",
        assumptions=(
            *assumptions,
            "Averaged over the whole picture. No kernel but these three runs.",
        ),
        sources=("nvml_utilization", "dcgm_profiling"),
    )


def _values(inputs: Inputs, readings: list[_Reading]) -> dict[str, View]:
    meaning = {
        "utilization": "The share of time in which at least one kernel runs: NVML's definition.",
        "sm_active": "The share of time in which an SM holds at least one warp, averaged over all "
        "SMs: DCGM field 1002. Warps that spin count as active.",
        "tensor_active": "The share of cycles in which the tensor pipe is active: DCGM field 1004.",
    }
    notes: dict[str, Text] = {
        "utilization": "nvidia-smi",
        "sm_active": say(
            "DCGM 1002; {t} of {n} SMs spin", t=(inputs.taken, COUNT), n=(_SMS, COUNT)
        ),
        "tensor_active": "DCGM 1004",
    }
    length = readings[-1].end
    return {
        key: Value(
            label=label,
            value=min(1.0, sum((r.end - r.start) * r.meters[index] for r in readings) / length),
            quantity=SHARE,
            receipt=_receipt(meaning[key]),
            note=notes[key],
            color=color,
        )
        for index, (key, label, color) in enumerate(_METERS)
    }


def _timeline(seen: tuple[Kernel, ...], readings: list[_Reading], end: Seconds) -> Timeline:
    lanes = [(rank, kind) for rank in (0, 1) for kind in (COMPUTE, NETWORK)]
    names = {COMPUTE: "compute", NETWORK: "collective"}
    times = (*(r.start for r in readings), end)
    return Timeline(
        title="A GPU that waits, and three meters on it",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{rank}:{kind}", label=f"rank {rank}: {names[kind]}", links=(f"rank:{rank}",))
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
        caption="The curves are those of rank 0.",
        curves=tuple(
            Series(
                key=key,
                label=label,
                x=times,
                y=(*(r.meters[index] for r in readings), readings[-1].meters[index]),
                color=color,
            )
            for index, (key, label, color) in enumerate(_METERS)
        ),
        curve_axis=Axis(label="meters of rank 0", quantity=SHARE, low=0.0, high=1.05),
    )
