"""Why a plan is not the one to take: impossible, too large, or slower, and by what."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from engine.core.units import Bytes, Ratio, Seconds
from engine.run.limits import impossible
from engine.run.plan_space import Job
from engine.run.problems import problems
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, one_candidate
from engine.simulate.step.single_changes import SingleChange, best_changes
from engine.simulate.step.step_range import spread

Verdict = Literal["impossible", "too large", "slower", "tied", "best"]
# Steps that differ by less than this are the same plan under two names.
_SAME: Ratio = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What speaks against a plan.

    Attributes:
        verdict: in one word.
        problems: what does not divide, in sentences, where nothing would run it.
        plan: with its memory and its step, where something would.
        missing: bytes that it needs beyond what may be filled; 0 if it fits.
        largest: the part of its memory that is the largest.
        mends: single changes after which it fits.
        slower: its step over the best one's.
        parts: by how many seconds each part of its step is longer than the best one's.
    """

    verdict: Verdict
    problems: tuple[str, ...] = ()
    plan: Candidate | None = None
    missing: Bytes = 0.0
    largest: str = ""
    mends: tuple[SingleChange, ...] = ()
    slower: Ratio = 0.0
    parts: Mapping[str, Seconds] | None = None


def why_not(job: Job, run: Run, best: Candidate | None) -> Reason:
    """Return what speaks against a run of a job whose best plan is known, if it has one."""
    notes = impossible(run.model, run.plan, run.training)
    notes = notes or list(problems(run.model, run.cluster, run.plan, run.training))
    if notes:
        return Reason(verdict="impossible", problems=tuple(notes))
    one = one_candidate(run)
    room = one.room * (1 - job.kept_free)
    if one.held.total > room:
        return Reason(
            verdict="too large",
            plan=one,
            missing=one.held.total - room,
            largest=largest_part(one),
            mends=best_changes(run) if not one.fits else (),
        )
    if best is None:
        return Reason(verdict="best", plan=one, slower=1.0, parts={})
    return Reason(
        verdict=_verdict(job, run, one, best),
        plan=one,
        slower=one.step / best.step,
        parts=differences(one, best),
    )


def _verdict(job: Job, run: Run, one: Candidate, best: Candidate) -> Verdict:
    if one.step <= best.step * (1 + _SAME):
        return "best"
    other = Run(model=job.model, cluster=job.cluster, plan=best.plan, training=best.training)
    overlap = one.step * spread(run).low <= best.step * spread(other).high
    return "tied" if overlap else "slower"


def largest_part(one: Candidate) -> str:
    """Return which part of a plan's memory is the largest."""
    names = ("parameters", "gradients", "optimizer", "activations", "buffers")
    return max(names, key=lambda name: float(getattr(one.held, name)))


def differences(one: Candidate, best: Candidate) -> Mapping[str, Seconds]:
    """Return by how many seconds each part of a step is longer than the best one's."""
    names = [field.name for field in fields(one.time)]
    return {name: getattr(one.time, name) - getattr(best.time, name) for name in names}
