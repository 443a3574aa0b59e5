"""The noise scale: progress, steps, tokens and GPUs by the size of the batch."""

from functools import partial

from engine.calculators.one_gpu.noise_scale.inputs import HIGH, LOW, Inputs
from engine.calculators.one_gpu.noise_scale.result import COLUMN, Result
from engine.calculators.one_gpu.noise_scale.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.units import PARAMETERS
from engine.core.views import Axis, Challenge, Condition, Lines, Point, Rule, Series
from engine.formulas.batch_noise import BATCH_STEPS, BATCH_TOKENS, PROGRESS

TITLE = "How large should the batch be?"
QUESTION = "When do larger batches stop helping?"
EQUATIONS = (PROGRESS, BATCH_STEPS, BATCH_TOKENS)
PRESETS = {
    "A quarter of the noise scale": {"batch": 500_000.0},
    "Four times the noise scale": {"batch": 8e6},
    "Ethernet of 100 Gb/s per node": {"port": 12.5e9 / 8},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("share", "steps", "tokens", "gpus", "per_gpu", "time", "excess"),
        **tell.values("quarter", "fourfold", "kaplan"),
        "curve": partial(_curve, tell, inputs, result),
        "pareto": partial(_pareto, tell, inputs, result),
        "cluster": partial(_cluster, tell, inputs, result),
        "formula": tell.formula("Progress of a step", PROGRESS),
        "challenge": _challenge(inputs, result),
    }


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    return Lines(
        title="Progress of one step, over the batch",
        x=tell.axis("batch", "tokens of a step", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("share", "of the most possible", low=0.0, high=1.05),
        series=(
            Series(
                key="progress",
                label="progress",
                x=COLUMN,
                y=result.curves().progress,
                color="compute",
            ),
        ),
        points=(Point(key="now", label=tell.say("{share}"), x=inputs.batch, y=result.share),),
        rules=(Rule(key="noise", label="noise scale", axis="x", at=inputs.noise_scale),)
        if LOW <= inputs.noise_scale <= HIGH
        else (),
        handle="batch",
        caption="Drag the handle across the noise scale.",
    )


def _pareto(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    steps, tokens = result.curves().steps, result.curves().tokens
    least = inputs.least_steps * inputs.noise_scale
    return Lines(
        title="Steps against tokens: every batch is a trade",
        x=tell.axis(
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
            Point(key="now", label=tell.say("{steps} steps"), x=result.steps, y=result.tokens),
        ),
        rules=(
            Rule(key="least-steps", label="fewest steps", axis="x", at=inputs.least_steps),
            Rule(key="least-tokens", label="fewest tokens", axis="y", at=least),
        ),
        caption="Large batches are on the upper left: few steps, many tokens. Small ones are on "
        "the lower right. At the noise scale both are twice their minimum.",
    )


def _cluster(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the time of the run over the batch, with as many GPUs as each batch feeds."""
    times = result.curves().times
    return Lines(
        title="Time of the run, with as many GPUs as the batch feeds",
        x=tell.axis("batch", "tokens of a step", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("time", "time", low=0.5 * times[-1], high=1.5 * times[0], scale="log"),
        series=(Series(key="time", label="time", x=COLUMN, y=times, color="data"),),
        points=(Point(key="now", label=tell.say("{time}"), x=inputs.batch, y=result.time),),
        handle="batch",
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
