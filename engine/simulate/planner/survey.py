"""Exhaustive timing of every plan of a job, in parts for several processes.

The search times only what can be among the best. This counts and compares all, and finds the same.
"""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from engine.core.units import Bytes, Count, Seconds
from engine.run.plan_space import PlanningJob, shapes
from engine.simulate.planner.evaluate import Candidate, candidates, price_shapes
from engine.simulate.planner.search import plan_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Statistics of all plans of a job, or of a part of them.

    Attributes:
        plans: that were timed.
        fit: of those, how many fit, if only just.
        best: the fastest that fit, the fastest first.
        shortest: seconds of the shortest step of all, whether it fits or not; 0 without a plan.
        least: bytes of the fullest GPU of the plan that needs the least memory; 0 without a plan.
    """

    plans: Count
    fit: Count
    best: tuple[Candidate, ...]
    shortest: Seconds
    least: Bytes


def survey(job: PlanningJob, count: Count = 10, part: Count = 0, parts: Count = 1) -> Survey:
    """Return the statistics of every `parts`-th shape of a job, from the `part`-th on."""
    plans = fit = 0
    steps, sizes = list[Seconds](), list[Bytes]()
    best: list[Candidate] = []
    for shape in price_shapes(job, islice(shapes(job), part, None, parts)):
        for candidate in candidates(job, shape):
            plans += 1
            steps.append(candidate.step)
            sizes.append(candidate.memory.total)
            if not candidate.leaves_room:
                continue
            fit += 1
            if len(best) < count or plan_order(candidate) < plan_order(best[-1]):
                insort(best, candidate, key=plan_order)
                del best[count:]
    return Survey(
        plans=plans,
        fit=fit,
        best=tuple(best),
        shortest=min(steps, default=0.0),
        least=min(sizes, default=0.0),
    )


def merge_surveys(surveys: Iterable[Survey], count: Count = 10) -> Survey:
    """Return the merged statistics of several parts."""
    nonempty = [part for part in surveys if part.plans]
    return Survey(
        plans=sum(part.plans for part in nonempty),
        fit=sum(part.fit for part in nonempty),
        best=tuple(
            sorted((plan for part in nonempty for plan in part.best), key=plan_order)[:count]
        ),
        shortest=min((part.shortest for part in nonempty), default=0.0),
        least=min((part.least for part in nonempty), default=0.0),
    )
