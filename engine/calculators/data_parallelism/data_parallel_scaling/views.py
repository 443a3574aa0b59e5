"""The numbers of the scaling curves, three versions of the step, and a challenge."""

from collections.abc import Mapping

from engine.basis.text import say
from engine.basis.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    FLOP_RATE,
    LINK_SPEED,
    RATIO,
    SECONDS,
    SHARE,
    TOKENS,
    Gbit,
)
from engine.basis.views import Badge, Challenge, Condition, Formula, Published, Receipt, Value
from engine.calculators.data_parallelism.data_parallel_scaling.inputs import Inputs
from engine.calculators.data_parallelism.data_parallel_scaling.model import Point, bandwidth
from engine.formulas.overlap import EFFICIENCY, EXPOSED_TIME, STEP_TIME
from engine.formulas.scaling import (
    BLOCKING_STEP,
    HIDING_TOKENS,
    REAL_STEP,
    blocking_step,
    real_step,
)
from engine.formulas.stragglers import ALL_BELOW, all_below

EQUATIONS = (
    BLOCKING_STEP,
    STEP_TIME,
    REAL_STEP,
    HIDING_TOKENS,
    EFFICIENCY,
    EXPOSED_TIME,
    ALL_BELOW,
)
_QUANTILE, _GOODPUT, _SEEN = 0.99, 0.95, 1e12
_STATES = 16.0  # bytes per parameter of Adam in mixed precision
_MODEL = (
    "Computation as 6 operations per parameter and token; an all-reduce in buckets as NCCL runs "
    "it; all wait for the slowest GPU."
)


def values(inputs: Inputs, now: Point, rate: float, enough: float) -> dict[str, Value]:
    """Return what n GPUs give, and why no more."""
    n = inputs.num_gpus
    wide = bandwidth(inputs, max(n, 16))
    lucky = all_below(_QUANTILE, n)
    return {
        "speedup": Value(
            label="Speed-up",
            value=n * now.efficiency,
            quantity=RATIO,
            receipt=Receipt(
                assumptions=("The number of GPUs times their efficiency.", _MODEL),
                sources=("li2020",),
                published=Published(
                    text="a published page says: 8 GPUs should be 8x faster",
                    reason="Only if nothing is exposed and nobody is late.",
                    source="pingdo_job",
                    claim="E2.4",
                ),
            ),
            note=say("of {n} GPUs against one", n=(n, COUNT)),
        ),
        "efficiency": Value(
            label="Efficiency",
            value=now.efficiency,
            quantity=SHARE,
            receipt=Receipt(
                assumptions=("Computing time of one GPU alone over the step of all.", _MODEL)
            ),
            note="of its speed alone that each GPU keeps",
        ),
        "tokens_per_gpu": Value(
            label="Tokens per GPU",
            value=now.tokens,
            quantity=TOKENS,
            receipt=Receipt(
                basis="definition",
                assumptions=("Weak: as set. Strong: the batch over the number of GPUs.",),
            ),
            note=say("a pass of {m} at a time", m=(inputs.micro_batch, TOKENS)),
        ),
        "hiding_tokens": Value(
            label="Tokens that hide the all-reduce",
            value=enough,
            quantity=TOKENS,
            receipt=Receipt(
                equation=HIDING_TOKENS,
                symbols={
                    "t": (enough, TOKENS),
                    "F": (rate, FLOP_RATE),
                    "W": (bandwidth(inputs, 16_384), BANDWIDTH),
                },
                inputs={"W": "port"},
                assumptions=("bf16 gradients, many GPUs, no latency, one backward pass.",),
            ),
            note="in one backward pass: F/W, whatever the model",
        ),
        "step_time": _seconds("Step", now.step, "of the slowest GPU"),
        "exposed": _seconds("Exposed communication", now.exposed, "what the step waits for"),
        "waiting": _seconds(
            "Waiting for the slowest", (now.slowest - 1) * now.compute, "mean over many steps"
        ),
        "all_below": Value(
            label="No GPU has its slowest percent",
            value=lucky,
            quantity=SHARE,
            receipt=Receipt(
                equation=ALL_BELOW,
                symbols={"A": (lucky, SHARE), "q": (_QUANTILE, SHARE), "n": (float(n), COUNT)},
                inputs={"n": "num_gpus"},
                assumptions=("GPUs are independent; holds for every distribution.",),
            ),
            note="of one GPU's own times, in a step",
        ),
        "one_in": Value(
            label="Steps until that happens",
            value=min(1 / lucky, _SEEN) if lucky > 0 else _SEEN,
            quantity=COUNT,
            receipt=Receipt(
                assumptions=(
                    "One over the probability; beyond a million million steps it is cut short.",
                ),
                sources=("david2003",),
            ),
            note="the mean wait for a step without a slowest percent",
        ),
        "states": Value(
            label="States on every GPU",
            value=_STATES * inputs.parameters,
            quantity=BYTES,
            receipt=Receipt(
                assumptions=(
                    "2 bytes of parameter, 2 of gradient, 12 of Adam per parameter.",
                    "Replicas hold all of it, however many they are.",
                ),
                sources=("rajbhandari2020",),
            ),
            note="the same with one GPU and with thousands",
            color="parameters",
        ),
        "link": Value(
            label="All-reduce runs at",
            value=wide,
            quantity=BANDWIDTH,
            receipt=Receipt(
                assumptions=("The slower of NVLink and all ports of a node, one way.",)
            ),
            note="bus bandwidth of large messages",
        ),
    }


