"""Batch growth: critical batch by tokens, where more GPUs stop helping, and a new learning rate."""

from dataclasses import dataclass
from functools import partial
from math import log, sqrt
from typing import Annotated

from engine.core.inputs import Choice, Number, Unit
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import (
    NUMBER,
    RATIO,
    TOKENS,
    Count,
    PlainNumber,
    Ratio,
    Seconds,
    Tokens,
)
from engine.core.views import (
    Badge,
    Cell,
    Challenge,
    Citation,
    Condition,
    Line,
    Lines,
    Rule,
    Scale,
    Table,
)
from engine.formulas.batch_noise import (
    CRITICAL_BATCH,
    critical_batch,
    rescaled_decay,
    tokens_over_least,
)

TITLE = "Critical batch of a run"
QUESTION = "From how many GPUs on does a run hardly get faster?"
HEADLINE = "time"
EQUATIONS = (CRITICAL_BATCH,)
PRESETS = {
    "15 trillion tokens": {"tokens": 15e12, "num_gpus": 8192},
    "A fine-tune of 100 million tokens": {"tokens": 1e8, "num_gpus": 16},
}
OPTIMIZERS = {
    "adam": "Adam: square root",
    "muon": "Muon: square root, then tune",
    "sgd": "SGD: in proportion",
}
_LOW, _HIGH = 8, 65_536
_BILLION = Unit(" billion", 1e9, {"M": 1e6, "B": 1e9, "T": 1e12}, quantity=TOKENS)
_MILLION = Unit(" million", 1e6, {"k": 1e3, "M": 1e6, "B": 1e9}, quantity=TOKENS)
_TOKENS = tuple(1e8 * 10 ** (at / 12) for at in range(73))
GPUS = tuple(2 ** (at / 4) for at in range(12, 65))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tokens: Annotated[
        float,
        Number(label="Tokens of the run", unit=_BILLION, low=1e8, high=1e14, scale="log"),
        Symbol("D"),
    ] = 1e12
    num_gpus: Annotated[
        int, Number(label="GPUs", low=_LOW, high=_HIGH, scale="log", whole=True)
    ] = 512
    tokens_per_gpu: Annotated[
        int,
        Number(
            label="Tokens per GPU and step",
            low=128,
            high=1 << 20,
            scale="log2",
            whole=True,
            help="What each GPU needs to be busy and to hide its communication.",
        ),
    ] = 8192
    token_rate: Annotated[
        float,
        Number(
            label="Tokens per second per GPU",
            low=10.0,
            high=1e6,
            scale="log",
            help="As measured; about 8,000 for Llama 3 8B on an H100.",
        ),
    ] = 8000.0
    measured: Annotated[
        float,
        Number(
            label="A batch you measured to be critical",
            unit=_MILLION,
            low=1e3,
            high=1e8,
            scale="log",
            help="The largest that needs no more than a fifth more tokens.",
        ),
        Symbol("A"),
    ] = 1e6
    measured_at: Annotated[
        float,
        Number(
            label="... in a run of so many tokens",
            unit=_BILLION,
            low=1e8,
            high=1e14,
            scale="log",
        ),
        Symbol("d"),
    ] = 1e11
    exponent: Annotated[
        float,
        Number(label="Exponent", low=0.0, high=1.0, step=0.01, advanced=True, symbol="x"),
        RATIO,
        Symbol("x"),
    ] = 0.47
    tuned_batch: Annotated[
        float,
        Number(
            label="Learning rate tuned for a batch of",
            unit=_MILLION,
            low=1e3,
            high=1e9,
            scale="log",
        ),
    ] = 1e6
    learning_rate: Annotated[
        float,
        Number(label="Learning rate", low=1e-7, high=1.0, scale="log"),
        NUMBER,
    ] = 3e-4
    optimizer: Annotated[str, Choice(label="Optimizer", cites=False, options=OPTIMIZERS)] = "adam"
    decay: Annotated[
        float,
        Number(label="Adam's second decay rate", low=0.5, high=0.99999, step=0.001, advanced=True),
        NUMBER,
    ] = 0.95


