"""Hierarchical sharding at real scale: the step by width of the shard group."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Scalar, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Presenter, Views
from engine.core.text import render_text, say
from engine.core.units import (
    BYTES,
    COUNT,
    SECONDS,
    SHARE,
    Bytes,
    Count,
    Gbit,
    Seconds,
    Share,
    with_digits,
)
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Scale,
)
from engine.form.fields import LabGpu, OwnConstants
from engine.form.memory_fit import tight_mark
from engine.form.sharded.lab import (
    LabGradients,
    LabMicro,
    LabModel,
    LabPort,
    LabTokens,
    fit_badge,
    gradient_setting,
    simulated_output,
    simulated_step,
    step_segments,
    step_timeline,
)
from engine.run.parallelism import GradientPrecision
from engine.simulate.data_parallel.sharded_step import (
    ShardedSetting,
    ShardedStep,
    sharded_step_length,
    sharded_step_times,
    simulate_sharded_step,
)
from engine.simulate.streams.stream_account import ExposedAccount

PRESETS = {
    "Full sharding": {"shard": 128},
    "A second copy in the node (hpZ)": {"shard": 128, "second": True},
    "Four micro-batches": {"micro_batches": 4},
    "70B, ports of 50 Gb/s": {
        "model": "llama-3-70b",
        "shard": 16,
        "port": 50 * Gbit,
        "tokens": 8192,
    },
}
NODE: Count = 8
TOKENS = tuple(512 * 2**i for i in range(9))
_SIZES = (16, 32, 64, 128, 256, 512)
_TYPES: tuple[GradientPrecision, ...] = ("fp32", "bf16")
_output = partial(simulated_output, ("zhang2022_mics", "zhao2023"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    shard: Annotated[
        int,
        Number(
            label="GPUs that share one copy",
            low=2,
            high=512,
            scale="log2",
            whole=True,
            help="It is rounded to a power of two, at most all GPUs.",
        ),
    ] = 8
    second: Annotated[
        bool,
        Switch(
            label="Backward gathers stay in the node",
            help="A second copy of the parameters in every node: zero_hpz_partition_size=8 in "
            "DeepSpeed, reshard_after_forward=8 in FSDP2.",
        ),
    ] = False
    micro_batches: LabMicro = 1
    sums: Annotated[
        str,
        Choice(
            label="Copies add their gradients",
            options={"once": "once a step", "each": "with every micro-batch"},
        ),
    ] = "each"
    tokens: LabTokens = 4096
    port: LabPort = 100 * Gbit
    model: LabModel = "llama-3-8b"
    ranks: Annotated[str, Choice(label="GPUs", options={str(n): f"{n:,}" for n in _SIZES})] = "128"
    gradients: LabGradients = "fp32"
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step; without a second copy, the steps of every width and their compute shares.

    Attributes:
        by_width: as `widths` are.
        by_tokens: (width, share of the step that computes, as `TOKENS` are): over all, a node.
        fastest: type of the gradients -> the fastest width, its step, and that of full sharding.
    """

    ran: ShardedStep
    width: Count
    widths: tuple[Count, ...]
    by_width: Lazy[tuple[ShardedStep, ...]]
    by_tokens: Lazy[tuple[tuple[Count, tuple[Share, ...]], ...]]
    fastest: Lazy[Mapping[str, tuple[Count, Seconds, Seconds]]]
    step_time: Annotated[Seconds, _output("Step", "{closing} of it optimizer, host, slowest GPU")]
    closing: Seconds
    computing: Share
    exposed: Annotated[
        Seconds,
        _output(
            "Exposed communication", "of {isolated} in all collectives, alone", "communication"
        ),
    ]
    isolated: Seconds
    peak: Annotated[Bytes, _output("States and buffers, at most", "{kept} of it states", "buffers")]
    kept: Annotated[Bytes, _output("States on each GPU", "between steps", "optimizer")]


def width_of(inputs: Inputs) -> Count:
    """Return the reader's width as a power of two that divides the GPUs."""
    return int(min(2 ** round(math.log2(inputs.shard)), int(inputs.ranks)))


