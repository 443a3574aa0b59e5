"""Noisy descent: small batches wander, large ones go straight and cost more."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.outputs import Symbol, Teller, Told, Views
from engine.core.units import COUNT, Ratio, Share
from engine.core.views import Lines, Point, Series
from engine.draw.noisy_descent import descent_scene
from engine.formulas.batch_noise import PROGRESS, progress
from engine.simulate.numerics.noisy_descent import (
    START,
    STEPS,
    Descent,
    descend,
    mean_progress,
    noise_scale_at,
)

TITLE = "Thirty noisy steps"
QUESTION = "What does a larger batch change about a step?"
EQUATIONS = (PROGRESS,)
PRESETS = {
    "One sample at a time": {"batch": 1},
    "Other random numbers": {"seed": 2},
    "Four thousand samples": {"batch": 4096},
}
_MOST = 4096
_NOISE = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    batch: Annotated[
        int,
        Number(label="Batch, samples", low=1, high=_MOST, scale="log2", whole=True, symbol="B"),
        Symbol("B"),
    ] = 16
    seed: Annotated[int, Number(label="Random numbers", low=1, high=20, whole=True)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The descent.

    Attributes:
        mine: with the reader's batch.
        quiet: without noise.
    """

    mine: Descent
    quiet: Descent
    end: Annotated[
        float,
        COUNT,
        Told(
            "Loss after thirty steps",
            color="compute",
            basis="simulated",
            assumes=("Computed with seeded normal noise on a bowl of two dimensions.",),
        ),
    ]
    scale: Annotated[
        float,
        COUNT,
        Told(
            "Noise scale at the start",
            "N",
            note="samples",
            assumes=("The trace of curvature times noise over the curvature along the slope.",),
            sources=("mccandlish2018",),
        ),
    ]
    share: Annotated[Share, Told("Progress of the first step, by the formula", "e")]
    measured: Annotated[
        Share,
        Told(
            "Progress of the first step, simulated",
            note="the mean of 4,000 trials, of the gain without noise",
            basis="simulated",
            assumes=("The same seeded noise for all readers.",),
        ),
    ]
    curve: tuple[Ratio, ...]


def solve(inputs: Inputs) -> Result:
    """Return the descent with the reader's batch, and the formula beside it."""
    mine, quiet = descend(inputs.batch, _NOISE, inputs.seed), descend(1.0, 0.0)
    scale = noise_scale_at(*START, _NOISE)
    return Result(
        mine=mine,
        quiet=quiet,
        end=mine.losses[-1],
        scale=scale,
        share=progress(inputs.batch, scale),
        measured=mean_progress(inputs.batch, _NOISE),
        curve=tuple(progress(float(1 << power), scale) for power in range(13)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the descent, and its first step beside the formula."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    return {
        "scene": partial(descent_scene, result.mine, result.quiet),
        **tell.values("end", "scale", "share", "measured"),
        "curve": partial(_curve, tell, inputs, result),
        "losses": partial(_losses, tell, result),
    }


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    return Lines(
        title="Progress of one step, over the batch",
        x=tell.axis("batch", "batch, samples", low=1, high=_MOST, scale="log"),
        y=tell.axis("share", "of the most possible", low=0.0, high=1.05),
        series=(
            Series(
                key="formula",
                label="the formula",
                x=tuple(float(1 << power) for power in range(13)),
                y=result.curve,
                color="compute",
            ),
        ),
        points=(
            Point(
                key="now",
                label=tell.say("simulated: {measured}"),
                x=inputs.batch,
                y=max(result.measured, 0.0),
            ),
        ),
        handle="batch",
        caption="The ring is the mean gain of 4,000 simulated first steps.",
    )


def _losses(tell: Teller, result: Result) -> Lines:
    steps = tuple(float(step) for step in range(STEPS + 1))
    top = max(max(result.mine.losses), max(result.quiet.losses))
    return Lines(
        title="Loss, step by step",
        x=tell.axis("batch", "step", low=0, high=STEPS),
        y=tell.axis("end", "loss", low=0.0, high=1.05 * top),
        series=(
            Series(
                key="quiet",
                label="no noise",
                x=steps,
                y=result.quiet.losses,
                color="ink",
                dashed=True,
            ),
            Series(key="mine", label="yours", x=steps, y=result.mine.losses, color="compute"),
        ),
    )
