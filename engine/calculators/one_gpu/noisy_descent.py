"""Noisy descent: gradient descent with noise that depends on the batch size."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Number
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import COUNT, Ratio, Share
from engine.core.views import Frame, Line, Lines, Scale, Scene, Series, Shape
from engine.draw.shapes import text
from engine.formulas.batch_noise import PROGRESS, progress
from engine.simulate.numerics.noisy_descent import (
    CURVES,
    START,
    STEPS,
    Descent,
    descend,
    mean_progress,
    noise_scale_at,
)

_WIDTH, _HEIGHT, _SCALE = 640.0, 330.0, 112.0
_CENTER = (360.0, 165.0)


def descent_scene(mine: Descent, quiet: Descent) -> Scene:
    """Return the descent, step by step; it opens with the whole way."""
    frames = [_frame(mine, quiet, at) for at in range(STEPS + 1)]
    return Scene(
        title="Thirty noisy steps",
        width=_WIDTH,
        height=_HEIGHT,
        frames=tuple(frames),
        opening=STEPS,
        caption="The ellipses are lines of equal loss, the bottom is the cross. The thin line is "
        "the path without noise. Every step uses the best learning rate for its batch.",
    )


def _frame(mine: Descent, quiet: Descent, at: int) -> Frame:
    shapes = [_contour(level) for level in (0.05, 0.25, 0.7, 1.5, 2.6)]
    shapes.append(_path("quiet", quiet, at, "c-ink", 1.5, "5 5"))
    shapes.append(_path("mine", mine, at, "c-compute", 3.0, ""))
    shapes.append(_dot(mine, at))
    x, y = _CENTER
    cross = {"d": f"M{x - 7} {y}h14M{x} {y - 7}v14", "stroke": "currentColor"}
    shapes.append(
        Shape(key="bottom", tag="path", attributes={**cross, "stroke-width": "2", "class": "c-ink"})
    )
    loss = typeset(format_significant(mine.losses[at], 4))
    shapes.append(text("step", 2, 24, 19, f"step {at}", "start"))
    shapes.append(text("loss", 2, 48, 19, f"loss {loss}", "start"))
    taken = f"{at} step" if at == 1 else f"{at} steps"
    words = f"After {taken} the loss is {loss}; without noise it would be "
    words += f"{typeset(format_significant(quiet.losses[at], 3))}."
    return Frame(caption=words, shapes=tuple(shapes))


def _position(point: tuple[float, float]) -> tuple[float, float]:
    # Far points are drawn at the edge of the sheet.
    x = _CENTER[0] + _SCALE * point[0]
    y = _CENTER[1] - _SCALE * point[1]
    return min(max(x, 4.0), _WIDTH - 4), min(max(y, 4.0), _HEIGHT - 4)


def _contour(level: float) -> Shape:
    radii = [_SCALE * math.sqrt(2 * level / curve) for curve in CURVES]
    attributes = {
        "cx": f"{_CENTER[0]:g}",
        "cy": f"{_CENTER[1]:g}",
        "rx": f"{radii[0]:.1f}",
        "ry": f"{radii[1]:.1f}",
        "class": "port",
    }
    return Shape(key=f"contour{level}", tag="ellipse", attributes=attributes)


def _path(key: str, descent: Descent, at: int, color: str, width: float, dashes: str) -> Shape:
    positions = [_position(point) for point in descent.points[: at + 1]]
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in positions)
    attributes = {
        "d": d,
        "fill": "none",
        "stroke": "currentColor",
        "stroke-width": f"{width:g}",
        "class": color,
    }
    if dashes:
        attributes["stroke-dasharray"] = dashes
    return Shape(key=key, tag="path", attributes=attributes)


def _dot(descent: Descent, at: int) -> Shape:
    x, y = _position(descent.points[at])
    attributes = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "7", "class": "sent c-compute"}
    return Shape(key="dot", tag="circle", attributes=attributes)


TITLE = "Thirty noisy steps"
QUESTION = "What does a larger batch change about a step?"
HEADLINE = "end"
EQUATIONS = (PROGRESS,)
PRESETS = {
    "One sample at a time": {"batch": 1},
    "Other random numbers": {"seed": 2},
    "Four thousand samples": {"batch": 4096},
}
_MAX_BATCH = 4096
_NOISE = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    batch: Annotated[
        int,
        Number(
            label="Batch, samples", low=1, high=_MAX_BATCH, scale="log2", whole=True, symbol="B"
        ),
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
        Output(
            "Loss after thirty steps",
            color="compute",
            basis="simulated",
            assumes=("Computed with seeded normal noise on a bowl of two dimensions.",),
        ),
    ]
    scale: Annotated[
        float,
        COUNT,
        Output(
            "Noise scale at the start",
            "N",
            note="samples",
            assumes=("The trace of curvature times noise over the curvature along the slope.",),
            sources=("mccandlish2018",),
        ),
    ]
    share: Annotated[Share, Output("Progress of the first step, by the formula", "e")]
    measured: Annotated[
        Share,
        Output(
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
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        "scene": partial(descent_scene, result.mine, result.quiet),
        **present.values("end", "scale", "share", "measured"),
        "curve": partial(_curve, present, inputs, result),
        "losses": partial(_losses, present, result),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Progress of one step, over the batch",
        over=Scale("batch", "batch, samples", 1, _MAX_BATCH, log=True),
        shows=Scale("share", "of the most possible", 0.0, 1.05),
        x=tuple(float(1 << power) for power in range(13)),
        lines=(Line("formula", "the formula", result.curve, "compute"),),
        at=max(result.measured, 0.0),
        now="simulated: {measured}",
        caption="The ring is the mean gain of 4,000 simulated first steps.",
    )


def _losses(present: Presenter, result: Result) -> Lines:
    steps = tuple(float(step) for step in range(STEPS + 1))
    top = max(max(result.mine.losses), max(result.quiet.losses))
    return Lines(
        title="Loss, step by step",
        x=present.axis("batch", "step", low=0, high=STEPS),
        y=present.axis("end", "loss", low=0.0, high=1.05 * top),
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