def setting_of(inputs: Inputs, shard: Count) -> ShardedSetting:
    """Return the job with another width."""
    ranks = int(inputs.ranks)
    wide = shard > NODE and inputs.second
    return ShardedSetting(
        model=inputs.model,
        gpu=inputs.gpu,
        ranks=ranks,
        num_microbatches=inputs.micro_batches,
        tokens=inputs.tokens,
        port=inputs.port,
        gradient=gradient_setting("fsdp", inputs.gradients),
        own_constants=inputs.own_constants,
        again=NODE if wide else 0,
        shard=0 if shard == ranks else shard,
        sum_once=inputs.sums == "once",
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    width = width_of(inputs)
    ran = simulate_sharded_step(setting_of(inputs, width))
    widths = tuple(2**i for i in range(1, int(inputs.ranks).bit_length()))
    plain = replace(inputs, second=False)
    return Result(
        ran=ran,
        width=width,
        widths=widths,
        by_width=Lazy(
            lambda: tuple(simulate_sharded_step(setting_of(plain, width)) for width in widths)
        ),
        fastest=Lazy(partial(_fastest_widths, plain, widths)),
        by_tokens=Lazy(partial(_computing_by_tokens, plain)),
        step_time=ran.step,
        closing=ran.closing,
        computing=ran.computing,
        exposed=ran.account.exposed,
        isolated=ran.isolated,
        peak=ran.peak,
        kept=ran.states.total,
    )


def _fastest_widths(
    plain: Inputs, widths: tuple[Count, ...]
) -> Mapping[str, tuple[Count, Seconds, Seconds]]:
    """Return the fastest width for each type of the gradients."""
    fastest: dict[str, tuple[Count, Seconds, Seconds]] = {}
    for gradients in _TYPES:
        typed = replace(plain, gradients=gradients)
        times = {width: sharded_step_length(setting_of(typed, width)) for width in widths}
        best = min(times, key=times.__getitem__)
        fastest[gradients] = best, times[best], times[widths[-1]]
    return fastest


def _computing_by_tokens(plain: Inputs) -> tuple[tuple[Count, tuple[Share, ...]], ...]:
    return tuple(
        (
            width,
            tuple(
                _computing_share(sharded_step_times(replace(setting, tokens=count)))
                for count in TOKENS
            ),
        )
        for width, setting in (
            (width, setting_of(plain, width)) for width in (int(plain.ranks), NODE)
        )
    )


def _computing_share(seen: ExposedAccount) -> Share:
    return 1 - seen.exposed / seen.length


_MOST: Share = 0.2
_ROOM: Bytes = 35e9
START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "ranks": "128",
    "shard": 8,
    "second": False,
    "micro_batches": 1,
    "tokens": 4096,
    "port": 50 * Gbit,
    "gradients": "fp32",
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "shard": 128,
    "second": True,
    "tokens": 8192,
    "gradients": "bf16",
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge with the conditions that are met."""
    share = result.exposed / result.step_time
    return Challenge(
        title="Challenge: 70B on a slower network",
        goal=say(
            "Train Llama 3 70B on 128 H100 with ports of 50 Gb/s, at most 8,192 tokens in a "
            "micro-batch and {m} of states and buffers, and expose less than {s} of the step.",
            s=(_MOST, with_digits(SHARE)),
            m=(_ROOM, with_digits(BYTES)),
        ),
        conditions=(
            Condition(
                text="Llama 3 70B on 128 H100, ports of at most 50 Gb/s",
                met=inputs.model == "llama-3-70b"
                and inputs.ranks == "128"
                and inputs.gpu == "h100"
                and inputs.port <= 50 * Gbit,
            ),
            Condition(
                text="at most 8,192 tokens in a micro-batch, one micro-batch",
                met=inputs.tokens <= 8192 and inputs.micro_batches == 1,
            ),
            Condition(
                text=say("at most {m} for states and buffers", m=(_ROOM, with_digits(BYTES))),
                met=result.peak <= _ROOM,
            ),
            Condition(
                text=say("less than {s} of {t} exposed", s=(_MOST, with_digits(SHARE)),
                         t=(result.step_time, SECONDS)),
                met=share < _MOST,
            ),
        ),
        hints=(
            "A node of eight cannot hold these states in so little room.",
            "What crosses between nodes twice can cross once.",
            "A gradient of half the size takes half as long on its way.",
            "Twice the tokens compute twice as long, and are gathered for no longer.",
        ),
        start=START,
        solution=SOLUTION,
    )  # fmt: skip


TITLE = "Hierarchical sharding at real scale"
QUESTION = "How wide should the states of this job be sharded?"
HEADLINE = "step_time"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "step_time": simulated_step(present, result.ran.evidence),
        **present.values("exposed", "peak", "kept"),
        "regime": _regime(present, inputs, result),
        "fits": fit_badge(present, result.ran),
        "advice": partial(_advice, result),
        "widths": partial(_width_bars, inputs, result),
        "timeline": partial(
            step_timeline,
            "A step on its streams",
            result.ran,
            "Gathers and reductions inside a node and the sums between nodes use different "
            "wires. Hatched: communication that nothing hides.",
        ),
        "curve": partial(_curve, present, inputs, result),
        "challenge": partial(challenge, inputs, result),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if result.exposed > 0.1 * result.step_time:
        return Badge(
            text="The step waits for the network",
            sentence=present.say("{exposed} of {step_time} is exposed."),
            color="communication",
        )
    return Badge(
        text="Hidden",
        sentence=present.say("{exposed} of {step_time} is exposed, with {kept} of states."),
        color="compute",
    )


def _advice(result: Result) -> Badge:
    """Return the fastest width with gradients in fp32 and in bf16."""
    (wide, time, whole), (narrow, half_time, half_whole) = (
        result.fastest()[gradients] for gradients in _TYPES
    )
    return Badge(
        text="The type of the gradients decides" if wide != narrow else "The same for both types",
        sentence=say(
            "With fp32, {u} over all GPUs and {t} at best, in groups of {a}; with bf16, {w} and "
            "{v}, in groups of {b}. Where the network is the limit, one published run alone stands "
            "behind it.",
            a=(wide, COUNT),
            t=(time, SECONDS),
            u=(whole, SECONDS),
            b=(narrow, COUNT),
            v=(half_time, SECONDS),
            w=(half_whole, SECONDS),
        ),
        color="communication",
    )


def _width_bars(inputs: Inputs, result: Result) -> Bars:
    steps = list(zip(result.widths, result.by_width(), strict=True))
    if inputs.second and result.width > NODE:
        steps.append((0, result.ran))
    high = max(step.step for _, step in steps) * 1.05
    return Bars(
        title="The step by width of the shard group",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(_bar(width, step, inputs) for width, step in steps),
        caption="Beside the width: states and buffers at most. Activations come on top.",
    )


def _bar(width: int, step: ShardedStep, inputs: Inputs) -> Bar:
    memory = render_text(say("{m}", m=(step.peak, BYTES)))
    name = f"{width} GPUs" if width else "with a second copy"
    if width == int(inputs.ranks):
        name = f"all {width}"
    return Bar(
        key=f"width{width}",
        label=f"{name}, {memory}{tight_mark(step.fit)}",
        segments=step_segments(step),
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    labels = ("one copy over all", "communication"), ("a copy in each node", "data")
    return present.curve(
        "Share of the step that computes, by tokens of a micro-batch",
        over=Scale("tokens", "tokens of a micro-batch", 512, 131_072, log=True),
        shows=Scale("computing", "computing", 0.0, 1.05),
        x=TOKENS,
        lines=(
            Line(f"width{width}", label, shares, color, dashed=width != result.width)
            for (label, color), (width, shares) in zip(labels, result.by_tokens(), strict=True)
        ),
        caption="The rest of the step is exposed communication.",
    )
