"""Three meters on one GPU while it waits in a collective: which of them shows that it waits?"""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import MILLISECONDS, PERCENT, Number, Unit
from engine.basis.text import Text, say
from engine.basis.units import COUNT, MILLI, SECONDS, SHARE
from engine.basis.views import Receipt, Value, View
from engine.calculators.whole_runs.three_meters.timeline import METERS, Reading, timeline
from engine.catalog.accelerators import ACCELERATORS
from engine.simulate.on_ranks import Kernel, kernels
from engine.simulate.streams import COMPUTE, NETWORK, Op, run

TITLE = "Three meters, one waiting GPU"
QUESTION = "What do three utilization metrics show while a GPU waits for another?"
_SMS = ACCELERATORS["H100-SXM"].sms
_SECONDS = Unit(" s", 1.0, {"ms": 1e-3, "min": 60.0})


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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    seen = kernels(run(_program(inputs)))
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
        "timeline": timeline(seen, readings, end),
    }


def _program(inputs: Inputs) -> tuple[Op, ...]:
    """Return two ranks that compute, sum and compute; the second comes late to the sum."""
    times = (inputs.compute, inputs.compute + inputs.late)
    ranks = range(len(times))
    return (
        *(
            Op(key=f"before@{r}", stream=COMPUTE, time=times[r], ranks=(r,), label="computing")
            for r in ranks
        ),
        Op(
            key="sum",
            stream=NETWORK,
            time=20 * MILLI,
            after=tuple(f"before@{r}" for r in ranks),
            ranks=tuple(ranks),
            label="all-reduce",
        ),
        *(
            Op(
                key=f"after@{r}",
                stream=COMPUTE,
                time=inputs.compute,
                after=("sum",),
                ranks=(r,),
                label="computing",
            )
            for r in ranks
        ),
    )


def _read(inputs: Inputs, one: Kernel) -> Reading:
    """Return the meters while this kernel runs; both kinds of kernel count as utilization."""
    meters = (1.0, inputs.sm_busy, inputs.tensor)
    if one.op.stream == NETWORK:
        meters = (1.0, inputs.taken / _SMS, 0.0)
    return Reading(start=one.begin, end=one.end, meters=meters)


def _receipt(*assumptions: str) -> Receipt:
    return Receipt(
        basis="simulated",
        assumptions=(
            *assumptions,
            "Averaged over the whole picture. No kernel but these three runs.",
        ),
        sources=("nvml_utilization", "dcgm_profiling"),
    )


def _values(inputs: Inputs, readings: list[Reading]) -> dict[str, View]:
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
        for index, (key, label, color) in enumerate(METERS)
    }
