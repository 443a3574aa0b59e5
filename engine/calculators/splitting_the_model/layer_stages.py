"""Stages of a pipeline whose layers differ: equal numbers of layers, unequal times."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.mixers.compose import layer_letters
from engine.catalog.recent_models import EVERY_MODEL
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import SECONDS, Count, Ratio
from engine.core.views import Axis, Badge, Bar, Bars, Segment
from engine.form.layer_plans import fastest_plan
from engine.simulate.step.modeled_plan import ModeledPlan

TITLE = "Stages of unequal layers"
QUESTION = "Which stage holds up the others if layers differ?"
HEADLINE = "balance"
PRESETS = {
    "Qwen3-Next in whole periods": {"stages": "4"},
    "Gemma 3 27B at a million tokens": {
        "model": "gemma-3-27b",
        "stages": "8",
        "sequence_length": 1 << 20,
    },
    "Nemotron 3 Super": {"model": "nemotron-3-super", "stages": "8"},
}
_MODELS = (
    "qwen3-next-80b-a3b",
    "nemotron-3-nano",
    "nemotron-3-super",
    "kimi-linear-48b-a3b",
    "gemma-3-27b",
    "olmo-3-32b",
)
_MACHINE, _GPUS = "dgx-h200", 128
_ATTENDING = "*S"  # letters of layers whose work grows with the length
_BALANCED: Ratio = 1.1
_ASSUMES = (
    "128 H200, bf16, stages of as equal numbers of layers as it goes; the fastest plan that fits, "
    "found as in the lab of this page.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(label="Model", cites=False, options={key: EVERY_MODEL[key].name for key in _MODELS}),
    ] = "qwen3-next-80b-a3b"
    stages: Annotated[
        str, Choice(label="Stages", options={n: n for n in ("2", "4", "8", "16")})
    ] = "16"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=4096, high=1 << 20, scale="log2", whole=True, symbol="s"
        ),
    ] = 131_072


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Times of the stages, and the layers of each that attend to the whole sequence."""

    plan: ModeledPlan
    attending: tuple[Count, ...]
    balance: Annotated[
        Ratio,
        Output(
            "Slowest stage over the mean",
            note="1 is balanced",
            color="pipeline",
            assumes=_ASSUMES,
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the stages of the fastest plan."""
    model = EVERY_MODEL[inputs.model]
    plan = fastest_plan(model, _MACHINE, _GPUS, int(inputs.stages), inputs.sequence_length)
    letters, at, attending = layer_letters(model), 0, []
    for stage in plan.stages:
        attending.append(sum(letter in _ATTENDING for letter in letters[at : at + stage.layers]))
        at += stage.layers
    times = [stage.time for stage in plan.stages]
    return Result(
        plan=plan,
        attending=tuple(attending),
        balance=max(times) * len(times) / sum(times),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the balance and a bar for each stage."""
    present = Presenter(result, inputs)
    return {
        **present.values("balance"),
        "times": partial(_times, result),
        "regime": _regime(present, result),
    }


def _regime(present: Presenter, result: Result) -> Badge:
    if result.balance <= _BALANCED:
        return Badge(
            text="Balanced",
            sentence=present.say("The slowest stage takes {balance} the mean."),
            color="compute",
        )
    slowest = result.plan.slowest
    last = slowest == len(result.plan.stages) - 1
    words = f"It has {_words(result.attending[slowest])}" + (
        " and the output layer." if last else "."
    )
    return Badge(
        text=f"Stage {slowest} holds up the others",
        sentence=present.say(words + " It takes {balance} the mean, and all others wait for it."),
        color="pipeline",
    )


def _words(count: Count) -> str:
    return f"{count or 'no'} layer{'' if count == 1 else 's'} of full attention"


def _times(result: Result) -> Bars:
    stages = result.plan.stages
    bars = tuple(
        Bar(
            key=f"stage{number}",
            label=f"{number}: {stage.layers} layers, {full} full",
            segments=(
                Segment(key="time", label="one micro-batch", value=stage.time, color="pipeline"),
            ),
        )
        for number, (stage, full) in enumerate(zip(stages, result.attending, strict=True))
    )
    most = max(stage.time for stage in stages)
    return Bars(
        title="One micro-batch on each stage",
        axis=Axis(label="forward and backward", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=bars,
        caption="The slowest stage sets the pace of all. The last one has the output layer too.",
    )
