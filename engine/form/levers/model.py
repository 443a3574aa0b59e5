"""What each lever gains for one job: the cost model run again, or a part of the step taken away."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp
from typing import Annotated

from engine.basis.text import Text
from engine.basis.told import Told
from engine.basis.units import Count, Ratio, Seconds, Share
from engine.form.levers.accuracy import GAIN_ERROR
from engine.form.levers.changes import LEVERS, Change, Lever
from engine.form.levers.inputs import Inputs, as_run
from engine.run.file import Run
from engine.simulate.levers import gpus_per_sequence, run_fits, step_of
from engine.simulate.step_time import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What one lever gives.

    Attributes:
        lever: which.
        change: of the inputs; empty where none does it.
        step: with the lever.
        alike: on as many GPUs, for as many sequences as before.
        gain: how many times as fast.
        low, high: within these were eight of ten published pairs of runs.
        fits: whether the memory suffices with it.
    """

    lever: Lever
    change: Change
    step: Seconds
    alike: bool
    gain: Ratio
    low: Ratio
    high: Ratio
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The job as it is, and all gains, the largest first; `idle` are levers that do not apply."""

    run: Run
    changes: tuple[Text, ...]
    step: StepTime
    fits: bool
    gains: tuple[Gain, ...]
    idle: tuple[Lever, ...]
    step_time: Annotated[Seconds, Told("Step now")]
    exposed: Seconds
    exposed_share: Annotated[
        Share,
        Told(
            "Waiting for communication",
            "e",
            "{exposed} of the step",
            color="communication",
            assumes=("Exposed communication over the step; the rest is hidden.",),
        ),
    ]


def job(inputs: Inputs) -> Job:
    """Return the job and what each lever gains."""
    run, changes = as_run(inputs)
    step = step_of(run)
    found = [(lever, _gain(lever, inputs, run, step)) for lever in LEVERS]
    gains = [gain for _, gain in found if gain]
    return Job(
        run=run,
        changes=changes,
        step=step,
        fits=run_fits(run),
        gains=tuple(sorted(gains, key=lambda one: -one.gain)),
        idle=tuple(lever for lever, gain in found if not gain),
        step_time=step.total,
        exposed=step.exposed,
        exposed_share=step.exposed / step.total,
    )


def _gain(lever: Lever, inputs: Inputs, run: Run, step: StepTime) -> Gain | None:
    change: Mapping[str, int | float | str | bool] = {}
    other: Run | None = run
    if lever.change:
        change = lever.change(inputs) or {}
        other = as_run(replace(inputs, **change))[0] if change else None  # type: ignore[arg-type]
    elif lever.machine:
        other = lever.machine(run)
    if other is None:
        return None
    if lever.removed:
        time = step.total - lever.removed(inputs, run, step)
        gain = step.total / time
    else:
        time = step_of(other).total
        # Runs of another batch or size compare by the GPU time of a sequence.
        gain = step.total / time * gpus_per_sequence(run) / gpus_per_sequence(other)
    # A change that was taken back because it does not divide is none; a micro-batch that needs a
    # larger batch is another lever.
    taken_back = other == run and not lever.removed
    if taken_back or (lever.key == "micro_batch" and _size(other) != _size(run)):
        return None
    return Gain(
        lever=lever,
        change=change,
        step=time,
        alike=_size(other) == _size(run),
        gain=gain,
        low=gain * exp(-GAIN_ERROR),
        high=gain * exp(GAIN_ERROR),
        fits=run_fits(other),
    )


def _size(run: Run) -> tuple[Count, Count]:
    return run.plan.world_size, run.training.global_batch_size
