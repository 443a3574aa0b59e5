"""The noise scale: progress, steps, tokens and GPUs by the size of the batch."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.core.inputs import GBITS, Choice, Number, Scalar
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import COUNT, PARAMETERS, TOKENS, Count, Gbit, Ratio, Seconds, Share, Tokens
from engine.core.views import Axis, Challenge, Condition, Line, Lines, Point, Rule, Scale, Series
from engine.formulas.batch_noise import (
    BATCH_STEPS,
    BATCH_TOKENS,
    PROGRESS,
    batch_steps,
    batch_tokens,
    kaplan_critical_batch,
    progress,
)

LOW, HIGH = 1e3, 1e9
_GPUS = ("H100-SXM", "H200-SXM", "B200", "A100-SXM-80GB", "MI300X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    noise_scale: Annotated[
        float,
        Number(label="Noise scale, tokens", low=1e2, high=1e8, scale="log"),
        TOKENS,
        Symbol("N"),
    ] = 2e6
    batch: Annotated[
        float,
        Number(label="Batch, tokens of a step", low=LOW, high=HIGH, scale="log", symbol="B"),
        TOKENS,
        Symbol("B"),
    ] = 1e6
    least_steps: Annotated[
        float,
        Number(label="Steps with an infinite batch", low=100.0, high=1e6, scale="log"),
        COUNT,
        Symbol("M"),
    ] = 10_000.0
    gpu: Annotated[
        str, Choice(label="GPU", options={key: ACCELERATORS[key].name for key in _GPUS})
    ] = "H100-SXM"
    port: Annotated[
        float,
        Number(
            label="Port of each GPU",
            unit=GBITS,
            low=1 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="One way; nodes of 8 GPUs.",
        ),
    ] = 400 * Gbit
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
    language_loss: Annotated[
        float,
        Number(
            label="Loss, nats per token",
            low=1.0,
            high=6.0,
            step=0.1,
            advanced=True,
            help="For Kaplan's formula only.",
        ),
        COUNT,
    ] = 2.0


_ASSUMES = ("The noise scale stays the same over the run; in truth it grows.",)


COLUMN = tuple(LOW * (HIGH / LOW) ** (at / 72) for at in range(73))


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Over the batches of `COLUMN`; `times` are of the run, on as many GPUs as a batch feeds."""

    progress: tuple[Share, ...]
    steps: tuple[float, ...]
    tokens: tuple[Tokens, ...]
    times: tuple[Seconds, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Steps, tokens and time of the run at the chosen batch size."""

    curves: Lazy[Curves]

    share: Annotated[
        Share,
        Output("Progress of a step", "e", "of what an infinite batch would make", "compute"),
    ]
    steps: Annotated[
        Count, Output("Steps", "S", "{least_steps} with an infinite batch", assumes=_ASSUMES)
    ]
    tokens: Annotated[Tokens, Output("Tokens in all", "E", assumes=_ASSUMES)]
    excess: Annotated[
        Ratio,
        Output(
            "Over the fewest tokens",
            assumes=("Tokens over the noise scale times the fewest steps.",),
            sources=("mccandlish2018",),
        ),
    ]
    per_gpu: Annotated[
        Tokens,
        Output(
            "Tokens that each GPU needs",
            note="in a step, so that fully sharded training hides its traffic",
            color="data",
            assumes=(
                "The peak of the GPU over what its node sends into the network: F/W.",
                "Data parallelism with full sharding, eight GPUs and their ports per node.",
            ),
            sources=("scaling_book",),
        ),
    ]
    gpus: Annotated[
        Count,
        Output(
            "GPUs that the batch feeds",
            color="data",
            assumes=("The batch over the tokens that each GPU needs; at least one.",),
            sources=("scaling_book",),
        ),
    ]
    time: Annotated[
        Seconds,
        Output(
            "Time of the run",
            color="data",
            assumes=("Steps times the time of a step on that many GPUs.", *_ASSUMES),
            sources=("mccandlish2018",),
        ),
    ]
    quarter: Annotated[
        Share,
        Output(
            "Progress at a quarter of the noise scale",
            assumes=("One over one plus four.",),
            sources=("mccandlish2018",),
        ),
    ]
    fourfold: Annotated[
        Share,
        Output(
            "Progress at four times the noise scale",
            assumes=("One over one plus a quarter.",),
            sources=("mccandlish2018",),
        ),
    ]
    kaplan: Annotated[
        Tokens,
        Output(
            "Critical batch by Kaplan 2020",
            note="tokens, at a loss of {language_loss} nats",
            assumes=(
                "2 × 10⁸ tokens over the loss to the power of 1/0.21; fitted to small models "
                "of 2020.",
            ),
            sources=("kaplan2020",),
        ),
    ]


def _num_gpus(batch: Tokens, per_gpu: Tokens) -> Count:
    """Return the number of GPUs that a batch keeps busy, at least 1."""
    return max(1, int(batch / per_gpu))


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    scale, least = inputs.noise_scale, inputs.least_steps
    peak = ACCELERATORS[inputs.gpu].peak["bf16"]
    per_gpu = peak / (8 * inputs.port)
    gpus = _num_gpus(inputs.batch, per_gpu)
    steps = batch_steps(inputs.batch, scale, least)
    tokens = batch_tokens(inputs.batch, scale, least)
    step_time = inputs.batch / gpus / inputs.token_rate
    return Result(
        curves=Lazy(partial(_curves, inputs, per_gpu)),
        share=progress(inputs.batch, scale),
        steps=steps,  # type: ignore[arg-type]
        tokens=tokens,
        excess=tokens / (least * scale),
        per_gpu=per_gpu,
        gpus=gpus,
        time=steps * step_time,
        quarter=progress(0.25, 1.0),
        fourfold=progress(4.0, 1.0),
        kaplan=float(f"{kaplan_critical_batch(inputs.language_loss):.3g}"),
    )


def _curves(inputs: Inputs, per_gpu: Tokens) -> Curves:
    scale, least = inputs.noise_scale, inputs.least_steps
    tokens = tuple(batch_tokens(batch, scale, least) for batch in COLUMN)
    return Curves(
        progress=tuple(progress(batch, scale) for batch in COLUMN),
        steps=tuple(batch_steps(batch, scale, least) for batch in COLUMN),
        tokens=tokens,
        times=tuple(
            count / _num_gpus(batch, per_gpu) / inputs.token_rate
            for batch, count in zip(COLUMN, tokens, strict=True)
        ),
    )


TITLE = "How large should the batch be?"
QUESTION = "When do larger batches stop helping?"
HEADLINE = "share"
EQUATIONS = (PROGRESS, BATCH_STEPS, BATCH_TOKENS)
PRESETS = {
    "A quarter of the noise scale": {"batch": 500_000.0},
    "Four times the noise scale": {"batch": 8e6},
    "Ethernet of 100 Gb/s per node": {"port": 12.5e9 / 8},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("share", "steps", "tokens", "gpus", "per_gpu", "time", "excess"),
        **present.values("quarter", "fourfold", "kaplan"),
        "curve": partial(_curve, present, inputs, result),
        "pareto": partial(_pareto, present, inputs, result),
        "cluster": partial(_cluster, present, inputs, result),
        "formula": present.formula("Progress of a step", PROGRESS),
        "challenge": _challenge(inputs, result),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Progress of one step, over the batch",
        over=Scale("batch", "tokens of a step", LOW, HIGH, log=True),
        shows=Scale("share", "of the most possible", 0.0, 1.05),
        x=COLUMN,
        lines=(Line("progress", "progress", result.curves().progress, "compute"),),
        rules=(Rule(key="noise", label="noise scale", axis="x", at=inputs.noise_scale),)
        if LOW <= inputs.noise_scale <= HIGH
        else (),
        caption="Drag the handle across the noise scale.",
    )


def _pareto(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    steps, tokens = result.curves().steps, result.curves().tokens
    least = inputs.least_steps * inputs.noise_scale
    return Lines(
        title="Steps against tokens: every batch is a trade",
        x=present.axis(
            "steps", "steps", low=0.8 * inputs.least_steps, high=1.1 * steps[0], scale="log"
        ),
        y=Axis(
            label="tokens in all",
            quantity=PARAMETERS,
            low=0.7 * least,
            high=1.3 * max(tokens),
            scale="log",
        ),
        series=(
            Series(
                key="trade",
                label="same loss",
                x=steps[::-1],
                y=tokens[::-1],
                color="compute",
            ),
        ),
        points=(
            Point(key="now", label=present.say("{steps} steps"), x=result.steps, y=result.tokens),
        ),
        rules=(
            Rule(key="least-steps", label="fewest steps", axis="x", at=inputs.least_steps),
            Rule(key="least-tokens", label="fewest tokens", axis="y", at=least),
        ),
        caption="Large batches are on the upper left: few steps, many tokens. Small ones are on "
        "the lower right. At the noise scale both are twice their minimum.",
    )


def _cluster(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the time of the run over the batch, with as many GPUs as each batch feeds."""
    times = result.curves().times
    return present.curve(
        "Time of the run, with as many GPUs as the batch feeds",
        over=Scale("batch", "tokens of a step", LOW, HIGH, log=True),
        shows=Scale("time", "time", 0.5 * times[-1], 1.5 * times[0], log=True),
        x=COLUMN,
        lines=(Line("time", "time", times, "data"),),
        caption="Far left of the noise scale, twice the batch means twice the GPUs and nearly half "
        "the time. Right of it, more GPUs gain less and less.",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    start: dict[str, Scalar] = {"noise_scale": 2e6, "batch": 1e8}
    return Challenge(
        title="Challenge: fast, and not wasteful",
        goal="The noise scale is two million tokens. Choose a batch that needs at most twice the "
        "fewest steps, and at most twice the fewest tokens.",
        conditions=(
            Condition(text="a noise scale of 2,000,000 tokens", met=inputs.noise_scale == 2e6),
            Condition(
                text="at most twice the fewest steps",
                met=result.steps <= 2.0001 * inputs.least_steps,
            ),
            Condition(text="at most twice the fewest tokens", met=result.excess <= 2.0001),
        ),
        hints=(
            "Both conditions leave only one batch.",
            "Steps are M(1 + N/B), tokens are M(N + B); N is the noise scale.",
        ),
        start=start,
        solution={**start, "batch": 2e6},
    )
