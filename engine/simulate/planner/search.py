"""The best plans of a job, without timing those that cannot be among them.

The layers alone, spread evenly over all GPUs, bound the step of every plan of a shape from below.
Shapes are looked at in the order of that bound, and what cannot come in is never timed. The answers
are those of trying everything, which the tests compare.
"""

import math
from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.basis.units import Bytes, Count, Seconds
from engine.run.plan_space import Job, plans
from engine.simulate.planner.evaluate import Candidate, Shape, candidates, fitting, priced_shapes

Cell = tuple[Count, Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found.

    Attributes:
        best: the fastest plans that fit, the fastest first.
        timed: plans that fitted and had to be timed.
        shapes: splits of a layer and a micro-batch, all of which were priced.
        seen: of those, how many could hold one of the best.
    """

    best: tuple[Candidate, ...]
    timed: Count
    shapes: Count
    seen: Count


def in_order(job: Job) -> list[Shape]:
    """Return the shapes of a job, the lowest bound first."""
    return sorted(priced_shapes(job), key=lambda one: one.bound)


def fastest(job: Job, count: Count = 10, shapes: list[Shape] | None = None) -> Found:
    """Return the fastest plans of a job that fit."""
    shapes = in_order(job) if shapes is None else shapes
    best: list[Candidate] = []
    timed = seen = 0

    def worst() -> Seconds:
        return best[-1].step if len(best) == count else math.inf

    for shape in shapes:
        if shape.bound >= worst():
            break
        seen += 1
        for one in fitting(job, shape, below=worst):
            timed += 1
            insort(best, one, key=order)
            del best[count:]
    return Found(best=tuple(best), timed=timed, shapes=len(shapes), seen=seen)


def order(one: Candidate) -> tuple[Seconds, Count, Bytes]:
    """Sort by the step; of equal ones the plan with fewer axes, then the one that leaves more."""
    return one.step, one.axes, one.held.total


def within(job: Job, limit: Seconds, shapes: list[Shape]) -> Iterator[Candidate]:
    """Yield every plan that fits and whose step is at most `limit`."""
    for shape in shapes:
        if shape.bound > limit:
            return
        found = fitting(job, shape, below=lambda: limit)
        yield from (one for one in found if one.step <= limit)


def cells(job: Job, shapes: list[Shape]) -> Mapping[Cell, Candidate]:
    """Return the fastest plan that fits for each tensor and pipeline parallelism that has any."""
    best: dict[Cell, Candidate] = {}
    for shape in shapes:
        tensor = shape.plan.tensor_parallel
        for one in fitting(job, shape, better_than=_limits(best, tensor)):
            cell = (tensor, one.plan.pipeline_parallel)
            if cell not in best or order(one) < order(best[cell]):
                best[cell] = one
    return best


def _limits(best: Mapping[Cell, Candidate], tensor: Count) -> dict[Count, Seconds]:
    return {stages: one.step for (size, stages), one in best.items() if size == tensor}


def frontier(job: Job, shapes: list[Shape]) -> tuple[Candidate, ...]:
    """Return the plans that no other beats in both step and memory, the fastest first."""
    front: list[Candidate] = []
    for shape in shapes:
        for one in fitting(job, shape, front=front):
            _enter(front, one)
    return tuple(front)


def _enter(front: list[Candidate], one: Candidate) -> None:
    """Put a plan into a front sorted by step, and take out what it beats."""
    at = bisect_right(front, order(one), key=order)
    if at and front[at - 1].held.total <= one.held.total:
        return
    after = at
    while after < len(front) and front[after].held.total >= one.held.total:
        after += 1
    front[at:after] = [one]


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """How many plans a job has.

    Attributes:
        plans: that software would run.
        fit: of those, how many fit.
    """

    plans: Count
    fit: Count


def census(job: Job) -> Census:
    """Return how many plans there are and how many fit, from the memory of each."""
    shapes = in_order(job)
    return Census(
        plans=sum(1 for _ in plans(job)),
        fit=sum(1 for shape in shapes for one in candidates(job, shape) if one.fits),
    )
