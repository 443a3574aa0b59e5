"""Branch-and-bound search for the best plans of a job.

The layers alone, spread evenly over all GPUs, bound the step of every plan of a shape from below.
Shapes are looked at in the order of that bound, and what cannot come in is never timed. The answers
are those of trying everything, which the tests compare.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from engine.core.slices import Progress, Slices, partial_progress, run_to_end
from engine.core.text import Sentence
from engine.core.units import COUNT, Count, Seconds
from engine.run.plan_space import PlanningJob
from engine.run.plan_space import shapes as shapes_of
from engine.simulate.planner.evaluate import (
    Candidate,
    PlanShape,
    fitting_candidates,
    price_shapes,
    recipe_candidates,
)
from engine.simulate.planner.kinds import keep_fastest, plan_order

T = TypeVar("T")
Split = tuple[Count, Count]
# Of a search, for how far it is told to be: pricing is about one part, looking is the others.
_PARTS: Count = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Result of a plan search.

    Attributes:
        job: whose plans they are: the asked one, or, where none of its plans leaves free what it
            says, the same with tight plans allowed.
        best: of each of the fastest kinds the fastest plan that fits, the fastest first.
        timed: plans that fitted and had to be timed.
        shapes: splits of a layer and a micro-batch, all of which were priced.
        examined: of those, how many could hold one of the best.
    """

    job: PlanningJob
    best: tuple[Candidate, ...]
    timed: Count
    shapes: Count
    examined: Count


def price_job(job: PlanningJob) -> Slices[list[PlanShape]]:
    """Return the shapes of a job with layer costs, the lowest bound first."""
    priced_shapes: list[PlanShape] = []
    all_shapes = list(shapes_of(job))
    for shape in price_shapes(job, all_shapes):
        priced_shapes.append(shape)
        yield search_progress(len(priced_shapes), len(all_shapes), "{done} of {all} splits bounded")
    return sorted(priced_shapes, key=lambda shape: shape.bound)


def pricing_part(slices: Slices[T]) -> Slices[T]:
    """Run the pricing with progress as the first part of a search."""
    return partial_progress(slices, 0, _PARTS)


def timing_part(slices: Slices[T]) -> Slices[T]:
    """Run the timing with progress as the rest of a search."""
    return partial_progress(slices, 1, _PARTS, count=_PARTS - 1)


def ordered_shapes(job: PlanningJob) -> list[PlanShape]:
    """Return the shapes of a job, the lowest bound first."""
    return run_to_end(price_job(job))


def fastest_plans(
    job: PlanningJob, count: Count = 10, shapes: list[PlanShape] | None = None
) -> SearchResult:
    """Return the fastest plans of a job that fit, one of each of `count` kinds."""
    return run_to_end(search_plans(job, count, shapes))


def search_plans(
    job: PlanningJob, count: Count = 10, shapes: list[PlanShape] | None = None
) -> Slices[SearchResult]:
    """Search for the fastest plans of a job whose process fits, in cooperative steps.

    Of each kind the fastest: plans that differ in a micro-batch or in virtual stages are one.
    Where none leaves free what the job says, those that just stay within the GPU are searched.
    """
    if shapes is None:
        shapes = yield from pricing_part(price_job(job))
        return (yield from timing_part(search_plans(job, count, shapes)))
    result = yield from _search_plans(job, count, shapes)
    if result.best or job.allows_tight or not shapes:
        return result
    return (yield from _search_plans(replace(job, allows_tight=True), count, shapes))


def _search_plans(job: PlanningJob, count: Count, shapes: list[PlanShape]) -> Slices[SearchResult]:
    # What is published is the first to beat: the best is never slower by the model's own word.
    best: list[Candidate] = []
    for candidate in recipe_candidates(job):
        keep_fastest(best, candidate, count)
    timed = seen = 0

    def worst() -> Seconds:
        return best[-1].step if len(best) == count else math.inf

    for shape in shapes:
        if shape.bound >= worst():
            break
        seen += 1
        for candidate in fitting_candidates(job, shape, below=worst):
            timed += 1
            keep_fastest(best, candidate, count)
        left = bisect_left(shapes, worst(), key=lambda candidate: candidate.bound)
        yield search_progress(
            seen, left, "{done} of at most {all} splits looked at, {timed} plans timed", timed
        )
    return SearchResult(job=job, best=tuple(best), timed=timed, shapes=len(shapes), examined=seen)


def search_progress(done: Count, total: Count, text: str, timed: Count = 0) -> Progress:
    """Return the progress of a search, with a text that names {done}, {all} and perhaps {timed}."""
    numbers = {"done": (float(done), COUNT), "all": (float(max(done, total)), COUNT)}
    timed_plans = {"timed": (float(timed), COUNT)} if "{timed}" in text else {}
    return Progress(
        share=done / max(done, total), text=Sentence(template=text, numbers=numbers | timed_plans)
    )


def shapes_within(limit: Seconds, shapes: list[PlanShape]) -> list[PlanShape]:
    """Return the shapes that may have a plan whose step is at most `limit`."""
    return shapes[: bisect_right(shapes, limit, key=lambda shape: shape.bound)]


def shape_plans_within(job: PlanningJob, limit: Seconds, shape: PlanShape) -> Iterator[Candidate]:
    """Return the plans of a shape that fit and whose step is at most `limit`."""
    fitting_plans = fitting_candidates(job, shape, below=lambda: limit)
    return (candidate for candidate in fitting_plans if candidate.step <= limit)


def best_by_split(job: PlanningJob, shapes: list[PlanShape]) -> Slices[Mapping[Split, Candidate]]:
    """Return the fastest fitting plan for each tensor and pipeline parallelism."""
    best: dict[Split, Candidate] = {}
    for candidate in sorted(recipe_candidates(job), key=plan_order):
        best.setdefault(
            (candidate.plan.tensor_parallel, candidate.plan.pipeline_parallel), candidate
        )
    for done, shape in enumerate(shapes):
        yield search_progress(done, len(shapes), "{done} of {all} splits looked at")
        tensor = shape.plan.tensor_parallel
        for candidate in fitting_candidates(job, shape, better_than=_limits(best, tensor)):
            cell = (tensor, candidate.plan.pipeline_parallel)
            if cell not in best or plan_order(candidate) < plan_order(best[cell]):
                best[cell] = candidate
    return best


def _limits(best: Mapping[Split, Candidate], tensor: Count) -> dict[Count, Seconds]:
    return {stages: candidate.step for (size, stages), candidate in best.items() if size == tensor}


def pareto_plans(job: PlanningJob, shapes: list[PlanShape]) -> Slices[tuple[Candidate, ...]]:
    """Return the Pareto-optimal plans by step time and memory, the fastest first."""
    front: list[Candidate] = []
    for candidate in recipe_candidates(job):
        _insert_into_front(front, candidate)
    for done, shape in enumerate(shapes):
        yield search_progress(done, len(shapes), "{done} of {all} splits looked at")
        for candidate in fitting_candidates(job, shape, front=front):
            _insert_into_front(front, candidate)
    return tuple(front)


def _insert_into_front(front: list[Candidate], candidate: Candidate) -> None:
    """Insert a plan into a Pareto front sorted by step, and remove dominated plans."""
    at = bisect_right(front, plan_order(candidate), key=plan_order)
    if at and front[at - 1].memory.total <= candidate.memory.total:
        return
    after = at
    while after < len(front) and front[after].memory.total >= candidate.memory.total:
        after += 1
    front[at:after] = [candidate]
