"""What each lever gains for one job: the cost model run again, or a part of the step taken away."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp
from typing import Annotated

from engine.core.outputs import Told
from engine.core.text import Text
from engine.core.units import Bytes, Count, Ratio, Seconds, Share
from engine.form.what_if.accuracy import GAIN_ERROR
from engine.form.what_if.changes import LEVERS, Change, Lever
from engine.form.what_if.inputs import Inputs, as_run
from engine.run.run import Run
from engine.simulate.memory.allocator import usable
from engine.simulate.memory.memory import memory
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_time import StepTime
from engine.simulate.step.what_if import gpus_per_sequence, run_fits, step_of


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
    """The job as it is, and what each lever does to it.

    A gain is what a change makes of a job that runs: none is counted where the job does not fit,
    before the change or after it.

    Attributes:
        run, evidence: it, and on what predictions of its step rest.
        changes: what had to change for it to be possible.
        step: its parts.
        fits: whether the memory suffices; `held` is needed on the fullest GPU, of `usable`.
        gains: of levers that fit, the largest first; none if the job does not.
        mends: levers that make a job fit that does not.
        unfit: levers with which it does not fit.
        idle: levers that do not apply.
    """

    run: Run
    evidence: Evidence
    changes: tuple[Text, ...]
    step: StepTime
    fits: bool
    held: Bytes
    usable: Bytes
    gains: tuple[Gain, ...]
    mends: tuple[Gain, ...]
    unfit: tuple[Gain, ...]
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
    able = tuple(gain for _, gain in found if gain and gain.fits)
    fits = run_fits(run)
    return Job(
        run=run,
        evidence=evidence(run),
        changes=changes,
        step=step,
        fits=fits,
        held=memory(run.model, run.plan, run.training).total,
        usable=usable(run.cluster.gpu.memory, run.training),
        gains=tuple(sorted(able, key=lambda one: -one.gain)) if fits else (),
        mends=() if fits else able,
        unfit=tuple(gain for _, gain in found if gain and not gain.fits),
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
