"""Capstone: a startup, 64 H100s and four jobs, each with a deadline."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import SlicedRun, Slices, run_to_end
from engine.core.text import Text, say
from engine.core.units import COUNT, SECONDS, Money, Seconds
from engine.core.views import Badge, Cell, Challenge, Condition, Table, Value
from engine.form.fields import OwnConstants
from engine.form.plan_to_reality import NO_LOSSES
from engine.form.planner import pictures
from engine.form.planner.answer import Answer, answer
from engine.form.planner.inputs import (
    OwnContext,
    OwnFramework,
    OwnMicroBatch,
    OwnPieces,
    OwnPipeline,
    OwnRecompute,
    OwnTensor,
    OwnZero,
)
from engine.form.planner.plan_text import SOFTWARE, plan_name, reason_text
from engine.form.planner.story import (
    CHAPTERS,
    ChapterPlan,
    Outcome,
    best_plans_search,
    chapter_outcome,
    inputs_of,
    job_of_chapter,
    plans_in_time,
    whole_run,
)
from engine.form.run.prediction_text import value_with_range
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.step.prediction_evidence import Evidence

TITLE = "A startup with 64 H100s"
QUESTION = "Does my plan finish the job in time, and which others would?"
HEADLINE = "time"
EQUATIONS = ()
_MODEL = ("The cost model of the site.", NO_LOSSES)
_PLAIN = {"own_tensor": "1", "own_pipeline": "1", "own_zero": "1", "own_micro_batch": "1"}
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "Data parallelism and ZeRO-1": _PLAIN,
    "FSDP": {**_PLAIN, "own_framework": "fsdp", "own_zero": "3"},
    "A sequence over eight GPUs": {
        **_PLAIN,
        "chapter": "context",
        "own_tensor": "2",
        "own_context": "8",
    },
    "Every axis a little": {
        **_PLAIN,
        "chapter": "70b",
        "own_tensor": "4",
        "own_pipeline": "4",
        "own_pieces": "4",
        "own_context": "2",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    chapter: Annotated[
        str,
        Choice(
            label="Chapter",
            cites=False,
            options={key: chapter.title for key, chapter in CHAPTERS.items()},
        ),
    ] = "7b"
    own_framework: OwnFramework = "megatron"
    own_tensor: OwnTensor = "8"
    own_pipeline: OwnPipeline = "2"
    own_pieces: OwnPieces = "1"
    own_context: OwnContext = "1"
    own_zero: OwnZero = "1"
    own_micro_batch: OwnMicroBatch = "1"
    own_recompute: OwnRecompute = "none"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Outcome of the chapter with the plan.

    Attributes:
        good: all plans that end it in time.
        bests: the best plan of every chapter, with either software.
    """

    best: Answer
    good: SlicedRun[tuple[Candidate, ...]]
    bests: SlicedRun[tuple[ChapterPlan, ...]]
    outcome: Outcome
    every: tuple[Outcome, ...]
    time: Annotated[Seconds, Output("The run takes", "", "{deadline} are left", "ink", _MODEL)]
    deadline: Annotated[Seconds, Output("Deadline", assumes=("The story sets it.",))]
    best_time: Annotated[Seconds, Output("With the best plan", color="compute", assumes=_MODEL)]
    cost: Annotated[Money, Output("It costs", "", "at 2 per GPU-hour", "ink", _MODEL)]