_HELD = (
    "Tokens to the same loss grow as 1 + B / B_noise, and the critical batch needs a fifth more.",
    "Each GPU has the same number of tokens in every step, whatever their number.",
)


def _output(label: str, *meaning: str, note: str = "", color: str = "ink") -> Output:
    return Output(label, note=note, color=color, assumes=meaning, sources=("zhang2024",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Over the tokens of `_TOKENS` and the GPUs of `GPUS`."""

    critical: tuple[Tokens, ...]
    times: tuple[Seconds, ...]
    ideal: tuple[Seconds, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run on its GPUs, the limit of data parallelism, and the rescaled optimizer."""

    curves: Lazy[Curves]
    critical: Annotated[
        Tokens,
        Output(
            "Critical batch",
            "B",
            "tokens of a step",
            "data",
            ("It grows with the tokens of the run, hardly with the model.",),
        ),
    ]
    batch: Annotated[Tokens, _output("Batch", "GPUs times the tokens of each.", color="data")]
    excess: Annotated[Ratio, _output("Tokens over the fewest", *_HELD)]
    time: Annotated[Seconds, _output("Time of the run", *_HELD, color="compute")]
    floor: Annotated[
        Seconds,
        _output("With unlimited GPUs", "What the time approaches.", *_HELD, color="compute"),
    ]
    feeds: Annotated[Count, _output("GPUs that the critical batch feeds", *_HELD, color="data")]
    scaled: Tokens
    rate: Annotated[
        PlainNumber,
        Output(
            "Learning rate for this batch",
            note="scaled to {scaled} tokens, the critical batch at most",
            assumes=(
                "Adam: times the square root of the ratio of the batches. SGD: times the ratio. "
                "Both up to the critical batch: above it, the best rate hardly grows.",
                "For Muon the root is what recipes use, not what is proved.",
            ),
            sources=("malladi2022", "merrill2025"),
        ),
    ]
    rescaled: Annotated[
        PlainNumber,
        Output(
            "Second decay rate for this batch",
            note="scaled to {scaled} tokens, the critical batch at most",
            assumes=(
                "The half-life of Adam's second moment stays the same in tokens, up to the "
                "critical batch: larger ones are not what the rule was tested on.",
            ),
            sources=("marek2025",),
        ),
    ]
    half_life: Annotated[
        Tokens,
        Output(
            "Half-life of the second moment",
            assumes=("Steps until half is forgotten, times the batch that it was tuned for.",),
            sources=("marek2025",),
        ),
    ]


def _time(inputs: Inputs, gpus: float, critical: Tokens) -> Seconds:
    """Return the time of the run on so many GPUs."""
    excess = tokens_over_least(gpus * inputs.tokens_per_gpu, critical)
    return inputs.tokens * excess / (gpus * inputs.token_rate)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    critical = critical_batch(inputs.tokens, inputs.measured, inputs.measured_at, inputs.exponent)
    batch = float(inputs.num_gpus * inputs.tokens_per_gpu)
    scaled = min(batch, critical)
    factor = scaled / min(inputs.tuned_batch, critical)
    return Result(
        curves=Lazy(partial(_curves, inputs, critical)),
        critical=critical,
        batch=batch,
        excess=tokens_over_least(batch, critical),
        time=_time(inputs, inputs.num_gpus, critical),
        floor=_time(inputs, 1e15, critical),
        feeds=max(1, int(critical / inputs.tokens_per_gpu)),
        scaled=scaled,
        rate=inputs.learning_rate * (factor if inputs.optimizer == "sgd" else sqrt(factor)),
        rescaled=rescaled_decay(inputs.decay, factor),
        half_life=inputs.tuned_batch * log(0.5) / log(inputs.decay),
    )


def _curves(inputs: Inputs, critical: Tokens) -> Curves:
    return Curves(
        critical=tuple(
            critical_batch(tokens, inputs.measured, inputs.measured_at, inputs.exponent)
            for tokens in _TOKENS
        ),
        times=tuple(_time(inputs, gpus, critical) for gpus in GPUS),
        ideal=tuple(inputs.tokens / (gpus * inputs.token_rate) for gpus in GPUS),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "days": partial(_days, present, inputs, result),
        "verdict": _verdict(present, result),
        **present.values("critical", "batch", "excess", "time", "floor", "feeds"),
        "growth": partial(_growth, present, inputs, result),
        "changes": _changes,
        **present.values("rate", "rescaled", "half_life"),
        "challenge": partial(_challenge, inputs, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if result.batch <= result.critical:
        words = "The batch of {batch} tokens is below the critical {critical}: more GPUs help."
        return Badge(text="Below", sentence=present.say(words), color="compute")
    words = (
        "The batch of {batch} tokens is above the critical {critical}. The run needs {excess} the "
        "fewest tokens, and no number of GPUs makes it shorter than {floor}."
    )
    return Badge(text="Above", sentence=present.say(words), color="communication")


def _days(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    curves = result.curves()
    return present.curve(
        "Time of the run, by the number of GPUs",
        over=Scale("num_gpus", "GPUs", float(_LOW), float(_HIGH), log=True),
        shows=Scale("time", "time", 0.7 * min(curves.ideal), 1.3 * max(curves.times), log=True),
        x=GPUS,
        lines=(
            Line("ideal", "if no token were wasted", curves.ideal, "muted", dashed=True),
            Line("time", "with the batch that they need", curves.times, "compute"),
        ),
        rules=tuple(
            Rule(key="critical", label="critical batch", axis="x", at=float(result.feeds))
            for _ in range(_LOW <= result.feeds <= _HIGH)
        ),
        caption="Every GPU brings tokens of its own into the step. Right of the line, these tokens "
        "teach less and less.",
    )


def _growth(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    critical = result.curves().critical
    return present.curve(
        "Critical batch, by the tokens of the run",
        over=Scale("tokens", "tokens of the run", _TOKENS[0], _TOKENS[-1], log=True),
        shows=Scale(
            "critical", "tokens of a step", 0.7 * critical[0], 1.4 * critical[-1], log=True
        ),
        x=_TOKENS,
        lines=(Line("critical", "critical batch", critical, "data"),),
        caption="Ten times the data allow three times the batch.",
    )


def _changes() -> Table:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("Learning rate", "times the root of k", "the root is customary; tune it", "times k",
         Citation(("malladi2022", "goyal2017"))),
        ("Above the critical batch", "hardly grows", "hardly grows", "hardly grows",
         Citation(("mccandlish2018",))),
        ("Second decay rate", "to the power k", "of its Adam part", "none",
         Citation(("marek2025",))),
        ("Weight decay", "keep B / (rate × decay × tokens)", "likewise", "likewise",
         Citation(("bergsma2025",))),
        ("Warm-up and schedule", "in tokens", "in tokens", "in tokens", ""),
    )  # fmt: skip
    return Table(
        title="A batch k times as large: what changes",
        columns=("Setting", "Adam", "Muon", "SGD", "Source"),
        rows=rows,
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    return Challenge(
        title="Challenge: a month",
        goal="Train on a trillion tokens within 30 days, with less than a tenth more tokens than "
        "the fewest.",
        conditions=(
            Condition(text="a trillion tokens", met=inputs.tokens >= 1e12),
            Condition(text="30 days or less", met=result.time <= 30 * 86_400),
            Condition(text="at most 1.1 times the fewest tokens", met=result.excess <= 1.1),
            Condition(text="8,000 tokens per second per GPU", met=inputs.token_rate <= 8000),
        ),
        hints=(
            "The batch is what the GPUs need. How many tokens must each of them have?",
            "Half the tokens per GPU is half the batch, if the network can hide its part.",
        ),
        start={"num_gpus": 32},
        solution={"num_gpus": 64},
    )
