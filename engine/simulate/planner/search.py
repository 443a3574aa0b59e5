"""The best plans of a job, without timing those that cannot be among them.

The layers alone, spread evenly over all GPUs, bound the step of every plan of a shape from below.
Shapes are looked at in the order of that bound, and what cannot come in is never timed. The answers
are those of trying everything, which the tests compare.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from engine.core.slices import Progress, Slices, part, whole
from engine.core.text import Sentence
from engine.core.units import COUNT, Bytes, Count, Seconds
from engine.run.plan_space import Job, plans
from engine.run.plan_space import shapes as shapes_of
from engine.simulate.planner.evaluate import Candidate, Shape, candidates, fitting, priced

T = TypeVar("T")
Cell = tuple[Count, Count]
# Of a search, for how far it is told to be: pricing is about one part, looking is the others.
_PARTS: Count = 4


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


def pricing(job: Job) -> Slices[list[Shape]]:
    """Price the shapes of a job, in slices; return them, the lowest bound first."""
    found: list[Shape] = []
    every = list(shapes_of(job))
    for one in priced(job, every):
        found.append(one)
        yield at(len(found), len(every), "{done} of {all} splits bounded")
    return sorted(found, key=lambda one: one.bound)


def first(slices: Slices[T]) -> Slices[T]:
    """Go on with pricing, told as the first part of a search."""
    return part(slices, 0, _PARTS)


def then(slices: Slices[T]) -> Slices[T]:
    """Go on with looking at what was priced, told as the rest of a search."""
    return part(slices, 1, _PARTS, many=_PARTS - 1)


def in_order(job: Job) -> list[Shape]:
    """Return the shapes of a job, the lowest bound first."""
    return whole(pricing(job))


def fastest(job: Job, count: Count = 10, shapes: list[Shape] | None = None) -> Found:
    """Return the fastest plans of a job that fit."""
    return whole(searching(job, count, shapes))


def searching(job: Job, count: Count = 10, shapes: list[Shape] | None = None) -> Slices[Found]:
    """Find the fastest plans of a job that fit, in slices."""
    if shapes is None:
        shapes = yield from first(pricing(job))
        return (yield from then(searching(job, count, shapes)))
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
        left = bisect_left(shapes, worst(), key=lambda one: one.bound)
        yield at(seen, left, "{done} of at most {all} splits looked at, {timed} plans timed", timed)
    return Found(best=tuple(best), timed=timed, shapes=len(shapes), seen=seen)


def at(done: Count, every: Count, text: str, timed: Count = 0) -> Progress:
    """Return how far a search is, in words that name {done}, {all} and perhaps {timed}."""
    numbers = {"done": (float(done), COUNT), "all": (float(max(done, every)), COUNT)}
    timed_plans = {"timed": (float(timed), COUNT)} if "{timed}" in text else {}
    return Progress(
        share=done / max(done, every), text=Sentence(template=text, numbers=numbers | timed_plans)
    )


def order(one: Candidate) -> tuple[Seconds, Count, Bytes]:
    """Sort by the step; of equal ones the plan with fewer axes, then the one that leaves more."""
    return one.step, one.axes, one.held.total


def within(job: Job, limit: Seconds, shapes: list[Shape]) -> Iterator[Candidate]:
    """Yield every plan that fits and whose step is at most `limit`."""
    for shape in reaching(limit, shapes):
        yield from within_shape(job, limit, shape)


def reaching(limit: Seconds, shapes: list[Shape]) -> list[Shape]:
    """Return the shapes that may have a plan whose step is at most `limit`."""
    return shapes[: bisect_right(shapes, limit, key=lambda one: one.bound)]


def within_shape(job: Job, limit: Seconds, shape: Shape) -> Iterator[Candidate]:
    """Return the plans of a shape that fit and whose step is at most `limit`."""
    found = fitting(job, shape, below=lambda: limit)
    return (one for one in found if one.step <= limit)


def cells(job: Job, shapes: list[Shape]) -> Slices[Mapping[Cell, Candidate]]:
    """Find the fastest plan that fits for each tensor and pipeline parallelism that has any."""
    best: dict[Cell, Candidate] = {}
    for done, shape in enumerate(shapes):
        yield at(done, len(shapes), "{done} of {all} splits looked at")
        tensor = shape.plan.tensor_parallel
        for one in fitting(job, shape, better_than=_limits(best, tensor)):
            cell = (tensor, one.plan.pipeline_parallel)
            if cell not in best or order(one) < order(best[cell]):
                best[cell] = one
    return best


def _limits(best: Mapping[Cell, Candidate], tensor: Count) -> dict[Count, Seconds]:
    return {stages: one.step for (size, stages), one in best.items() if size == tensor}


def frontier(job: Job, shapes: list[Shape]) -> Slices[tuple[Candidate, ...]]:
    """Find the plans that no other beats in both step and memory, the fastest first."""
    front: list[Candidate] = []
    for done, shape in enumerate(shapes):
        yield at(done, len(shapes), "{done} of {all} splits looked at")
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
