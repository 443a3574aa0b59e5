"""Compressed training: four GPUs that send less than their gradients, every number computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.core.inputs import PERCENT, Choice, Number, Switch
from engine.core.outputs import Teller, Told, Views
from engine.core.slices import Slices, part, whole
from engine.core.units import COUNT, Count, Share
from engine.core.views import Axis, Badge, Lines, Point, Scene, Series
from engine.draw.error_feedback import kept_back_scene
from engine.tiny.compressed import RANKS, RATE, STEPS, Compressed, training

TITLE = "Training on less than the gradient"
QUESTION = "What is lost if a GPU sends only a part of its gradient, and what brings it back?"
PRESETS_CITE = False
PRESETS = {
    "One number in fifty": {"method": "largest", "keep": 0.02},
    "One bit for each number": {"method": "signs"},
    "Every matrix as rank one": {"method": "low_rank", "rank": 1},
    "A quarter of the numbers: as many as all": {"method": "largest", "keep": 0.25},
}
Plain = Annotated[float, COUNT]
# A difference of losses below this is no loss.
_NOTHING = 0.03
_RUN: Mapping[str, Any] = {
    "assumes": (
        "Computed in double precision: {ranks} GPUs, one sequence each, {steps} steps.",
        "Plain gradient descent with a rate of {rate}, the same for all three trainings.",
    ),
    "basis": "simulated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    method: Annotated[
        str,
        Choice(
            label="Each GPU sends",
            cites=False,
            options={
                "largest": "its largest numbers (top-k)",
                "signs": "signs, and one scale a tensor",
                "low_rank": "thin factors (PowerSGD)",
            },
        ),
    ] = "largest"
    keep: Annotated[
        float,
        Number(
            label="Numbers that top-k keeps",
            unit=PERCENT,
            low=0.01,
            high=0.5,
            scale="log",
            symbol="κ",
        ),
    ] = 0.03
    rank: Annotated[
        int, Number(label="Rank of the factors", low=1, high=4, whole=True, symbol="r")
    ] = 1
    feedback: Annotated[
        bool,
        Switch(
            label="Show the GPU with error feedback",
            help="In the drawing of one GPU. The chart has both.",
        ),
    ] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Three trainings: everything sent, a part without and a part with error feedback."""

    whole: Compressed
    plain: Compressed
    fed: Compressed
    last_whole: Annotated[Plain, Told("Loss, everything sent", color="gradients", **_RUN)]
    last_plain: Annotated[Plain, Told("Loss, the rest thrown away", color="communication", **_RUN)]
    last_fed: Annotated[Plain, Told("Loss, the rest kept", color="parameters", **_RUN)]
    recovered: Annotated[
        Share,
        Told(
            "Error feedback brings back",
            note="of what throwing the rest away has cost",
            color="parameters",
            **_RUN,
        ),
    ]
    sent: Annotated[
        Count,
        Told(
            "Numbers sent by a GPU in a step",
            note="{dense} for the all-reduce of everything",
            color="communication",
            basis="simulated",
            assumes=(
                "Counted message by message. A place counts like a value; 32 signs are one number.",
            ),
        ),
    ]
    dense: Count
    first: Annotated[
        Share,
        Told(
            "The first sum is off by",
            note="of the length of the right one",
            color="communication",
            **_RUN,
        ),
    ]
    ranks: Count = RANKS
    steps: Count = STEPS
    rate: Plain = RATE


def solve(inputs: Inputs) -> Result:
    """Return the three trainings."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train three times."""
    everything = yield from part(training("whole").rest(), 0, 3)
    keep = inputs.keep if inputs.method == "largest" else 1.0
    rank = inputs.rank if inputs.method == "low_rank" else 1
    thrown_away = training(inputs.method, keep, rank, feedback=False)
    plain = yield from part(thrown_away.rest(), 1, 3)
    fed = yield from part(training(inputs.method, keep, rank).rest(), 2, 3)
    lost = plain.last - everything.last
    return Result(
        whole=everything,
        plain=plain,
        fed=fed,
        last_whole=everything.last,
        last_plain=plain.last,
        last_fed=fed.last,
        recovered=_recovered(plain.last - fed.last, lost),
        sent=fed.sent,
        dense=everything.sent,
        first=plain.off[0],
    )


def _recovered(back: float, lost: float) -> Share:
    """Return what is brought back of what is lost; all of it where the loss ends lower still."""
    return min(1.0, max(0.0, back / lost)) if lost > _NOTHING else 0.0


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result)
    return {
        **tell.values("recovered"),
        "verdict": _verdict(tell, result),
        "curve": partial(_curve, result),
        "scene": partial(_scene, inputs, result),
        **tell.values("last_whole", "last_plain", "last_fed", "sent", "first"),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    dear = " It sends no less than the all-reduce of everything." * (result.sent >= result.dense)
    if result.last_plain - result.last_whole <= _NOTHING:
        return Badge(
            text="Nothing lost",
            sentence=tell.say("What is thrown away was not needed in these {steps} steps." + dear),
            color="ink",
        )
    return Badge(
        text="Brought back" if result.recovered > 0.5 else "Partly brought back",
        sentence=tell.say(
            "Without the rest the loss ends at {last_plain} instead of {last_whole}. With error "
            "feedback it ends at {last_fed}." + dear
        ),
        color="parameters" if result.recovered > 0.5 else "communication",
    )


def _curve(result: Result) -> Lines:
    steps = tuple(float(step) for step in range(STEPS + 1))
    rows = (
        ("whole", "everything sent", result.whole, "gradients", True),
        ("plain", "the rest thrown away", result.plain, "communication", False),
        ("fed", "the rest kept", result.fed, "parameters", False),
    )
    most = max(max(run.losses) for _, _, run, _, _ in rows)
    return Lines(
        title="The loss of the same training, three times",
        x=Axis(label="step", quantity=COUNT, low=0.0, high=float(STEPS)),
        y=Axis(label="loss", quantity=COUNT, low=0.0, high=1.05 * most),
        series=tuple(
            Series(key=key, label=label, x=steps, y=run.losses, color=color, dashed=dashed)
            for key, label, run, color, dashed in rows
        ),
        points=tuple(
            Point(key=key, label="", x=float(STEPS), y=run.last, color=color)
            for key, _, run, color, _ in rows
        ),
    )


def _scene(inputs: Inputs, result: Result) -> Scene:
    run = result.fed if inputs.feedback else result.plain
    return kept_back_scene(run, feedback=inputs.feedback)
