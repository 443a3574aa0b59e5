"""Exhaustive timing of every plan of a job, in parts for several processes.

The search times only what can be among the best. This counts and compares all, and finds the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from engine.core.units import Bytes, Count, Seconds
from engine.run.plan_space import PlanningJob, shapes
from engine.simulate.planner.evaluate import Candidate, candidates, price_shapes
from engine.simulate.planner.kinds import keep_fastest


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Statistics of all plans of a job, or of a part of them.

    Attributes:
        plans: that were timed.
        fit: of those, how many leave free what the job says.
        tight: how many more stay within the GPU.
        best: of each of the fastest kinds the fastest that fits, or, where none does, is tight.
        shortest: seconds of the shortest step of all, whether it fits or not; 0 without a plan.
        least: bytes of the fullest GPU of the plan that needs the least memory; 0 without a plan.
    """

    plans: Count
    fit: Count
    tight: Count
    best: tuple[Candidate, ...]
    shortest: Seconds
    least: Bytes


def survey(job: PlanningJob, count: Count = 10, part: Count = 0, parts: Count = 1) -> Survey:
    """Return the statistics of every `parts`-th shape of a job, from the `part`-th on."""
    plans = 0
    steps, sizes = list[Seconds](), list[Bytes]()
    fits, tight = list[Candidate](), list[Candidate]()
    counts = {True: 0, False: 0}
    for shape in price_shapes(job, islice(shapes(job), part, None, parts)):
        for candidate in candidates(job, shape):
            plans += 1
            steps.append(candidate.step)
            sizes.append(candidate.memory.total)
            if candidate.memory.total <= max(candidate.room, candidate.device):
                counts[candidate.leaves_room] += 1
                keep_fastest(fits if candidate.leaves_room else tight, candidate, count)
    return Survey(
        plans=plans,
        fit=counts[True],
        tight=counts[False],
        best=tuple(fits or tight),
        shortest=min(steps, default=0.0),
        least=min(sizes, default=0.0),
    )


def merge_surveys(surveys: Iterable[Survey], count: Count = 10) -> Survey:
    """Return the merged statistics of several parts."""
    nonempty = [part for part in surveys if part.plans]
    fit = sum(part.fit for part in nonempty)
    best: list[Candidate] = []
    for part in nonempty:
        for plan in part.best if part.fit or not fit else ():
            keep_fastest(best, plan, count)
    return Survey(
        plans=sum(part.plans for part in nonempty),
        fit=fit,
        tight=sum(part.tight for part in nonempty),
        best=tuple(best),
        shortest=min((part.shortest for part in nonempty), default=0.0),
        least=min((part.least for part in nonempty), default=0.0),
    )
