"""Vanishing updates: a weight that never moves although it is updated a thousand times."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import COUNT, SHARE, Count, with_digits
from engine.core.views import Axis, Badge, Lines, Point, Series
from engine.simulate.numerics.number_format import FORMATS, spacing_at
from engine.simulate.numerics.small_updates import WeightHistory, accumulate_updates

TITLE = "The vanishing update"
QUESTION = "What happens to a weight whose updates are smaller than its last bit?"
HEADLINE = "limit"
PRESETS = {
    "The same update in fp16": {"number_format": "fp16"},
    "An update just large enough": {"update": 0.004},
    "A weight in FP8 E4M3": {"number_format": "e4m3", "update": 0.01},
}
_WEIGHT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    number_format: Annotated[
        str,
        Choice(
            label="Weight kept in",
            options={key: form.name for key, form in FORMATS.items() if key != "e2m1"},
        ),
    ] = "bf16"
    update: Annotated[
        float,
        Number(
            label="Update, of the weight",
            unit=PERCENT,
            low=1e-6,
            high=0.2,
            scale="log",
            symbol="u",
        ),
    ] = 0.001
    steps: Annotated[
        int, Number(label="Steps", low=10, high=5000, scale="log", whole=True, symbol="n")
    ] = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The course of the weight.

    Attributes:
        history: all of it.
    """

    history: WeightHistory
    limit: Annotated[
        float,
        with_digits(SHARE, 3),
        Output(
            "Updates below this vanish",
            note="of a weight of 1: half of the step to the next number",
            color="buffers",
            assumes=(
                "Rounded to the nearest; half a step above a weight of 1. For weights elsewhere "
                "between two powers of two the share is up to half as large.",
            ),
            sources=("ieee754",),
        ),
    ]
    exact: Annotated[
        float,
        COUNT,
        Output("Exact", assumes=("One plus steps times update.",)),
    ]
    nearest: Annotated[
        float,
        COUNT,
        Output(
            "Rounded to the nearest",
            color="buffers",
            basis="simulated",
            assumes=("The weight is rounded to its format after every step.",),
        ),
    ]
    stochastic: Annotated[
        float,
        COUNT,
        Output(
            "Rounded by chance",
            color="activations",
            basis="simulated",
            assumes=(
                "Up with the probability of the distance that is left behind; a seeded sequence.",
            ),
        ),
    ]
    master: Annotated[
        float,
        COUNT,
        Output(
            "With a copy in fp32",
            color="optimizer",
            basis="simulated",
            assumes=("The copy is updated; the format shows it rounded.",),
            sources=("micikevicius2018",),
        ),
    ]
    gap: float
    shown: Count


def solve(inputs: Inputs) -> Result:
    """Return the trajectory of a weight with initial value 1."""
    weights = accumulate_updates(
        inputs.number_format, _WEIGHT, inputs.update * _WEIGHT, inputs.steps
    )
    form = FORMATS[inputs.number_format]
    return Result(
        history=weights,
        limit=form.half_step,
        exact=weights.exact[-1],
        nearest=weights.nearest[-1],
        stochastic=weights.stochastic[-1],
        master=weights.master[-1],
        gap=spacing_at(form, _WEIGHT),
        shown=len(weights.steps),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the course, and where it ends."""
    present = Presenter(inputs, result)
    return {
        "verdict": _verdict(present, inputs, result),
        **present.values("limit", "exact", "nearest", "stochastic", "master"),
        "curve": partial(_curve, present, inputs, result),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if result.nearest == _WEIGHT:
        words = "The rounded weight is where it began; without rounding it would be "
        return Badge(
            text="Nothing moves", sentence=present.say(words + "{exact}."), color="buffers"
        )
    off = abs(result.nearest / result.exact - 1)
    if off > 0.02:
        words = "The rounded weight ends at {nearest}; without rounding it would be {exact}."
        return Badge(text="It goes astray", sentence=present.say(words), color="communication")
    words = "The rounded weight ends at {nearest}, close to the exact {exact}."
    return Badge(text="It moves", sentence=present.say(words), color="activations")


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    weights = result.history
    steps = tuple(float(step) for step in weights.steps)
    looks = (
        ("exact", "exact", weights.exact, "ink", True),
        ("master", "copy in fp32", weights.master, "optimizer", False),
        ("stochastic", "rounded by chance", weights.stochastic, "activations", False),
        ("nearest", "rounded to the nearest", weights.nearest, "buffers", False),
    )
    top = max(max(column) for _, _, column, _, _ in looks)
    return Lines(
        title="A weight under many small updates",
        x=Axis(label="steps", quantity=COUNT, low=0, high=inputs.steps),
        y=Axis(label="weight", quantity=COUNT, low=0.95, high=max(1.02 * top, 1.05)),
        series=tuple(
            Series(key=key, label=label, x=steps, y=column, color=color, dashed=dashed)
            for key, label, column, color, dashed in looks
        ),
        points=(Point(key="end", label=present.say("{nearest}"), x=steps[-1], y=result.nearest),),
        caption=present.say(
            "Each step adds {update} of the first weight. In this format, numbers just above 1 are "
            "{gap} apart.",
            gap=(result.gap, COUNT),
        ),
    )
