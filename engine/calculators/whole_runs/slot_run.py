"""Slot run: a small job with failures, slot by slot, and the exact mean of all such jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Number, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, Count, Ratio
from engine.core.views import Badge, Line, Lines, Rule, Scale
from engine.draw.slot_board import board_scene
from engine.formulas.goodput import young_interval
from engine.simulate.job.slotted_run import (
    CHECKPOINT,
    FAILED,
    LOST,
    RESTART,
    SlotEvent,
    SlottedJob,
    mean_slots,
    slot_events,
)

TITLE = "A job in slots"
QUESTION = "How often should a small job save?"
HEADLINE = "total"
EQUATIONS = ()
WORK, LONGEST, MOST = 60, 30, 144
_PLAYED = (
    "A job of {work} slots of work; a checkpoint takes one slot, a restart two.",
    "Every slot is struck with the same chance, by a seeded sequence.",
)
_EXACT = (
    "The exact mean over all lives of the job: a row of slots without a failure, begun anew, after "
    "a restart, whenever it is struck.",
)
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Save after every slot": {"interval": 1},
    "Hardly ever a failure": {"apart": 200.0},
    "Another life": {"seed": 7},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    interval: Annotated[
        int, Number(label="Slots of work between checkpoints", low=1, high=LONGEST, whole=True)
    ] = 20
    apart: Annotated[
        float,
        Number(label="Slots between failures, on average", low=8, high=200, whole=True),
    ] = 20
    seed: Annotated[
        int,
        Number(label="Random seed", low=1, high=99, whole=True, help="Another life."),
    ] = 3


def _output(label: str, note: str = "", color: str = "ink") -> Output:
    return Output(label, "", note, color, _PLAYED, basis="simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The simulated job, and the mean time of such jobs."""

    job: SlottedJob
    happened: tuple[SlotEvent, ...]
    done: Count
    work: Count
    total: Annotated[Count, _output("Slots in all", "{work} of them would do")]
    checkpoints: Annotated[Count, _output("Slots of checkpoints", color="memory")]
    lost: Annotated[Count, _output("Slots lost", "work done again, and the slots that were struck")]
    restarts: Annotated[Count, _output("Slots of restarts")]
    failures: Annotated[Count, _output("Failures")]
    mean: Annotated[
        float, COUNT, Output("Mean of all lives", "", "slots", "ink", _EXACT, basis="simulated")
    ]
    best: Annotated[
        Count,
        Output(
            "Best interval",
            "",
            "with {best_mean} slots on average",
            "compute",
            ("Every interval was tried.", *_EXACT),
            basis="simulated",
        ),
    ]
    best_mean: Annotated[float, COUNT]
    young: Annotated[
        float,
        COUNT,
        Output(
            "Young's interval",
            "",
            "the square root of two times a checkpoint times the slots between failures",
            assumes=("First order: a checkpoint much shorter than the time between failures.",),
            sources=("young1974",),
        ),
    ]
    means: tuple[Ratio, ...]
    lives: tuple[float, ...]


def _job(inputs: Inputs) -> SlottedJob:
    return SlottedJob(
        work=WORK, interval=inputs.interval, checkpoint=1, restart=2, mtbf=float(inputs.apart)
    )


def solve(inputs: Inputs) -> Result:
    """Return the life of the job, and the mean for every interval."""
    job = _job(inputs)
    happened = tuple(slot_events(job, inputs.seed, MOST))
    slots = happened[-1].slots
    means = tuple(mean_slots(replace(job, interval=t)) for t in range(1, LONGEST + 1))
    lives = tuple(_life(replace(job, interval=t), inputs.seed) for t in range(1, LONGEST + 1))
    best = min(range(LONGEST), key=lambda t: means[t])
    return Result(
        job=job,
        happened=happened,
        done=happened[-1].done,
        work=WORK,
        total=len(slots),
        checkpoints=slots.count(CHECKPOINT),
        lost=slots.count(LOST) + slots.count(FAILED),
        restarts=slots.count(RESTART),
        failures=slots.count(FAILED),
        mean=mean_slots(job),
        best=best + 1,
        best_mean=means[best],
        young=round(young_interval(1.0, job.mtbf), 1),
        means=means,
        lives=lives,
    )


def _life(job: SlottedJob, seed: int) -> float:
    """Return the slots of a life, as far as the board goes."""
    return float(len(list(slot_events(job, seed, MOST))[-1].slots))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "board": partial(board_scene, result.job, result.happened),
        "verdict": _verdict(present, result),
        **present.values("total", "checkpoints", "lost", "restarts", "failures", "mean"),
        "curve": partial(_curve, present, inputs, result),
        **present.values("best", "young"),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.done < result.work:
        return Badge(
            text="Not done",
            sentence=present.say(
                "After {total} slots {done} of {work} are saved. On average such a job takes "
                "{mean} slots."
            ),
            color="communication",
        )
    return Badge(
        text=f"Done after {result.total} slots",
        sentence=present.say(
            "{work} of work, {checkpoints} of checkpoints, {lost} lost, {restarts} of restarts. "
            "On average such a job takes {mean} slots."
        ),
        color="compute",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    x = range(1, LONGEST + 1)
    shown = sum(mean <= MOST for mean in result.means) or 1
    means, lives = ([min(y, MOST) for y in column] for column in (result.means, result.lives))
    return present.curve(
        "Slots that the job takes, by the interval between checkpoints",
        over=Scale("best", "slots of work between checkpoints", 1.0, float(LONGEST)),
        shows=Scale(COUNT, "slots", 0.0, float(MOST)),
        x=x,
        lines=(
            Line("mean", "exact mean", means[:shown], "compute", x=x[:shown]),
            Line("life", "this life", lives, "muted", dashed=True),
        ),
        handle="interval",
        at=result.mean,
        now=say("{m} on average", m=(result.mean, COUNT)),
        marked=result.mean <= MOST,
        rules=(
            Rule(key="best", label=present.say("best: {best}"), axis="x", at=float(result.best)),
        ),
        caption="The mean is smooth. One life is not: a single failure may strike just before, or "
        "just after, a checkpoint. What takes longer than 144 slots is drawn at 144.",
    )
