"""The story of a startup with 64 H100s: four chapters, each a job with a deadline."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from engine.core.slices import Running, Slices, part
from engine.core.units import DAY, HOUR, Seconds
from engine.form.planner.answer import Answer
from engine.form.planner.inputs import PRESETS, Inputs, job_of, own_run
from engine.run.limits import impossible
from engine.run.plan_space import Job
from engine.run.problems import problems
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, one_candidate
from engine.simulate.planner.search import at, reaching, searching, within_shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """One job of the story.

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
        deadline=17.8 * DAY,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a plan makes of a chapter.

    Attributes:
        ending: in a word or two.
        time: of the whole run; 0 where it does not start.
        reached: in time.
    """

    ending: str
    time: Seconds
    reached: bool


def inputs_of(chapter: Chapter, own: Mapping[str, Any]) -> Inputs:
    """Return the planner's inputs of a chapter, with a plan."""
    return replace(Inputs(), **{**chapter.settings, **own})


def job_of_chapter(chapter: Chapter, own: Mapping[str, Any]) -> tuple[Job, Run, float]:
    """Return the job of a chapter, the plan as its run, and the tokens of the whole run."""
    inputs = inputs_of(chapter, own)
    job = job_of(inputs)
    return job, own_run(inputs, job), inputs.tokens


def outcome(chapter: Chapter, own: Mapping[str, Any]) -> Outcome:
    """Return what a plan makes of a chapter, with a twentieth of the memory kept free."""
    job, run, tokens = job_of_chapter(chapter, own)
    if impossible(run.model, run.plan, run.training) or problems(
        run.model, run.cluster, run.plan, run.training
    ):
        return Outcome(ending="does not divide", time=0.0, reached=False)
    one = one_candidate(run)
    if one.held.total > one.room * (1 - job.kept_free):
        return Outcome(ending="out of memory", time=0.0, reached=False)
    time = whole_run(job, tokens, one.step)
    reached = time <= chapter.deadline
    return Outcome(ending="in time" if reached else "too late", time=time, reached=reached)


def in_time(found: Answer, tokens: float, deadline: Seconds) -> Slices[tuple[Candidate, ...]]:
    """Find all plans that end a chapter in time."""
    job = found.job
    limit = deadline / whole_run(job, tokens, 1.0)
    good: list[Candidate] = []
    for done, shape in enumerate(near := reaching(limit, found.shapes)):
        yield at(done, len(near), "{done} of {all} splits looked at")
        good += within_shape(job, limit, shape)
    return tuple(good)


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The best plan of a chapter with one software, and the whole run; None where nothing fits."""

    chapter: Chapter
    plan: Candidate | None
    time: Seconds


@cache
def bests() -> Running[tuple[Best, ...]]:
    """Return the search of every chapter, which is the same whatever the reader's plan is."""
    return Running(_bests())


def _bests() -> Slices[tuple[Best, ...]]:
    found: list[Best] = []
    every = 2 * len(CHAPTERS)
    for chapter in CHAPTERS.values():
        for framework in ("megatron", "fsdp"):
            job, _, tokens = job_of_chapter(chapter, {"framework": framework})
            yield at(len(found), every, "{done} of {all} searches done")
            best = (yield from part(searching(job, 1), len(found), every)).best
            time = whole_run(job, tokens, best[0].step) if best else 0.0
            found.append(Best(chapter=chapter, plan=best[0] if best else None, time=time))
    return tuple(found)


def whole_run(job: Job, tokens: float, step: Seconds) -> Seconds:
    """Return the time of all steps of a run, without failures."""
    return tokens / (job.training.global_batch_size * job.training.sequence_length) * step
