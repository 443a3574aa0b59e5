"""Oversubscription map: speed kept by a step, by oversubscription and exposed share."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import SHARE, Ratio, Share
from engine.core.views import (
    Badge,
    Heatmap,
    Line,
    Lines,
    Point,
    Published,
    Rule,
    Scale,
)
from engine.formulas.fabric import EXPOSED_FOR, KEPT_SPEED, exposed_for, kept_speed

TITLE = "Oversubscription against exposed share"
QUESTION = "How much speed does a job lose on an oversubscribed fabric?"
HEADLINE = "kept"
EQUATIONS = (KEPT_SPEED, EXPOSED_FOR)
LLAMA: Ratio = 7.0
PRESETS = {
    "Llama 3's 7:1 above the pod": {"oversubscription": LLAMA, "exposed": 0.02},
    "7:1, a tenth exposed": {"oversubscription": LLAMA, "exposed": 0.1},
    "3:1, half exposed": {"oversubscription": 3.0, "exposed": 0.5},
}
_MOST: Share = 0.6
_ROWS = (1, 2, 3, 4, 5, 6, 7, 8)
_COLUMNS = tuple(i / 10 for i in range(7))
_DRAWN = (2.0, 3.0, LLAMA)
_SHARES = tuple(_MOST * i / 60 for i in range(61))
_ASSUMES = (
    "All ports send upward at once, so that those messages take {oversubscription} as long; what "
    "hides behind computation stays hidden.",
)
_CLAIM = Published(
    text="a 3:1 oversubscription can result in a 50% drop in training FLOPS",
    reason="That holds only if half of the step waits for messages over the spines.",
    source="pingdo_pipeline",
    claim="E4.23",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    oversubscription: Annotated[
        float,
        Number(
            label="Oversubscription",
            low=1.0,
            high=8.0,
            step=0.5,
            symbol="o",
            help="Ports below over links above.",
        ),
    ] = 3.0
    exposed: Annotated[
        float,
        Number(
            label="Share of the step that waits for the spines",
            unit=PERCENT,
            low=0.0,
            high=_MOST,
            step=0.01,
            symbol="f",
            help="On a fabric that is not oversubscribed.",
        ),
    ] = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The speed that is kept; `curves` are the reader's and those of `_DRAWN`, over `_SHARES`."""

    kept: Annotated[Share, Output("Speed kept", "K", color="compute", assumes=_ASSUMES)]
    lost: Annotated[
        Share, Output("Speed lost", color="communication", assumes=("One less the speed kept.",))
    ]
    at_llama: Annotated[
        Share,
        Output(
            "At 7:1, with this share",
            note="Llama 3's ratio between pods",
            assumes=("The same formula with an oversubscription of 7.",),
            sources=("dubey2024",),
        ),
    ]
    curves: Lazy[tuple[tuple[Share, ...], ...]]
    cells: Lazy[tuple[tuple[Share, ...], ...]]
    half_at: Annotated[
        Share,
        Output(
            "Half of the speed is lost",
            note="if this share of the step waits; at most 100 %",
            assumes=("The formula solved for the exposed share, with half of the speed kept.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the speed that is kept."""
    over = inputs.oversubscription
    kept = kept_speed(inputs.exposed, over)
    return Result(
        kept=kept,
        lost=1 - kept,
        at_llama=kept_speed(inputs.exposed, LLAMA),
        curves=Lazy(partial(_kept_speeds, (over, *_DRAWN), _SHARES)),
        cells=Lazy(partial(_kept_speeds, _ROWS, _COLUMNS)),
        half_at=min(1.0, exposed_for(0.5, over)) if over > 1 else 1.0,
    )


def _kept_speeds(overs: Iterable[Ratio], shares: Iterable[Share]) -> tuple[tuple[Share, ...], ...]:
    return tuple(tuple(kept_speed(share, over) for share in shares) for over in overs)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the map, the curve through it and its numbers."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "kept": present.value("kept"),
        "lost": present.value("lost", published=_CLAIM),
        **present.values("at_llama", "half_at"),
        "verdict": _verdict(present, inputs, result),
        "curve": partial(_curve, present, inputs, result),
        "map": partial(_heat_map, present, inputs, result),
        "formula": present.formula("With your numbers", KEPT_SPEED),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.oversubscription == 1:
        return Badge(text="Non-blocking", sentence="Nothing is lost, whatever waits.", color="data")
    if result.kept >= 0.95:
        return Badge(
            text="Hardly noticed",
            sentence=present.say("The job keeps {kept} of its speed."),
            color="data",
        )
    return Badge(
        text="Noticed",
        sentence=present.say("The job loses {lost} of its speed. Halving what waits brings back "
                          "half of that."),
        color="communication",
    )  # fmt: skip


def _heat_map(present: Presenter, inputs: Inputs, result: Result) -> Heatmap:
    return Heatmap(
        title="Speed that is kept",
        x_label="share of the step that waits for the spines",
        y_label="oversubscription",
        x=tuple(f"{share * 100:.0f} %" for share in _COLUMNS),
        y=tuple(f"{over}:1 Llama 3" if over == LLAMA else f"{over}:1" for over in _ROWS),
        values=result.cells(),
        quantity=SHARE,
        points=(
            Point(
                key="own",
                label=present.say("framed: you, {kept} kept"),
                x=inputs.exposed / _COLUMNS[1],
                y=inputs.oversubscription - _ROWS[0],
                color="ink",
            ),
        ),
        caption="Llama 3's network had 7:1 between pods of 3,072 GPUs, and 1:1 inside them. "
        "The frame lies between two cells where your share is that of no column.",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    looks = (
        ("own", "yours", "compute"),
        ("two", "2:1", "data"),
        ("three", "3:1", "pipeline"),
        ("llama", "7:1 (Llama 3)", "communication"),
    )
    return present.curve(
        "Speed kept over the share that waits",
        over=Scale("exposed", "share of the step that waits for the spines", 0.0, _MOST),
        shows=Scale("kept", "speed kept", 0.0, 1.02),
        x=_SHARES,
        lines=(
            Line(key, label, y, color, dashed=key != "own")
            for (key, label, color), y in zip(looks, result.curves(), strict=True)
        ),
        rules=(Rule(key="half", label=say("half of the speed"), axis="y", at=0.5, color="muted"),),
    )
