"""Reason against a plan: impossible, too large, or slower, and by how much."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from engine.core.units import Bytes, Ratio, Seconds
from engine.run.limits import indivisible_sizes
from engine.run.plan_space import PlanningJob
from engine.run.problems import problems
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, run_candidate
from engine.simulate.planner.kinds import is_tie
from engine.simulate.step.single_changes import SingleChange, best_changes

Verdict = Literal["impossible", "too large", "slower", "tied", "best"]
# Steps that differ by less than this are the same plan under two names.
_SAME: Ratio = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Reason against a plan.

    Attributes:
        verdict: in one word.
        problems: what does not divide, in sentences, where nothing would run it.
        plan: with its memory and its step, where something would.
        missing: bytes that it needs beyond the GPU, free blocks given back; else 0.
        largest: the part of its memory that is the largest.
        fixes: single changes after which it fits.
        slower: its step over the best one's.
        parts: by how many seconds each part of its step is longer than the best one's.
    """

    verdict: Verdict
    problems: tuple[str, ...] = ()
    plan: Candidate | None = None
    missing: Bytes = 0.0
    largest: str = ""
    fixes: tuple[SingleChange, ...] = ()
    slower: Ratio = 0.0
    parts: Mapping[str, Seconds] | None = None


def why_not(job: PlanningJob, run: Run, best: Candidate | None) -> Reason:
    """Return the reason against a run's plan, compared with the best plan of its job, if any."""
    notes = indivisible_sizes(run.model, run.plan, run.training)
    notes = notes or list(problems(run.model, run.cluster, run.plan, run.training))
    if notes:
        return Reason(verdict="impossible", problems=tuple(notes))
    candidate = run_candidate(run, job.kept_free)
    if not (candidate.fit.runs or candidate.leaves_room):
        return Reason(
            verdict="too large",
            plan=candidate,
            missing=candidate.memory.least - candidate.device,
            largest=largest_part(candidate),
            fixes=best_changes(run, kept_free=job.kept_free),
        )
    if best is None:
        return Reason(verdict="best", plan=candidate, slower=1.0, parts={})
    return Reason(
        verdict=_verdict(candidate, best),
        plan=candidate,
        slower=candidate.step / best.step,
        parts=differences(candidate, best),
    )


def _verdict(candidate: Candidate, best: Candidate) -> Verdict:
    if candidate.step <= best.step * (1 + _SAME):
        return "best"
    return "tied" if is_tie(candidate.step, best.step) else "slower"


def largest_part(candidate: Candidate) -> str:
    """Return the largest part of a plan's memory."""
    names = ("parameters", "gradients", "optimizer", "activations", "buffers")
    return max(names, key=lambda name: float(getattr(candidate.memory, name)))


def differences(candidate: Candidate, best: Candidate) -> Mapping[str, Seconds]:
    """Return the difference of each step time part from the best plan, in seconds."""
    names = [field.name for field in fields(candidate.time)]
    return {name: getattr(candidate.time, name) - getattr(best.time, name) for name in names}