def _own_plan(inputs: Inputs) -> dict[str, Any]:
    names = [key for key in Inputs.__dataclass_fields__ if key.startswith("own_")]
    return {key: getattr(inputs, key) for key in names}


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Find every number of the page."""
    plan, chapter = _own_plan(inputs), CHAPTERS[inputs.chapter]
    job, _, tokens = job_of_chapter(chapter, plan)
    best = yield from answer(inputs_of(chapter, plan))
    every = tuple(chapter_outcome(game_chapter, plan) for game_chapter in CHAPTERS.values())
    here = every[list(CHAPTERS).index(inputs.chapter)]
    return Result(
        best=best,
        good=SlicedRun(plans_in_time(best, tokens, chapter.deadline)),
        bests=best_plans_search(),
        outcome=here,
        every=every,
        time=here.time,
        deadline=chapter.deadline,
        best_time=whole_run(job, tokens, best.step),
        cost=here.time * job.cluster.price_per_hour * job.world_size,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    never: dict[str, Any] = {} if result.outcome.time else {"note": "it never starts"}
    return {
        "ending": _outcome_verdict(result),
        "time": present.value("time", **never)
        if never
        else _ranged_value(present, "time", result.best.own_evidence),
        **present.values("deadline"),
        "best_time": _ranged_value(present, "best_time", result.best.evidence),
        "cost": present.value("cost", **never),
        "chapters": _chapters(result),
        "versus": pictures.step_comparison(result.best),
        "filled": partial(pictures.memory_comparison, result.best),
        "why": pictures.plan_verdict(result.best),
        "others": partial(_good_plans, result),
        "bests": partial(_best_plans, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _ranged_value(present: Presenter, name: str, evidence: Evidence | None) -> Value:
    return (
        value_with_range(present, name, evidence, assumes=_MODEL)
        if evidence
        else present.value(name)
    )


def _outcome_verdict(result: Result) -> Badge:
    outcome = result.outcome
    if not outcome.time:
        return Badge(
            text="It never starts", sentence=reason_text(result.best.why), color="communication"
        )
    numbers = {
        "t": (outcome.time, SECONDS),
        "d": (result.deadline, SECONDS),
        "b": (result.best_time, SECONDS),
    }
    sentence = say("{t}, with {d} to the deadline. The best plan would take {b}.", **numbers)
    text = "Done in time" if outcome.reached else "Too late"
    return Badge(
        text=text, sentence=sentence, color="compute" if outcome.reached else "communication"
    )


def _chapters(result: Result) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for chapter, outcome in zip(CHAPTERS.values(), result.every, strict=True):
        time: Text = say("{t}", t=(outcome.time, SECONDS)) if outcome.time else "-"
        due = say("{d}", d=(chapter.deadline, SECONDS))
        rows.append((chapter.title, outcome.ending, time, due))
    return Table(
        title="Your plan in every chapter",
        columns=("Chapter", "Ending", "The run takes", "Deadline"),
        rows=tuple(rows),
    )


def _good_plans(result: Result) -> Slices[Badge]:
    """Count the plans that end the chapter in time, and their variety."""
    good = yield from result.good.rest()
    splits = {(run.plan.tensor_parallel, run.plan.pipeline_parallel) for run in good}
    names = " and ".join(sorted({SOFTWARE[run.training.framework] for run in good}))
    return Badge(
        text="Several endings" if len(splits) > 1 else "One way",
        sentence=say(
            "{n} plans end this chapter in time. They are {s} splits into tensor and pipeline "
            f"parallelism, with {names or 'no software'}.",
            n=(len(good), COUNT),
            s=(len(splits), COUNT),
        ),
        color="compute",
    )


def _best_plans(result: Result) -> Slices[Table]:
    rows: list[tuple[Cell, ...]] = []
    for best in (yield from result.bests.rest()):
        plan = best.plan
        time: Cell = say("{t}", t=(best.time, SECONDS)) if plan else "nothing fits"
        rows.append((best.chapter.title, time, plan_name(plan.plan, plan.training) if plan else ""))
    return Table(
        title="The best plan of every chapter, with either software",
        columns=("Chapter", "The run takes", "Plan"),
        rows=tuple(rows),
    )


START: Mapping[str, Any] = {
    "chapter": "network",
    "own_framework": "megatron",
    "own_tensor": "8",
    "own_pipeline": "2",
    "own_pieces": "1",
    "own_context": "1",
    "own_zero": "1",
    "own_micro_batch": "1",
    "own_recompute": "none",
}
SOLUTION: Mapping[str, Any] = {
    **START,
    "own_tensor": "4",
    "own_pipeline": "4",
    "own_pieces": "2",
    "own_context": "2",
}


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    return Challenge(
        title="The last chapter",
        goal="Half of the network is gone. Finish the 70B run before its deadline, on the same "
        "64 GPUs.",
        conditions=(
            Condition(text="70B, half the network", met=inputs.chapter == "network"),
            Condition(
                text="it fits, with 5 % of the memory kept free", met=result.outcome.time > 0
            ),
            Condition(
                text=say("done within {d}", d=(CHAPTERS["network"].deadline, SECONDS)),
                met=result.outcome.reached and inputs.chapter == "network",
            ),
        ),
        hints=(
            "What is the largest part of the memory, and which axes divide it?",
            "Tensor parallelism of eight makes small products and many waits. Try half of it.",
            "More stages need virtual stages: interleave.",
        ),
        start=START,
        solution=SOLUTION,
    )
