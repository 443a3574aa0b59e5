"""The estimator: a noise scale from the lengths of gradients at two batch sizes."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, Share
from engine.core.views import Badge, Lines, Point, Rule, Series
from engine.form.adjusted_inputs import with_changes
from engine.simulate.numerics.noisy_descent import NoiseEstimate, estimate_noise_scale

TITLE = "The noise scale, estimated"
QUESTION = "How many measurements does an estimate of the noise scale need?"
HEADLINE = "estimated"
PRESETS = {
    "Five measurements": {"measurements": 5},
    "A single micro-batch against two": {"small": 32, "big": 64},
}
_MAX_MEASUREMENTS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    true_scale: Annotated[
        float, Number(label="True noise scale, samples", low=10.0, high=1e5, scale="log")
    ] = 1000.0
    small: Annotated[
        int, Number(label="Small batch", low=1, high=1024, scale="log2", whole=True)
    ] = 32
    big: Annotated[int, Number(label="Big batch", low=2, high=65_536, scale="log2", whole=True)] = (
        512
    )
    measurements: Annotated[
        int, Number(label="Measurements", low=1, high=_MAX_MEASUREMENTS, scale="log", whole=True)
    ] = 100
    seed: Annotated[
        int, Number(label="Random numbers", low=1, high=20, whole=True, advanced=True)
    ] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The estimate.

    Attributes:
        estimate: all of it.
    """

    estimate: NoiseEstimate
    estimated: Annotated[
        float,
        COUNT,
        Output(
            "Estimated noise scale",
            note="samples; 0 while no estimate is possible",
            color="gradients",
            basis="simulated",
            assumes=(
                "Gradients of 50 components, the true one of length 1, with seeded normal noise.",
                "The simple noise scale: noise over squared gradient, the curvature left out.",
            ),
            sources=("mccandlish2018",),
        ),
    ]
    off: Annotated[
        Share,
        Output("Off by", basis="simulated", assumes=("Of the true noise scale.",)),
    ]
    square: Annotated[
        float,
        COUNT,
        Output(
            "Squared gradient, estimated",
            note="truly 1",
            basis="simulated",
            assumes=("From both mean squared lengths; noise makes each of them too long.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the noise-scale estimate; the big batch is at least twice the small batch."""
    big = max(inputs.big, 2 * inputs.small)
    estimated = estimate_noise_scale(
        inputs.true_scale, inputs.small, big, inputs.measurements, inputs.seed
    )
    return Result(
        estimate=estimated,
        estimated=estimated.scale,
        off=abs(estimated.scale / inputs.true_scale - 1),
        square=estimated.square,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the estimate as it settles."""
    present = Presenter(result, inputs)
    return {
        "verdict": _with_adjustment(_verdict(present, result), inputs),
        **present.values("estimated", "off", "square"),
        "running": partial(_running_chart, present, inputs, result),
    }


def _with_adjustment(verdict: Badge, inputs: Inputs) -> Badge:
    """Return the verdict, preceded by a note if the big batch was raised."""
    if inputs.big >= 2 * inputs.small:
        return verdict
    taken = say("The big batch is taken as {b}, twice the small one.", b=(2 * inputs.small, COUNT))
    return with_changes(verdict, (taken,))


def _verdict(present: Presenter, result: Result) -> Badge:
    if not result.estimated:
        words = "The estimated squared gradient is not positive yet: the noise hides it."
        return Badge(text="No answer yet", sentence=words, color="buffers")
    if result.off > 0.5:
        words = "The estimate is {estimated}, off by {off}. Measure more, or use a larger batch."
        return Badge(text="Too rough", sentence=present.say(words), color="communication")
    words = "The estimate is {estimated}, off by {off}: good enough to choose a batch."
    return Badge(text="Usable", sentence=present.say(words), color="activations")


def _running_chart(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    estimates = result.estimate.running
    true = inputs.true_scale
    return Lines(
        title="The estimate, measurement by measurement",
        x=present.axis("measurements", "measurements", low=1, high=max(2, len(estimates))),
        y=present.axis("estimated", "estimated noise scale", low=0.0, high=3 * true),
        series=(
            Series(
                key="running",
                label="estimate so far",
                x=tuple(float(at + 1) for at in range(len(estimates))),
                y=tuple(min(value, 3 * true) for value in estimates),
                color="gradients",
            ),
        ),
        points=(
            Point(
                key="end",
                label=present.say("{estimated}"),
                x=len(estimates),
                y=min(result.estimated, 3 * true),
            ),
        ),
        rules=(Rule(key="true", label=say("true: {n}", n=(true, COUNT)), axis="y", at=true),),
        caption="Values above the frame are drawn at its edge.",
    )
