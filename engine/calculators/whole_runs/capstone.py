"""Capstone: a startup, 64 H100s and four jobs, each with a deadline."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.core.inputs import Choice
from engine.core.outputs import Teller, Told, Views
from engine.core.slices import Running, Slices, whole
from engine.core.text import Text, say
from engine.core.units import COUNT, SECONDS, Money, Seconds
from engine.core.views import Badge, Cell, Challenge, Condition, Table, Value
from engine.form.fields import OwnConstants
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
from engine.form.planner.plan_text import SOFTWARE, name, reason
from engine.form.planner.story import (
    CHAPTERS,
    Best,
    Outcome,
    bests,
    in_time,
    inputs_of,
    job_of_chapter,
    outcome,
    whole_run,
)
from engine.form.run.prediction_text import ranged
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.step.prediction_evidence import Evidence

TITLE = "A startup with 64 H100s"
QUESTION = "Does my plan finish the job in time, and which others would?"
EQUATIONS = ()
_MODEL = ("The cost model of the site; nothing fails, and nothing is evaluated meanwhile.",)
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
    """What the reader can change."""

    chapter: Annotated[
        str,
        Choice(
            label="Chapter", cites=False, options={key: one.title for key, one in CHAPTERS.items()}
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
    """The chapter as the plan leaves it.

    Attributes:
        good: all plans that end it in time.
        bests: the best plan of every chapter, with either software.
    """

    found: Answer
    good: Running[tuple[Candidate, ...]]
    bests: Running[tuple[Best, ...]]
    own: Outcome
    every: tuple[Outcome, ...]
    time: Annotated[Seconds, Told("The run takes", "", "{deadline} are left", "ink", _MODEL)]
    deadline: Annotated[Seconds, Told("Deadline", assumes=("The story sets it.",))]
    best_time: Annotated[Seconds, Told("With the best plan", color="compute", assumes=_MODEL)]
    cost: Annotated[Money, Told("It costs", "", "at 2 per GPU-hour", "ink", _MODEL)]


def _own(inputs: Inputs) -> dict[str, Any]:
    names = [key for key in Inputs.__dataclass_fields__ if key.startswith("own_")]
    return {key: getattr(inputs, key) for key in names}


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Find every number of the page."""
    own, chapter = _own(inputs), CHAPTERS[inputs.chapter]
    job, _, tokens = job_of_chapter(chapter, own)
    found = yield from answer(inputs_of(chapter, own))
    every = tuple(outcome(one, own) for one in CHAPTERS.values())
    here = every[list(CHAPTERS).index(inputs.chapter)]
    return Result(
        found=found,
        good=Running(in_time(found, tokens, chapter.deadline)),
        bests=bests(),
        own=here,
        every=every,
        time=here.time,
        deadline=chapter.deadline,
        best_time=whole_run(job, tokens, found.step),
        cost=here.time * job.cluster.price_per_hour * job.world_size,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    never: dict[str, Any] = {} if result.own.time else {"note": "it never starts"}
    return {
        "ending": _ending(result),
        "time": tell.value("time", **never)
        if never
        else _ranged(tell, "time", result.found.own_evidence),
        **tell.values("deadline"),
        "best_time": _ranged(tell, "best_time", result.found.evidence),
        "cost": tell.value("cost", **never),
        "chapters": _chapters(result),
        "versus": pictures.versus(result.found),
        "filled": partial(pictures.filled, result.found),
        "why": pictures.why(result.found),
        "others": partial(_others, result),
        "bests": partial(_bests, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _ranged(tell: Teller, name: str, evidence: Evidence | None) -> Value:
    return ranged(tell, name, evidence, assumes=_MODEL) if evidence else tell.value(name)


def _ending(result: Result) -> Badge:
    own = result.own
    if not own.time:
        return Badge(
            text="It never starts", sentence=reason(result.found.why), color="communication"
        )
    numbers = {
        "t": (own.time, SECONDS),
        "d": (result.deadline, SECONDS),
        "b": (result.best_time, SECONDS),
    }
    sentence = say("{t}, with {d} to the deadline. The best plan would take {b}.", **numbers)
    text = "Done in time" if own.reached else "Too late"
    return Badge(text=text, sentence=sentence, color="compute" if own.reached else "communication")


def _chapters(result: Result) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for chapter, one in zip(CHAPTERS.values(), result.every, strict=True):
        time: Text = say("{t}", t=(one.time, SECONDS)) if one.time else "-"
        due = say("{d}", d=(chapter.deadline, SECONDS))
        rows.append((chapter.title, one.ending, time, due))
    return Table(
        title="Your plan in every chapter",
        columns=("Chapter", "Ending", "The run takes", "Deadline"),
        rows=tuple(rows),
    )


def _others(result: Result) -> Slices[Badge]:
    """Find how many plans end the chapter in time, and how different they are."""
    good = yield from result.good.rest()
    splits = {(one.plan.tensor_parallel, one.plan.pipeline_parallel) for one in good}
    names = " and ".join(sorted({SOFTWARE[one.training.framework] for one in good}))
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


def _bests(result: Result) -> Slices[Table]:
    rows: list[tuple[Cell, ...]] = []
    for found in (yield from result.bests.rest()):
        one = found.plan
        told: Cell = say("{t}", t=(found.time, SECONDS)) if one else "nothing fits"
        rows.append((found.chapter.title, told, name(one.plan, one.training) if one else ""))
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
            Condition(text="it fits, with 5 % of the memory kept free", met=result.own.time > 0),
            Condition(
                text=say("done within {d}", d=(CHAPTERS["network"].deadline, SECONDS)),
                met=result.own.reached and inputs.chapter == "network",
            ),
        ),
        hints=(
            "What is the largest part of the memory, and which axes divide it?",
            "Tensor parallelism of eight makes small products and many waits. Try half of it.",
            "More stages need pieces: interleave.",
        ),
        start=START,
        solution=SOLUTION,
    )
