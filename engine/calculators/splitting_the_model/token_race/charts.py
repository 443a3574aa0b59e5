"""The charts of the token race: what a pass spends its time on, and both ways over the batch."""

from collections.abc import Mapping

from engine.calculators.splitting_the_model.token_race.inputs import (
    BATCHES,
    SHOWN,
    Inputs,
    Result,
)
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SECONDS, TOKEN_RATE
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series


def parts(result: Result) -> Bars:
    """Return the time of a prompt and of a new token, by what it is spent on."""
    bars = []
    for key, name, one in (
        ("zero", "ZeRO-3", result.zero),
        ("tensor", "tensor parallel", result.tensor),
    ):
        for place, what in ((0, "prompt"), (1, "one new token")):
            done = one.passes[place]
            waits = done.time - done.computing
            parts = (
                ("compute", "computing, or reading memory", done.computing, "compute"),
                ("waits", "waiting for links", waits, "communication"),
            )
            bars.append(
                Bar(
                    key=f"{key}{place}",
                    label=f"{name}, {what}",
                    segments=tuple(
                        Segment(key=k, label=t, value=v, color=c) for k, t, v, c in parts
                    ),
                )
            )
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="What a pass spends its time on",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.1 * most),
        bars=tuple(bars),
        caption="All layers, one forward pass.",
    )


def rates(inputs: Inputs, result: Result) -> Lines:
    """Return the new tokens per second over the batch."""
    found = result.by_batch()
    curves = {
        "tensor": ("tensor parallel", "activations", tuple(one.tensor_rate for one in found)),
        "zero": ("ZeRO-3", "parameters", tuple(one.zero_rate for one in found)),
    }
    every = [y for _, _, ys in curves.values() for y in ys]
    return Lines(
        title="New tokens per second, over the sequences at a time",
        x=Axis(
            label="sequences at a time",
            quantity=COUNT,
            low=BATCHES[0],
            high=BATCHES[1],
            scale="log",
        ),
        y=Axis(
            label="new tokens per second",
            quantity=COUNT,
            low=min(every) / 2,
            high=3 * max(every),
            scale="log",
        ),
        series=_series(curves),
        points=(
            Point(
                key="now",
                label=say("{r}", r=(result.tensor_rate, TOKEN_RATE)),
                x=inputs.batch,
                y=result.tensor_rate,
            ),
        ),
        handle="batch",
        caption="Both curves grow with the batch, until reading caches or arithmetic takes over.",
    )


def prompts(inputs: Inputs, result: Result) -> Lines:
    """Return how much longer gathered weights take, over the batch."""
    found = result.by_batch()
    ratio = tuple(one.zero_prompt / one.tensor_prompt for one in found)
    token = tuple(one.faster for one in found)
    return Lines(
        title="Time of gathered weights over tensor parallel",
        x=Axis(
            label="sequences at a time",
            quantity=COUNT,
            low=BATCHES[0],
            high=BATCHES[1],
            scale="log",
        ),
        y=Axis(
            label="ZeRO-3 over TP",
            quantity=RATIO,
            low=min(*ratio, 1.0) / 2,
            high=3 * max(*token, *ratio),
            scale="log",
        ),
        series=_series(
            {
                "token": ("one new token", "communication", token),
                "prompt": ("the prompt", "compute", ratio),
            }
        ),
        points=(
            Point(
                key="now",
                label=say("{r}", r=(result.zero_prompt / result.tensor_prompt, RATIO)),
                x=inputs.batch,
                y=result.zero_prompt / result.tensor_prompt,
            ),
        ),
        rules=(Rule(key="one", label="equally fast", axis="y", at=1.0),),
        handle="batch",
        caption="Below the line gathered weights are faster.",
    )


def _axis() -> Axis:
    low, high = BATCHES
    return Axis(label="sequences at a time", quantity=COUNT, low=low, high=high, scale="log")


def _series(curves: Mapping[str, tuple[str, str, tuple[float, ...]]]) -> tuple[Series, ...]:
    xs = tuple(float(batch) for batch in SHOWN)
    return tuple(
        Series(key=key, label=label, x=xs, y=ys, color=color)
        for key, (label, color, ys) in curves.items()
    )
