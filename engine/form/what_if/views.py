"""Views of the levers: tornado chart, table, badge, advice."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp
from typing import Annotated

from engine.catalog.gain_errors import GAIN_ERROR, PAIRS
from engine.core.outputs import Output, Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, SHARE, Count, Ratio, Seconds, Share
from engine.core.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Citation,
    Receipt,
    Remedy,
    Segment,
    Table,
    Value,
)
from engine.form.memory_fit import with_fit
from engine.form.run.prediction_text import evidence_assumptions, range_note
from engine.form.what_if.changes import LEVERS, Change, Lever
from engine.form.what_if.inputs import Inputs, run_and_changes
from engine.run.run import Run
from engine.simulate.memory.allocator import MemoryFit
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_time import StepTime
from engine.simulate.step.what_if import gpus_per_sequence, run_fit, run_step_time

# Gain of each lever for a job: the cost model rerun, or a part of the step removed.


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


_FAMILIES = {
    "setting": ("setting", "compute"),
    "plan": ("plan", "communication"),
    "machine": ("machine", "memory"),
    "waiting": ("waiting", "muted"),
}
_SHOWN = 12


def gain_error_band() -> Text:
    """Return the error of predicted gains."""
    return say(
        "On {n} pairs of published runs that differ in one setting, the ratio of their speeds was "
        "predicted within {e} in eight of ten.",
        n=(PAIRS, COUNT),
        e=(GAIN_ERROR, SHARE),
    )


def step_value(present: Presenter, job: Job) -> Value:
    """Return the current step."""
    fitted = "The cost model, whose constants are fitted to published runs."
    return present.value(
        "step_time",
        receipt=Receipt(
            assumptions=(
                fitted,
                *job.changes,
                *evidence_assumptions(job.evidence),
                gain_error_band(),
            )
        ),
        note=range_note(present, "step_time", job.evidence)
        if job.fit.runs
        else "the job does not fit: this step cannot run",
    )


def tornado(job: Job) -> Bars:
    """Return the levers as bars, largest gain first, with the model's error."""
    shown = [gain for gain in job.gains if gain.gain > 1][:_SHOWN] or list(job.gains[:1])
    nothing = "no lever applies" if job.fit.runs else "none: the job does not fit"
    return Bars(
        title="What each lever gives",
        axis=Axis(
            label="faster by",
            quantity=SHARE,
            low=0.0,
            high=max(0.1, 1.05 * max((gain.high - 1 for gain in shown), default=0.0)),
        ),
        bars=tuple(_bar(gain) for gain in shown) or (_no_bar(nothing),),
        caption="One lever at a time. The color says what changes; where it is only waiting, the "
        "gain is a bound. The thin line spans the error of such predictions.",
    )


def _bar(gain: Gain) -> Bar:
    label, color = _FAMILIES[gain.lever.family]
    return Bar(
        key=gain.lever.key,
        label=gain.lever.label,
        segments=(
            Segment(key=gain.lever.key, label=label, value=max(0.0, gain.gain - 1), color=color),
        ),
        links=(f"lever:{gain.lever.key}",),
        low=max(0.0, gain.low - 1),
        high=max(0.0, gain.high - 1),
    )


def _no_bar(words: str) -> Bar:
    nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
    return Bar(key="none", label=words, segments=(nothing,))


def gains_table(job: Job) -> Table:
    """Return every lever with its gain, price and evidence."""
    levers: list[tuple[Lever, tuple[Cell, Cell, Cell]]] = [
        (
            gain.lever,
            (
                say("{g}", g=(gain.gain, RATIO)),
                say("{low} to {high}", low=(gain.low, RATIO), high=(gain.high, RATIO)),
                "yes",
            ),
        )
        for gain in job.gains
    ]
    levers += [(gain.lever, ("makes it fit", "", "yes")) for gain in job.mends]
    levers += [(gain.lever, (gain.fit.verdict, "", "no")) for gain in job.unfit]
    levers += [(lever, ("does not apply", "", "")) for lever in job.idle]
    rows: list[tuple[Cell, ...]] = [
        (
            lever.label,
            _FAMILIES[lever.family][0],
            *cells,
            lever.side,
            lever.evidence or "modeled",
            Citation(lever.sources),
        )
        for lever, cells in levers
    ]
    return Table(
        title="All levers",
        columns=("Lever", "What changes", "Speed", "Range", "Fits", "Price", "Evidence", "Sources"),
        rows=tuple(rows),
        caption=gain_error_band(),
        links=tuple((f"lever:{lever.key}",) for lever, _ in levers),
    )


def first_lever_badge(job: Job) -> Badge:
    """Return the lever with the largest gain, and whether it exceeds the error."""
    if not job.fit.runs:
        return _unfit_badge(job)
    if not job.gains:
        return Badge(text="Nothing", sentence="No lever applies to this job.", color="muted")
    best, second = job.gains[0], job.gains[min(1, len(job.gains) - 1)]
    clear = best.low > second.gain
    more = (
        "ahead of everything else by more than the error of the model."
        if clear
        else "but the next ones lie within the error of the model: try them too."
    )
    badge = Badge(
        text=best.lever.label,
        sentence=say(f"{{gain}} as fast, {more}", gain=(best.gain, RATIO)),
        color="compute",
    )
    return with_fit(badge, job.fit)


def _unfit_badge(job: Job) -> Badge:
    """Return that the job does not run, and the single changes that make it fit."""
    names = ", ".join(gain.lever.label for gain in job.mends)
    remedy = f"One change is enough: {names}." if names else "No single change here makes it fit."
    return Badge(
        text="Does not fit",
        sentence=say(
            f"The rank that holds most needs {{need}}, and {{have}} may be filled, so there is "
            f"nothing to make faster yet. {remedy}",
            need=(job.fit.needed, BYTES),
            have=(job.fit.usable, BYTES),
        ),
        color="communication",
    )


def lever_advice(job: Job) -> Advice:
    """Return the three best levers that are changes of inputs."""
    usable = [gain for gain in job.gains if gain.change and gain.alike and gain.gain > 1]
    return Advice(
        title="Pull one",
        verdict=say(
            "{share} of the step waits for communication.", share=(job.exposed_share, SHARE)
        )
        if job.fit.runs
        else "The job does not fit: nothing is recommended until it does.",
        figure="step_time",
        now=job.step_time,
        quantity=SECONDS,
        remedies=tuple(
            Remedy(
                key=gain.lever.key,
                label=gain.lever.label,
                change=gain.change,
                after=gain.step,
                side_effect=gain.lever.side,
            )
            for gain in usable[:3]
        ),
    )
