"""Charts of the lab: schemes, GPUs, tensor parallelism and memory."""

from collections.abc import Iterable

from engine.calculators.whole_runs.muon_lab.inputs import (
    GPUS,
    MODE_NAMES,
    Inputs,
)
from engine.calculators.whole_runs.muon_lab.result import Result
from engine.core.text import say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.form.memory_fit import tight_mark
from engine.simulate.step.muon import SCHEMES, MuonStep, Scheme

_COLORS: dict[Scheme, str] = {
    "repeat": "tensor",
    "gather": "communication",
    "deal": "expert",
    "exchange": "compute",
    "owner": "data",
}
_SHORT: dict[Scheme, str] = {
    "repeat": "states and work on all",
    "gather": "gathered on all",
    "deal": "states on all, dealt out",
    "exchange": "gathered on one",
    "owner": "whole on one",
}


def parts(result: Result) -> Bars:
    """Return the optimizer step of every way, and AdamW's."""
    bars = [_adam(result)]
    for scheme in reversed(SCHEMES):
        name = _SHORT[scheme] + tight_mark(result.fitting[scheme])
        bars.append(_bar(scheme, name, result.steps[scheme]))
    caption = (
        "Of the busiest GPU, one thing after another. Orthogonalizing only the rows that a GPU has "
        "is left out, because it is another update."
    )
    return _bars("The optimizer step, way by way", bars, caption)


def modes(result: Result) -> Bars:
    """Return the optimizer step for every way with slices of tensor parallelism."""
    bars = [_bar(mode, name, result.modes[mode]) for mode, name in MODE_NAMES.items()]
    alone = result.run.plan.tensor_parallel == 1
    caption = (
        "Without tensor parallelism there are no slices, and all four do the same."
        if alone
        else "Blockwise changes the update; the other three orthogonalize the whole matrix."
    )
    return _bars("Matrices that tensor parallelism splits", bars, caption)


def _adam(result: Result) -> Bar:
    states = Segment(key="states", label="pass over states", value=result.adam, color="memory")
    return Bar(key="adam", label="AdamW, ZeRO-1", segments=(states,))


def _bar(key: str, name: str, step: MuonStep) -> Bar:
    pieces = (
        ("products", "Newton-Schulz", step.products, "compute"),
        ("moved", "waiting for numbers", step.communication, "communication"),
        ("states", "pass over states", step.update, "memory"),
    )
    return Bar(
        key=key,
        label=name,
        segments=tuple(Segment(key=k, label=t, value=v, color=c) for k, t, v, c in pieces),
    )


def _bars(title: str, bars: Iterable[Bar], caption: str) -> Bars:
    rows = tuple(bars)
    most = max(sum(part.value for part in bar.segments) for bar in rows)
    return Bars(
        title=title,
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=rows,
        caption=caption,
    )


def curve(inputs: Inputs, result: Result) -> Lines:
    """Return the optimizer step over the GPUs, in every way."""
    columns = result.over_gpus()
    every = [time for column in columns.values() for _, time, _ in column]
    return Lines(
        title="Muon's optimizer step, over the GPUs",
        x=_gpus(),
        y=Axis(
            label="optimizer step",
            quantity=SECONDS,
            low=min(*every, result.adam, result.muon) / 2,
            high=2 * max(every),
            scale="log",
        ),
        series=tuple(
            Series(
                key=key,
                label=_SHORT[key],
                x=tuple(float(size) for size, _, _ in column),
                y=tuple(time for _, time, _ in column),
                color=_COLORS[key],
                dashed=key in ("gather", "deal"),
            )
            for key, column in columns.items()
        ),
        points=(
            Point(
                key="now",
                label=say("{t}", t=(result.muon, SECONDS)),
                x=float(inputs.world_size),
                y=result.muon,
            ),
        ),
        rules=(
            Rule(
                key="adam",
                label=say("AdamW {t}", t=(result.adam, SECONDS)),
                axis="y",
                at=result.adam,
            ),
        ),
        handle="world_size",
        caption="Tensor and pipeline parallelism stay as they are. What falls to the right is work "
        "that is shared out; what stays level is repeated, or is sent by everybody.",
    )


def balance(inputs: Inputs, result: Result) -> Lines:
    """Return the busiest GPU's load over the mean, by number of GPUs."""
    column = result.over_gpus()["owner"]
    shared = [(size, over) for size, _, over in column]
    return Lines(
        title="Operations of the busiest GPU over the mean",
        x=_gpus(),
        y=Axis(
            label="busiest over mean", quantity=RATIO, low=0.0, high=1.1 * max(o for _, o in shared)
        ),
        series=(
            Series(
                key="over",
                label="busiest over mean",
                x=tuple(float(size) for size, _ in shared),
                y=tuple(over for _, over in shared),
                color="compute",
            ),
        ),
        points=(
            Point(
                key="now",
                label=say("{r}", r=(result.steps["owner"].over_mean, RATIO)),
                x=float(inputs.world_size),
                y=result.steps["owner"].over_mean,
            ),
        ),
        rules=(Rule(key="even", label="even", axis="y", at=1.0, color="muted"),),
        handle="world_size",
        caption="Whole matrices, the costliest first, each to the GPU with the least work. With "
        "more GPUs than matrices some have none, and the largest matrix sets the time.",
    )


def _gpus() -> Axis:
    return Axis(label="GPUs", quantity=COUNT, low=GPUS[0], high=GPUS[1], scale="log")


def ladder(result: Result) -> Bars:
    """Return optimizer state per parameter."""
    names = (
        ("copy", "full-precision copy", "parameters"),
        ("first", "momentum", "optimizer"),
        ("second", "second moment", "muted"),
        ("squares", "squares of the sides", "buffers"),
    )
    bars = tuple(
        Bar(
            key=f"rung{place}",
            label=rung.name,
            segments=tuple(
                Segment(key=key, label=label, value=getattr(rung, key), color=color)
                for key, label, color in names
            ),
        )
        for place, rung in enumerate(result.ladder)
    )
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="Optimizer states per parameter",
        axis=Axis(label="bytes per parameter", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=bars,
        caption="A mean over the model, before any sharding. Embedding, output layer and norms "
        "keep AdamW's two moments.",
    )
