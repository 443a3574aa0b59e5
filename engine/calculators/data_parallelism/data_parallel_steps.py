"""Data-parallel steps: five phases on real numbers, sixteen samples, one to eight GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.core.inputs import MILLISECONDS, Choice, Number
from engine.core.outputs import Teller, Told, Views
from engine.core.units import COUNT, MILLI, Seconds
from engine.core.views import Badge
from engine.draw.replicas import replicas_scene
from engine.form.missing_range import MADE_UP
from engine.simulate.data_parallel.replicas import SAMPLES, Step, distance, shards, train
from engine.simulate.streams.replica_clock import BACKWARD, FORWARD, UPDATE, Clock, clock

TITLE = "Five phases"
QUESTION = "What do four GPUs do with one batch, and do they stay identical?"
PRESETS = {
    "One GPU": {"num_gpus": 1},
    "Uneven shards": {"extra": 3},
    "Uneven, weighted by samples": {"extra": 3, "average": "samples"},
}
_ROUNDING = 1e-12
Plain = Annotated[float, COUNT]
_RUN: Mapping[str, Any] = {
    "assumes": (
        "Computed in the run that the scene shows, sample by sample, GPU by GPU.",
        "The model is a line, its loss half the squared error, the learning rate 0.1.",
    ),
    "sources": ("li2020",),
    "basis": "simulated",
}
_TIMED: Mapping[str, Any] = {
    "assumes": (
        "Each sample takes {forward} forward and {backward} backward, the update {update}.",
        "No overlap: the all-reduce starts when the last GPU is done.",
        MADE_UP,
    ),
    "basis": "simulated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    num_gpus: Annotated[int, Number(label="GPUs", low=1, high=8, whole=True, symbol="n")] = 4
    extra: Annotated[
        int,
        Number(
            label="Samples moved to GPU 0",
            low=0,
            high=8,
            whole=True,
            help="From the last GPU, which keeps at least one.",
        ),
    ] = 0
    step: Annotated[int, Number(label="Step", low=1, high=30, whole=True)] = 1
    average: Annotated[
        str,
        Choice(
            label="Average",
            options={"gpus": "over the GPUs (DDP)", "samples": "over all samples"},
            help="The same thing, as long as all shards are equal.",
        ),
    ] = "gpus"
    all_reduce: Annotated[
        float,
        Number(label="All-reduce", unit=MILLISECONDS, low=0.0, high=0.02, step=0.5 * MILLI),
    ] = 4 * MILLI


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One step on all GPUs, beside the same on one; `clock` is when its phases end."""

    step: Step
    clock: Clock
    step_time: Annotated[
        Seconds, Told("Step", "", "made-up times, the same for every sample", **_TIMED)
    ]
    forward: Seconds = FORWARD
    backward: Seconds = BACKWARD
    update: Seconds = UPDATE
    apart: Annotated[
        Plain,
        Told("Copies differ by", "", "largest difference of a parameter between two GPUs", **_RUN),
    ]
    off: Annotated[
        Plain,
        Told(
            "From one GPU with the whole batch",
            "",
            "largest difference of a parameter, rounding aside",
            **_RUN,
        ),
    ]
    loss: Annotated[Plain, Told("Loss before the step", "", "{loss_after} after it", **_RUN)]
    loss_after: Plain
    waiting: Annotated[
        Seconds, Told("Fastest GPU waits", "", "for the slowest, before the all-reduce", **_TIMED)
    ]


def solve(inputs: Inputs) -> Result:
    """Return the step, computed sample by sample, GPU by GPU."""
    parts = shards(inputs.num_gpus, inputs.extra)
    step = train(parts, inputs.step, weighted=inputs.average == "samples")
    alone = train(shards(1, 0), inputs.step, weighted=True)
    timed = clock([len(part) for part in parts], inputs.all_reduce)
    off = distance(step, alone)
    return Result(
        step=step,
        clock=timed,
        step_time=timed.end,
        apart=distance(step, step),
        off=off if off > _ROUNDING else 0.0,
        loss=step.loss,
        loss_after=step.loss_after,
        waiting=timed.waiting,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        "step_time": tell.value("step_time"),
        "scene": partial(replicas_scene, result.step, result.clock, inputs.step),
        **tell.values("apart", "off", "loss", "waiting"),
        "verdict": _verdict(result),
    }


def _verdict(result: Result) -> Badge:
    sizes = {len(replica.samples) for replica in result.step.replicas}
    if not result.off:
        text = "Same as one GPU"
        sentence = (
            "All copies are identical, and equal to those of one GPU with the whole batch of "
            f"{len(SAMPLES)}."
        )
        return Badge(text=text, sentence=sentence, color="compute")
    return Badge(
        text="Not the same batch",
        sentence=f"The copies are identical, but shards of {min(sizes)} to {max(sizes)} samples "
        "count alike: samples of a small shard weigh more.",
        color="communication",
    )
