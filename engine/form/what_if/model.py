"""Gain of each lever for a job: the cost model rerun, or a part of the step removed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp
from typing import Annotated

from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import Count, Ratio, Seconds, Share
from engine.form.what_if.accuracy import GAIN_ERROR
from engine.form.what_if.changes import LEVERS, Change, Lever
from engine.form.what_if.inputs import Inputs, run_and_changes
from engine.run.run import Run
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_time import StepTime
from engine.simulate.step.what_if import gpus_per_sequence, run_fit, run_step_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The gain from one lever.

    Attributes:
        lever: which.
        change: of the inputs; empty where none does it.
        step: with the lever.
        alike: on as many GPUs, for as many sequences as before.
        gain: how many times as fast.
        low, high: within these were eight of ten published pairs of runs.
        fit: how it fits the memory.
    """

    lever: Lever
    change: Change
    step: Seconds
    alike: bool
    gain: Ratio
    low: Ratio
    high: Ratio
    fit: MemoryFit


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The job as it is, and the gain from each lever.

    A gain is what a change makes of a job that runs: none is counted where the job does not fit,
    before the change or after it.

    Attributes:
        run, evidence: it, and on what predictions of its step rest.
        changes: what had to change for it to be possible.
        step: its parts.
        fit: how it fits the memory.
        gains: of levers that fit, the largest first; none if the job does not.
        mends: levers that make a job fit that does not.
        unfit: levers with which it does not fit.
        idle: levers that do not apply.
    """

    run: Run
    evidence: Evidence
    changes: tuple[Text, ...]
    step: StepTime
    fit: MemoryFit
    gains: tuple[Gain, ...]
    mends: tuple[Gain, ...]
    unfit: tuple[Gain, ...]
    idle: tuple[Lever, ...]
    step_time: Annotated[Seconds, Output("Step now")]
    exposed: Seconds
    exposed_share: Annotated[
        Share,
        Output(
            "Waiting for communication",
            "e",
            "{exposed} of the step",
            color="communication",
            assumes=("Exposed communication over the step; the rest is hidden.",),
        ),
    ]


def what_if_job(inputs: Inputs) -> Job:
    """Return the job and the gain from each lever."""
    run, changes = run_and_changes(inputs)
    step = run_step_time(run)
    gains_by_lever = [(lever, _gain(lever, inputs, run, step)) for lever in LEVERS]
    fit = run_fit(run)
    # None is offered that would make a job tight which is not.
    allowed = {"fits", fit.verdict} - {"does not fit"}
    able: list[Gain] = []
    unfit: list[Gain] = []
    for _, gain in gains_by_lever:
        if gain:
            (able if gain.fit.verdict in allowed else unfit).append(gain)
    return Job(
        run=run,
        evidence=evidence(run),
        changes=changes,
        step=step,
        fit=fit,
        gains=tuple(sorted(able, key=lambda gain: -gain.gain)) if fit.runs else (),
        mends=() if fit.runs else tuple(able),
        unfit=tuple(unfit),
        idle=tuple(lever for lever, gain in gains_by_lever if not gain),
        step_time=step.total,
        exposed=step.exposed,
        exposed_share=step.exposed / step.total,
    )


def _gain(lever: Lever, inputs: Inputs, run: Run, step: StepTime) -> Gain | None:
    change: Mapping[str, int | float | str | bool] = {}
    other: Run | None = run
    if lever.change:
        change = lever.change(inputs) or {}
        other = run_and_changes(replace(inputs, **change))[0] if change else None  # type: ignore[arg-type]
    elif lever.machine:
        other = lever.machine(run)
    if other is None:
        return None
    if lever.removed:
        time = step.total - lever.removed(inputs, run, step)
        gain = step.total / time
    else:
        time = run_step_time(other).total
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
        fit=run_fit(other),
    )


def _size(run: Run) -> tuple[Count, Count]:
    return run.plan.world_size, run.training.global_batch_size
