"""The estimator: a noise scale from the lengths of gradients at two batch sizes."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Teller, Told, Views
from engine.core.text import say
from engine.core.units import COUNT, Share
from engine.core.views import Badge, Lines, Point, Rule, Series
from engine.form.adjusted_inputs import told
from engine.simulate.numerics.noisy_descent import Estimate, estimate

TITLE = "The noise scale, estimated"
QUESTION = "How many measurements does an estimate of the noise scale need?"
PRESETS = {
    "Five measurements": {"measurements": 5},
    "A single micro-batch against two": {"small": 32, "big": 64},
}
_MOST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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
        int, Number(label="Measurements", low=1, high=_MOST, scale="log", whole=True)
    ] = 100
    seed: Annotated[
        int, Number(label="Random numbers", low=1, high=20, whole=True, advanced=True)
    ] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The estimate.

    Attributes:
        found: all of it.
    """

    found: Estimate
    estimated: Annotated[
        float,
        COUNT,
        Told(
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
        Told("Off by", basis="simulated", assumes=("Of the true noise scale.",)),
    ]
    square: Annotated[
        float,
        COUNT,
        Told(
            "Squared gradient, estimated",
            note="truly 1",
            basis="simulated",
            assumes=("From both mean squared lengths; noise makes each of them too long.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the estimate; the big batch is at least twice the small one."""
    big = max(inputs.big, 2 * inputs.small)
    found = estimate(inputs.true_scale, inputs.small, big, inputs.measurements, inputs.seed)
    return Result(
        found=found,
        estimated=found.scale,
        off=abs(found.scale / inputs.true_scale - 1),
        square=found.square,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the estimate as it settles."""
    tell = Teller(result, inputs)
    return {
        "verdict": _told(_verdict(tell, result), inputs),
        **tell.values("estimated", "off", "square"),
        "running": partial(_running, tell, inputs, result),
    }


def _told(found: Badge, inputs: Inputs) -> Badge:
    """Return the verdict, after the big batch that was taken if it was too small."""
    if inputs.big >= 2 * inputs.small:
        return found
    taken = say("The big batch is taken as {b}, twice the small one.", b=(2 * inputs.small, COUNT))
    return told(found, (taken,))


def _verdict(tell: Teller, result: Result) -> Badge:
    if not result.estimated:
        words = "The estimated squared gradient is not positive yet: the noise hides it."
        return Badge(text="No answer yet", sentence=words, color="buffers")
    if result.off > 0.5:
        words = "The estimate is {estimated}, off by {off}. Measure more, or use a larger batch."
        return Badge(text="Too rough", sentence=tell.say(words), color="communication")
    words = "The estimate is {estimated}, off by {off}: good enough to choose a batch."
    return Badge(text="Usable", sentence=tell.say(words), color="activations")


def _running(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    found = result.found.running
    true = inputs.true_scale
    return Lines(
        title="The estimate, measurement by measurement",
        x=tell.axis("measurements", "measurements", low=1, high=max(2, len(found))),
        y=tell.axis("estimated", "estimated noise scale", low=0.0, high=3 * true),
        series=(
            Series(
                key="running",
                label="estimate so far",
                x=tuple(float(at + 1) for at in range(len(found))),
                y=tuple(min(one, 3 * true) for one in found),
                color="gradients",
            ),
        ),
        points=(
            Point(
                key="end",
                label=tell.say("{estimated}"),
                x=len(found),
                y=min(result.estimated, 3 * true),
            ),
        ),
        rules=(Rule(key="true", label=say("true: {n}", n=(true, COUNT)), axis="y", at=true),),
        caption="Values above the frame are drawn at its edge.",
    )
