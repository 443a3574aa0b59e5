"""Compressed training: four GPUs that send less than their gradients, every number computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.catalog.models import TINY_260
from engine.core.inputs import PERCENT, Choice, Number, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import Slices, partial_progress, run_to_end
from engine.core.units import COUNT, Count, Share
from engine.core.views import Axis, Badge, Frame, Lines, Point, Scene, Series, Shape
from engine.draw.shapes import text
from engine.tiny.compressed import (
    RANKS,
    RATE,
    STEPS,
    CompressedStep,
    CompressedTraining,
    start_training,
)
from engine.tiny.layout import OUTPUT, part_range

_STEPS = 14
_WIDTH, _HEIGHT = 640.0, 340.0
_LEFT, _ROW, _TOP = 16.0, 108.0, 32.0
_HALF = 34.0
_ROWS = (
    ("wanted", "its gradient, and what it still owes", "c-gradients"),
    ("sent", "sent", "c-communication"),
    ("left", "not sent", "c-buffers"),
)


def kept_back_scene(run: CompressedTraining, *, feedback: bool) -> Scene:
    """Return the first steps of the first rank: 32 of its 260 numbers, as bars up and down.

    Without feedback what is not sent is lost, and the first row is the gradient alone.
    """
    places = part_range(TINY_260, OUTPUT)[-32:]
    moments = run.moments[:_STEPS]
    largest = max(abs(moment.wanted[i]) for moment in moments for i in places) or 1.0
    frames = tuple(
        _frame(at, moment, places, largest, feedback=feedback) for at, moment in enumerate(moments)
    )
    fate = "and is added to its next gradient" if feedback else "and is lost"
    return Scene(
        title="One GPU, fourteen steps",
        width=_WIDTH,
        height=_HEIGHT,
        frames=frames,
        caption=f"The 32 weights of the output matrix. What is not sent stays behind {fate}.",
    )


def _frame(
    at: int, moment: CompressedStep, places: Sequence[int], largest: float, *, feedback: bool
) -> Frame:
    shapes: list[Shape] = [text("step", _WIDTH - 8, 22, 21, f"step {at + 1}", "end")]
    for row, (name, words, color) in enumerate(_ROWS):
        numbers = [getattr(moment, name)[i] for i in places]
        middle = _TOP + row * _ROW + 20 + _HALF
        if name == "wanted" and not feedback:
            words = "its gradient"
        if name == "left" and not feedback:
            words = "lost"
        shapes.append(text(f"{name} words", _LEFT, middle - _HALF - 6, 21, words, "start"))
        shapes.append(_line(f"{name} zero", middle))
        shapes.append(_bars(name, numbers, middle, largest, color))
    count = sum(1 for i in places if moment.sent[i])
    return Frame(
        caption=f"Step {at + 1}: of these {len(places)} numbers {count} are sent.",
        shapes=tuple(shapes),
    )


def _line(key: str, y: float) -> Shape:
    attributes = {"d": f"M{_LEFT:g} {y:g}H{_WIDTH - _LEFT:g}", "class": "port"}
    return Shape(key=key, tag="path", attributes=attributes)


def _bars(key: str, numbers: Sequence[float], middle: float, largest: float, color: str) -> Shape:
    each = (_WIDTH - 2 * _LEFT) / len(numbers)
    parts = []
    for i, number in enumerate(numbers):
        height = _HALF * max(-1.0, min(1.0, number / largest))
        if abs(height) >= 0.3:
            parts.append(f"M{_LEFT + (i + 0.5) * each:.0f} {middle:.0f}v{-height:.1f}")
    attributes = {
        "d": "".join(parts) or f"M{_LEFT:g} {middle:g}v0",
        "stroke": "currentColor",
        "stroke-width": f"{0.6 * each:.1f}",
        "fill": "none",
        "class": color,
    }
    return Shape(key=key, tag="path", attributes=attributes)


TITLE = "Training on less than the gradient"
QUESTION = "What is lost if a GPU sends only a part of its gradient, and what brings it back?"
HEADLINE = "recovered"
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
    """The calculator's inputs."""

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

    whole: CompressedTraining
    plain: CompressedTraining
    fed: CompressedTraining
    last_whole: Annotated[Plain, Output("Loss, everything sent", color="gradients", **_RUN)]
    last_plain: Annotated[
        Plain, Output("Loss, the rest thrown away", color="communication", **_RUN)
    ]
    last_fed: Annotated[Plain, Output("Loss, the rest kept", color="parameters", **_RUN)]
    recovered: Annotated[
        Share,
        Output(
            "Error feedback brings back",
            note="of what throwing the rest away has cost",
            color="parameters",
            **_RUN,
        ),
    ]
    sent: Annotated[
        Count,
        Output(
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
        Output(
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
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train three times."""
    everything = yield from partial_progress(start_training("whole").rest(), 0, 3)
    keep = inputs.keep if inputs.method == "largest" else 1.0
    rank = inputs.rank if inputs.method == "low_rank" else 1
    thrown_away = start_training(inputs.method, keep, rank, feedback=False)
    plain = yield from partial_progress(thrown_away.rest(), 1, 3)
    fed = yield from partial_progress(start_training(inputs.method, keep, rank).rest(), 2, 3)
    lost = plain.last - everything.last
    return Result(
        whole=everything,
        plain=plain,
        fed=fed,
        last_whole=everything.last,
        last_plain=plain.last,
        last_fed=fed.last,
        recovered=_recovered_share(plain.last - fed.last, lost),
        sent=fed.sent,
        dense=everything.sent,
        first=plain.off[0],
    )


def _recovered_share(back: float, lost: float) -> Share:
    """Return the recovered share of the lost loss, at most all of it."""
    return min(1.0, max(0.0, back / lost)) if lost > _NOTHING else 0.0


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("recovered"),
        "verdict": _verdict(present, result),
        "curve": partial(_curve, result),
        "scene": partial(_scene, inputs, result),
        **present.values("last_whole", "last_plain", "last_fed", "sent", "first"),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    dear = " It sends no less than the all-reduce of everything." * (result.sent >= result.dense)
    if result.last_plain - result.last_whole <= _NOTHING:
        return Badge(
            text="Nothing lost",
            sentence=present.say(
                "What is thrown away was not needed in these {steps} steps." + dear
            ),
            color="ink",
        )
    return Badge(
        text="Brought back" if result.recovered > 0.5 else "Partly brought back",
        sentence=present.say(
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
