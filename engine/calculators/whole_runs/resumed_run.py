"""Resumed run: what a checkpoint has to hold so that a training goes on as if nothing happened."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import Slices, run_to_end
from engine.core.units import COUNT, Count
from engine.core.views import Axis, Badge, Lines, Rule, Series
from engine.tiny.resumed import (
    AFTER,
    BATCH,
    BEFORE,
    MISSING,
    RANKS,
    RATE,
    ResumedTraining,
    resume,
)

TITLE = "Stopped, and resumed"
QUESTION = "Is it the same training as without the stop, and which step would show it?"
HEADLINE = "verdict"
PRESETS = {
    "All restored, the same GPUs": {"missing": "nothing"},
    "All restored, one GPU lost": {"missing": "nothing", "ranks": 3},
    "Two GPUs lost, the batch shrinks": {"missing": "nothing", "ranks": 2, "batch": "gpu"},
    "Only weights were saved": {"missing": "moments"},
}
_TRAINED = (
    "A model of {parameters} parameters, {steps} steps of Adam with a warm-up and a cosine, in "
    "double precision; a stop after {before}.",
)
Plain = Annotated[float, COUNT]
# Differences of parameters up to here are of the order of sums. How large they are depends on the
# machine's exponential, so they count as none.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    missing: Annotated[
        str, Choice(label="The checkpoint lacks", cites=False, options=dict(MISSING))
    ] = "place"
    ranks: Annotated[
        int,
        Number(label="GPUs after the stop", low=1, high=8, whole=True, help=f"{RANKS} before it."),
    ] = RANKS
    batch: Annotated[
        str,
        Choice(
            label="The batch after it",
            cites=False,
            options={"global": "as large as before", "gpu": "as large per GPU as before"},
        ),
    ] = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The resumed training beside the same without a stop."""

    training: ResumedTraining
    first: Annotated[
        Count,
        Output(
            "First step that shows it",
            note="its loss differs; 0: none does",
            color="bad",
            basis="simulated",
            assumes=(*_TRAINED, "Differences below one part in a billion are rounding."),
        ),
    ]
    off: Annotated[
        Plain,
        Output(
            "Largest difference of a parameter",
            note="at the end; a step moves one by about {rate} at most",
            color="parameters",
            basis="simulated",
            assumes=(*_TRAINED, "Differences up to {rounding} are rounding and count as 0."),
        ),
    ]
    last: Annotated[
        Plain,
        Output(
            "Loss of the last step",
            note="{straight} without a stop",
            basis="simulated",
            assumes=(*_TRAINED, "The loss of that step's own batch."),
        ),
    ]
    twice: Annotated[
        Count,
        Output(
            "Sequences read twice",
            note="in one epoch; as many are never read",
            color="data",
            basis="simulated",
            assumes=("{epoch} sequences, shuffled once; a step reads {batch_before}.",),
        ),
    ]
    straight: Plain
    batch_after: Count
    rate: Plain = RATE
    parameters: Count = 260
    steps: Count = BEFORE + AFTER
    before: Count = BEFORE
    batch_before: Count = BATCH
    epoch: Count = 56
    rounding: Plain = ROUNDING


def _batch(inputs: Inputs) -> Count:
    """Return the sequences of a step after the stop."""
    return BATCH if inputs.batch == "global" else BATCH * inputs.ranks // RANKS


def solve(inputs: Inputs) -> Result:
    """Return the training, stopped and resumed."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train, and find every number of the page."""
    training = yield from resume(inputs.missing, inputs.ranks, _batch(inputs))
    return Result(
        training=training,
        first=training.first,
        off=training.off if training.off > ROUNDING else 0.0,
        last=training.losses[-1],
        twice=training.read_twice,
        straight=training.straight[-1],
        batch_after=_batch(inputs),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        "verdict": partial(_verdict, present, inputs, result),
        "curve": partial(_curve, result),
        **present.values("first", "off", "last", "twice"),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if result.training.same_bits:
        return Badge(
            text="The same training, to the last bit",
            sentence="All weights are those of a run that never stopped.",
            color="parameters",
        )
    if not result.first:
        return Badge(
            text="The same training, but for rounding",
            sentence=present.say(
                "{ranks} GPUs add the gradients in another order than before the stop. No "
                "parameter differs by more than {rounding} at the end."
            ),
            color="parameters",
        )
    if inputs.missing == "nothing":
        return Badge(
            text="Another training",
            sentence=present.say(
                "A step has {batch_after} sequences in place of {batch_before}, at the same "
                "learning rate. Step {first} is the first that shows it."
            ),
            color="data",
        )
    return Badge(
        text="Another training",
        sentence=present.say(
            f"Without {MISSING[inputs.missing]}, step {{first}} is the first whose loss differs. "
            "The curve goes on as if nothing had happened."
        ),
        color="bad",
    )


def _curve(result: Result) -> Lines:
    straight, losses = result.training.straight, result.training.losses
    after = tuple(float(BEFORE + step + 1) for step in range(len(losses)))
    every = tuple(float(step + 1) for step in range(len(straight)))
    low, high = min(*straight, *losses), max(*straight, *losses)
    room = 0.08 * (high - low)
    return Lines(
        title="Loss of each step",
        x=Axis(label="step", quantity=COUNT, low=1.0, high=float(len(straight))),
        y=Axis(label="loss", quantity=COUNT, low=low - room, high=high + room),
        series=(
            Series(
                key="straight",
                label="without a stop",
                x=every,
                y=straight,
                color="muted",
                dashed=True,
            ),
            Series(key="resumed", label="resumed", x=after, y=losses, color="parameters"),
        ),
        rules=(Rule(key="stop", label="the stop", axis="x", at=BEFORE + 0.5, color="bad"),),
        caption="Each step has a batch of its own, so the curve is uneven in any case.",
    )
