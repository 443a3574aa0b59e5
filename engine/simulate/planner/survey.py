"""Every plan of a job, timed whether it fits or not; in parts, so that processes can share it.

The search times only what can be among the best. This counts and compares all, and finds the same.
"""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from engine.core.units import Bytes, Count, Seconds
from engine.run.plan_space import Job, shapes
from engine.simulate.planner.evaluate import Candidate, candidates, priced
from engine.simulate.planner.search import order


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """All plans of a job, or of a part of it.

    Attributes:
        plans: that were timed.
        fit: of those, how many leave free what the job says.
        best: the fastest that fit, the fastest first.
        shortest: seconds of the shortest step of all, whether it fits or not; 0 without a plan.
        least: bytes of the fullest GPU of the plan that needs the least memory; 0 without a plan.
    """

    plans: Count
    fit: Count
    best: tuple[Candidate, ...]
    shortest: Seconds
    least: Bytes


def survey(job: Job, count: Count = 10, part: Count = 0, parts: Count = 1) -> Survey:
    """Return every plan of each `parts`-th shape of a job, from the `part`-th on."""
    plans = fit = 0
    steps, sizes = list[Seconds](), list[Bytes]()
    best: list[Candidate] = []
    for shape in priced(job, islice(shapes(job), part, None, parts)):
        for one in candidates(job, shape):
            plans += 1
            steps.append(one.step)
            sizes.append(one.held.total)
            if one.held.total > one.room * (1 - job.kept_free):
                continue
            fit += 1
            if len(best) < count or order(one) < order(best[-1]):
                insort(best, one, key=order)
                del best[count:]
    return Survey(
        plans=plans,
        fit=fit,
        best=tuple(best),
        shortest=min(steps, default=0.0),
        least=min(sizes, default=0.0),
    )


def joined(surveys: Iterable[Survey], count: Count = 10) -> Survey:
    """Return the parts of a job as one."""
    found = [one for one in surveys if one.plans]
    return Survey(
        plans=sum(one.plans for one in found),
        fit=sum(one.fit for one in found),
        best=tuple(sorted((plan for one in found for plan in one.best), key=order)[:count]),
        shortest=min((one.shortest for one in found), default=0.0),
        least=min((one.least for one in found), default=0.0),
    )
