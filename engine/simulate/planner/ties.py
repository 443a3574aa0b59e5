"""Which plans the cost model cannot tell apart from the best one: their ranges overlap."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.slices import Slices
from engine.core.units import Count, Ratio, Seconds
from engine.run.plan_space import Job
from engine.simulate.planner.evaluate import Candidate, Shape, run_of
from engine.simulate.planner.search import Cell, at, reaching, within_shape
from engine.simulate.step.step_range import Spread, spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """The best plan and those that tie with it.

    Attributes:
        low: from where the best plan's step lies, four times in five.
        high: up to where.
        spread: how far off such predictions are, and beyond which measured run the job goes.
        tied: plans that fit and whose range overlaps that of the best, the best among them.
        splits: different tensor and pipeline parallelisms among them.
        simplest: of those, the fastest of the plans with the fewest axes.
    """

    low: Seconds
    high: Seconds
    spread: Spread
    tied: Count
    splits: Count
    simplest: Candidate


def tie(job: Job, best: Candidate, shapes: list[Shape]) -> Slices[Tie]:
    """Find what ties with the best plan of a job; `shapes` in the order of their bounds."""
    found = spread(run_of(job, best.plan, best.training))
    high = best.step * found.high
    lows = _lows(job, shapes)
    tied, splits, simplest = 0, set[Cell](), best
    limit = high / min(lows.values())
    reached = reaching(limit, shapes)
    for done, shape in enumerate(reached):
        yield at(done, len(reached), "{done} of {all} splits looked at")
        for one in within_shape(job, limit, shape):
            if one.step * lows[one.training.framework, one.training.precision] > high:
                continue
            tied += 1
            splits.add((one.plan.tensor_parallel, one.plan.pipeline_parallel))
            if (one.axes, one.step) < (simplest.axes, simplest.step):
                simplest = one
    return Tie(
        low=best.step * found.low,
        high=high,
        spread=found,
        tied=tied,
        splits=len(splits),
        simplest=simplest,
    )


def _lows(job: Job, shapes: Iterable[Shape]) -> dict[tuple[str, str], Ratio]:
    """Return where the range of a plan begins, as a share of its step, by software and precision.

    How far off predictions are depends on nothing else that plans of one job choose.
    """
    lows: dict[tuple[str, str], Ratio] = {}
    for one in shapes:
        key = (one.training.framework, one.training.precision)
        if key not in lows:
            lows[key] = spread(run_of(job, one.plan, one.training)).low
    return lows
