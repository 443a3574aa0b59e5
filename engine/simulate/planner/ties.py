"""Plans that tie with the best one: their prediction ranges overlap."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.slices import Slices
from engine.core.units import Count, Ratio, Seconds
from engine.run.plan_space import PlanningJob
from engine.simulate.planner.evaluate import Candidate, PlanShape, candidate_run
from engine.simulate.planner.search import Split, search_progress, shape_plans_within, shapes_within
from engine.simulate.step.step_range import PredictionSpread, prediction_spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """Plans that tie with the best plan.

    Attributes:
        low: from where the best plan's step lies, four times in five.
        high: up to where.
        spread: how far off such predictions are, and beyond which measured run the job goes.
        tied: plans that fit and whose range overlaps that of the best, the best among them.
        splits: different tensor and pipeline parallelisms among them.
        simplest: of those, the fastest of the plans with the fewest axes; tight ones come last.
    """

    low: Seconds
    high: Seconds
    spread: PredictionSpread
    tied: Count
    splits: Count
    simplest: Candidate


def find_ties(job: PlanningJob, best: Candidate, shapes: list[PlanShape]) -> Slices[Tie]:
    """Return the ties with the best plan of a job; `shapes` in the order of their bounds."""
    prediction = prediction_spread(candidate_run(job, best.plan, best.training))
    high = best.step * prediction.high
    lows = _lows(job, shapes)
    tied, splits, simplest = 0, set[Split](), best
    limit = high / min(lows.values())
    reached = shapes_within(limit, shapes)
    for done, shape in enumerate(reached):
        yield search_progress(done, len(reached), "{done} of {all} splits looked at")
        for candidate in shape_plans_within(job, limit, shape):
            if (
                candidate.step * lows[candidate.training.framework, candidate.training.precision]
                > high
            ):
                continue
            tied += 1
            splits.add((candidate.plan.tensor_parallel, candidate.plan.pipeline_parallel))
            if _simplicity(candidate) < _simplicity(simplest):
                simplest = candidate
    return Tie(
        low=best.step * prediction.low,
        high=high,
        spread=prediction,
        tied=tied,
        splits=len(splits),
        simplest=simplest,
    )


def _simplicity(candidate: Candidate) -> tuple[bool, Count, Seconds]:
    return candidate.fit.verdict != "fits", candidate.axes, candidate.step


def _lows(job: PlanningJob, shapes: Iterable[PlanShape]) -> dict[tuple[str, str], Ratio]:
    """Return the low end of the prediction range, relative to the step, by software and precision.

    How far off predictions are depends on nothing else that plans of one job choose.
    """
    lows: dict[tuple[str, str], Ratio] = {}
    for shape in shapes:
        key = (shape.training.framework, shape.training.precision)
        if key not in lows:
            lows[key] = prediction_spread(candidate_run(job, shape.plan, shape.training)).low
    return lows
