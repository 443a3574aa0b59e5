"""The story of a startup with 64 H100s: four chapters, each a job with a deadline."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from engine.core.slices import SlicedRun, Slices, partial_progress
from engine.core.units import DAY, HOUR, Seconds
from engine.form.planner.answer import Answer
from engine.form.planner.inputs import PRESETS, Inputs, job_of, own_run
from engine.formulas.job import time_of_steps
from engine.run.limits import indivisible_sizes
from engine.run.plan_space import PlanningJob
from engine.run.problems import problems
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, run_candidate
from engine.simulate.planner.search import (
    search_plans,
    search_progress,
    shape_plans_within,
    shapes_within,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A job of the story with its deadline.

    Attributes:
        title: as the page names it.
        settings: of the planner's inputs.
        deadline: in which the run has to be done.
    """

    title: str
    settings: Mapping[str, Any]
    deadline: Seconds


CHAPTERS: Mapping[str, Chapter] = {
    "7b": Chapter(title="1. A 7B model", settings={}, deadline=16 * DAY),
    "context": Chapter(
        title="2. 128K of context",
        settings=PRESETS["128K of context"],
        deadline=36 * HOUR,
    ),
    "70b": Chapter(
        title="3. A 70B model",
        settings=PRESETS["70B on the same 64 GPUs"],
        deadline=17.8 * DAY,
    ),
    "network": Chapter(
        title="4. Half the network",
        settings=PRESETS["Half the network"],
        deadline=18.0 * DAY,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a plan in a chapter.

    Attributes:
        ending: in a word or two.
        time: of the whole run; 0 where it does not start.
        reached: in time.
    """

    ending: str
    time: Seconds
    reached: bool


def inputs_of(chapter: Chapter, own_plan: Mapping[str, Any]) -> Inputs:
    """Return the planner's inputs of a chapter, with a plan."""
    return replace(Inputs(), **{**chapter.settings, **own_plan})


def job_of_chapter(chapter: Chapter, own_plan: Mapping[str, Any]) -> tuple[PlanningJob, Run, float]:
    """Return the job of a chapter, the plan as its run, and the tokens of the whole run."""
    inputs = inputs_of(chapter, own_plan)
    job = job_of(inputs)
    return job, own_run(inputs, job), inputs.tokens


def chapter_outcome(chapter: Chapter, own_plan: Mapping[str, Any]) -> Outcome:
    """Return the result of a plan in a chapter, with a twentieth of the memory kept free."""
    job, run, tokens = job_of_chapter(chapter, own_plan)
    if indivisible_sizes(run.model, run.plan, run.training) or problems(
        run.model, run.cluster, run.plan, run.training
    ):
        return Outcome(ending="does not divide", time=0.0, reached=False)
    candidate = run_candidate(run, job.kept_free)
    if not candidate.fit.runs:
        return Outcome(ending="out of memory", time=0.0, reached=False)
    time = whole_run(job, tokens, candidate.step)
    reached = time <= chapter.deadline
    return Outcome(ending="in time" if reached else "too late", time=time, reached=reached)


def plans_in_time(
    answer: Answer, tokens: float, deadline: Seconds
) -> Slices[tuple[Candidate, ...]]:
    """Return the plans that finish a chapter in time, tight ones among them."""
    job = replace(answer.job, allows_tight=True)
    limit = deadline / whole_run(job, tokens, 1.0)
    good: list[Candidate] = []
    for done, shape in enumerate(near := shapes_within(limit, answer.shapes)):
        yield search_progress(done, len(near), "{done} of {all} splits looked at")
        good += shape_plans_within(job, limit, shape)
    return tuple(good)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterPlan:
    """The best plan of a chapter for one software, and its run; None where nothing fits."""

    chapter: Chapter
    plan: Candidate | None
    time: Seconds


@cache
def best_plans_search() -> SlicedRun[tuple[ChapterPlan, ...]]:
    """Return the search of every chapter, independent of the reader's plan."""
    return SlicedRun(_best_plans())


def _best_plans() -> Slices[tuple[ChapterPlan, ...]]:
    plans: list[ChapterPlan] = []
    every = 2 * len(CHAPTERS)
    for chapter in CHAPTERS.values():
        for framework in ("megatron", "fsdp"):
            job, _, tokens = job_of_chapter(chapter, {"framework": framework})
            yield search_progress(len(plans), every, "{done} of {all} searches done")
            best = (yield from partial_progress(search_plans(job, 1), len(plans), every)).best
            time = whole_run(job, tokens, best[0].step) if best else 0.0
            plans.append(ChapterPlan(chapter=chapter, plan=best[0] if best else None, time=time))
    return tuple(plans)


def whole_run(job: PlanningJob, tokens: float, step: Seconds) -> Seconds:
    """Return the time of all steps of a run, without failures."""
    training = job.training
    return time_of_steps(tokens, training.global_batch_size, training.sequence_length, step)