def _seconds(label: str, value: float, note: str) -> Value:
    return Value(
        label=label,
        value=value,
        quantity=SECONDS,
        receipt=Receipt(assumptions=(_MODEL,), sources=("li2020",)),
        note=note,
    )


def formulas(now: Point) -> dict[str, Formula]:
    """Return the step in three versions: without overlap, with it, on the wall."""
    late = now.slowest * now.compute
    apart = blocking_step(now.compute, now.communication)
    beside = now.compute + now.exposed
    wall = real_step(now.compute, now.exposed, now.slowest, _GOODPUT)
    compute = (now.compute, SECONDS)
    exposed = (now.exposed, SECONDS)
    return {
        "without_overlap": Formula(
            title="Version 1: no overlap",
            equation=BLOCKING_STEP,
            symbols={
                "Ts": (apart, SECONDS),
                "Tc": compute,
                "Tm": (now.communication, SECONDS),
            },
        ),
        "with_overlap": Formula(
            title="Version 2: overlap",
            equation=STEP_TIME,
            symbols={"Ts": (beside, SECONDS), "Tc": compute, "Te": exposed},
        ),
        "on_the_wall": Formula(
            title="Version 3: jitter, and failures that cost a twentieth of the time",
            equation=REAL_STEP,
            symbols={
                "Tr": (wall, SECONDS),
                "m": (late / now.compute, RATIO),
                "Tc": compute,
                "Te": exposed,
                "g": (_GOODPUT, SHARE),
            },
        ),
    }


def regime(inputs: Inputs, now: Point, enough: float) -> Badge:
    """Return what keeps the speed-up below n."""
    late = (now.slowest - 1) * now.compute
    if now.step - now.compute < 0.02 * now.step:
        return Badge(
            text="Compute",
            sentence=say("{e} of a GPU's speed is kept.", e=(now.efficiency, SHARE)),
            color="compute",
        )
    if late > now.exposed:
        return Badge(
            text="Slowest GPU",
            sentence=say("Waiting for the slowest costs {l} a step.", l=(late, SECONDS)),
            color="compute",
        )
    few = min(now.tokens, float(inputs.micro_batch)) < enough
    return Badge(
        text="Tokens per GPU" if few else "Network",
        sentence=say(
            "{x} of the all-reduce is exposed: the last backward pass has {t} tokens, and hiding "
            "takes {h}."
            if few
            else "{x} of the all-reduce is exposed, though {t} tokens would hide it without "
            "latency.",
            x=(now.exposed, SECONDS),
            t=(min(now.tokens, inputs.micro_batch), TOKENS),
            h=(enough, TOKENS),
        ),
        color="communication",
    )


START: Mapping[str, float | int | str | bool] = {
    "mode": "strong",
    "num_gpus": 1024,
    "overlap": False,
}
SOLUTION: Mapping[str, float | int | str | bool] = {
    **START,
    "overlap": True,
    "ports_per_node": 8,
}
_TARGET = 0.9


def challenge(inputs: Inputs, now: Point) -> Challenge:
    """Return the challenge: strong scaling to 1,024 GPUs."""
    same = (inputs.parameters, inputs.gpu, inputs.utilization) == (7e9, "a100", 0.55)
    conditions = (
        Condition(
            text=say("{b} tokens in a batch, on {n} GPUs", b=(4_194_304, TOKENS), n=(1024, COUNT)),
            met=inputs.mode == "strong" and inputs.batch <= 4_194_304 and inputs.num_gpus >= 1024,
        ),
        Condition(text="the same model, GPU and MFU", met=same),
        Condition(
            text=say("ports of at most {p}", p=(100 * Gbit, LINK_SPEED)),
            met=inputs.port <= 100 * Gbit,
        ),
        Condition(
            text="jitter of one percent or more",
            met=inputs.deviation >= 0.01,
        ),
        Condition(
            text=say("an efficiency of {e} or more", e=(_TARGET, SHARE)),
            met=now.efficiency >= _TARGET,
        ),
    )
    return Challenge(
        title="Challenge: four million tokens, a thousand GPUs",
        goal="Keep nine tenths of every GPU's speed without a larger batch.",
        conditions=conditions,
        hints=(
            "What blocks, cannot hide.",
            "With 4,096 tokens per GPU, compare F/W with what the last backward pass has.",
        ),
        start=START,
        solution=SOLUTION,
    )
