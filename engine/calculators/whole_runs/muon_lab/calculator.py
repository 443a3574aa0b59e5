"""Muon on a job: the optimizer step in five ways, beside AdamW's, over GPUs and slices."""

from collections.abc import Iterable, Mapping
from functools import partial

from engine.calculators.whole_runs.muon_lab.result import (
    GPUS,
    MODE_NAMES,
    Inputs,
    Result,
)
from engine.calculators.whole_runs.muon_lab.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.units import BYTES, COUNT, RATIO, SECONDS
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
)
from engine.form.memory_fit import tight_mark, with_fit
from engine.form.run.prediction_text import value_with_range
from engine.formulas.muon import OVERHEAD
from engine.simulate.step.muon import SCHEMES, MuonStep, Scheme

_GPUS = Scale(COUNT, "GPUs", GPUS[0], GPUS[1], log=True)
TITLE = "Muon's optimizer step on your job"
QUESTION = "How long does Muon take, and who should orthogonalize?"
HEADLINE = "longer"
EQUATIONS = (OVERHEAD,)
_LARGE: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "world_size": 256,
    "tensor_parallel": 8,
    "pipeline_parallel": 4,
    "global_batch_size": 1024,
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Each matrix whole on one GPU": {"scheme": "owner"},
    "8B on 512 GPUs": {"world_size": 512},
    "70B on 256 GPUs": _LARGE,
    "Qwen3 30B-A3B on 64 GPUs": {"model": "qwen3-30b-a3b", "expert_parallel": 8},
}
START: Mapping[str, Scalar] = {**_LARGE, "scheme": "gather", "tensor_mode": "duplicated"}
SOLUTION: Mapping[str, Scalar] = {**_LARGE, "scheme": "owner", "tensor_mode": "layer_sharded"}
_MOST = 0.02
_STEP = "The model of every page of this site, with ZeRO-1."


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: curve, breakdown, numbers and bottleneck."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "curve": partial(curve, present, result),
        **present.values("muon", "adam", "longer"),
        "step": value_with_range(present, "step", result.evidence, assumes=(_STEP,)),
        "regime": _regime(present, result),
        **present.values("products", "operations", "communication", "sent", "over_mean"),
        "parts": partial(parts, result),
        "modes": partial(modes, result),
        "balance": partial(balance, present, result),
        "ladder": partial(ladder, result),
        **present.values("overhead", "matrices", "parameters", "held"),
        "formula": present.formula("Operations beside the model's, at most", OVERHEAD),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, result: Result) -> Badge:
    if result.changes:
        return Badge(text="Changed", sentence=result.changes[0], color="muted")
    if not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence=present.say(
                "One GPU would hold {held} of {capacity}. Recompute, share the model, or shard the "
                "states."
            ),
            color="bad",
        )
    words = (
        ("products", "Newton-Schulz", "products", "compute"),
        ("communication", "Numbers that have to travel", "communication", "communication"),
        ("update", "The pass over the states", "muon", "memory"),
    )
    longest = max(words, key=lambda phase: _part(result, phase[0]))
    badge = Badge(
        text=f"{longest[1]} binds",
        sentence=present.say(
            f"Of {{muon}} the largest part takes {{{longest[2]}}}."
            if longest[0] != "update"
            else "Of {muon} the largest part is reading and writing states, as with AdamW."
        ),
        color=longest[3],
    )
    return with_fit(badge, result.fit)


def _part(result: Result, name: str) -> float:
    if name == "update":
        return result.muon - result.products - result.communication
    return float(getattr(result, name))


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = all(getattr(inputs, key) == value for key, value in _LARGE.items())
    same = same and inputs.gpu == "H100-SXM" and inputs.sequence_length == 4096
    return Challenge(
        title="Challenge: the same update, a twentieth of the time",
        goal="Llama 3 70B trains on 256 H100, each matrix gathered on every GPU. Bring Muon below "
        "two percent of the step without changing the update.",
        conditions=(
            Condition(text="Llama 3 70B on 256 H100 with the plan of the preset", met=same),
            Condition(
                text="whole matrices are orthogonalized", met=inputs.tensor_mode != "blockwise"
            ),
            Condition(
                text="the step is longer by less than two percent", met=result.longer < _MOST
            ),
            Condition(text="it fits", met=result.fit.verdict == "fits"),
        ),
        hints=(
            "Sharing out matrices over replicas leaves the GPUs of a tensor-parallel group with "
            "the same work each.",
            "There are two inputs that say where a matrix is brought together.",
        ),
        start=START,
        solution=SOLUTION,
    )


# Charts of the lab: schemes, GPUs, tensor parallelism and memory.

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


def curve(present: Presenter, result: Result) -> Lines:
    """Return the optimizer step over the GPUs, in every way."""
    columns = result.over_gpus()
    every = [time for column in columns.values() for _, time, _ in column]
    low, high = min(*every, result.adam, result.muon) / 2, 2 * max(every)
    return present.curve(
        "Muon's optimizer step, over the GPUs",
        over=_GPUS,
        shows=Scale("muon", "optimizer step", low, high, log=True),
        lines=(
            Line(
                key,
                _SHORT[key],
                [time for _, time, _ in column],
                _COLORS[key],
                dashed=key in ("gather", "deal"),
                x=[size for size, _, _ in column],
            )
            for key, column in columns.items()
        ),
        handle="world_size",
        rules=(Rule(key="adam", label=present.say("AdamW {adam}"), axis="y", at=result.adam),),
        caption="Tensor and pipeline parallelism stay as they are. What falls to the right is work "
        "that is shared out; what stays level is repeated, or is sent by everybody.",
    )


def balance(present: Presenter, result: Result) -> Lines:
    """Return the busiest GPU's load over the mean, by number of GPUs."""
    column = result.over_gpus()["owner"]
    over = [over for _, _, over in column]
    return present.curve(
        "Operations of the busiest GPU over the mean",
        over=_GPUS,
        shows=Scale(RATIO, "busiest over mean", 0.0, 1.1 * max(over)),
        x=[size for size, _, _ in column],
        lines=(Line("over", "busiest over mean", over, "compute"),),
        handle="world_size",
        at=result.steps["owner"].over_mean,
        rules=(Rule(key="even", label="even", axis="y", at=1.0, color="muted"),),
        caption="Whole matrices, the costliest first, each to the GPU with the least work. With "
        "more GPUs than matrices some have none, and the largest matrix sets the time.",
    )


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
            key=f"rung{index}",
            label=rung.name,
            segments=tuple(
                Segment(key=key, label=label, value=getattr(rung, key), color=color)
                for key, label, color in names
            ),
        )
        for index, rung in enumerate(result.ladder)
    )
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="Optimizer states per parameter",
        axis=Axis(label="bytes per parameter", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=bars,
        caption="A mean over the model, before any sharding. Embedding, output layer and norms "
        "keep AdamW's two moments.",
    )
