"""ZeRO-3 at real scale: FSDP2's streams, prefetch, resharding, and memory over time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Number, Scalar, Switch
from engine.core.lazy import Later
from engine.core.outputs import Teller, Views
from engine.core.text import say, words
from engine.core.units import BYTES, SECONDS, Bytes, Gbit, Seconds, Share, as_given
from engine.core.views import Axis, Badge, Bar, Bars, Challenge, Condition
from engine.draw.layer_carousel import carousel
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import (
    LabContention,
    LabMicro,
    LabModel,
    LabPort,
    LabRanks,
    LabTokens,
    fit,
    simulated,
    simulated_step,
    step_segments,
    timeline,
)
from engine.simulate.data_parallel.sharded_step import Sharded, sharded
from engine.simulate.overlap.overlap_job import Setting

_SOURCES = ("rajbhandari2020", "zhao2023")
_told = partial(simulated, _SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    prefetch: Annotated[
        int,
        Number(
            label="Prefetch depth",
            low=0,
            high=4,
            whole=True,
            help="Parameters are gathered this many layers ahead of the one that computes.",
        ),
    ] = 1
    reshard: Annotated[
        bool,
        Switch(
            label="Free after the forward pass",
            help="reshard_after_forward of FSDP2. Off: one gather per micro-batch less.",
        ),
    ] = True
    tokens: LabTokens = 4096
    micro_batches: LabMicro = 1
    model: LabModel = "llama-3-8b"
    ranks: LabRanks = 64
    port: LabPort = 400 * Gbit
    slow_down: LabContention = 0.0
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step; `by_depth` is one micro-batch at each prefetch depth from 0 on."""

    ran: Sharded
    by_depth: Later[tuple[Sharded, ...]]
    step_time: Annotated[Seconds, _told("Step", "without its optimizer; {computing} computing")]
    computing: Share
    exposed: Annotated[
        Seconds,
        _told("Exposed communication", "of {isolated} in all collectives, alone", "communication"),
    ]
    isolated: Seconds
    peak: Annotated[Bytes, _told("States and buffers, at most", "{kept} of it states", "buffers")]
    kept: Annotated[Bytes, _told("States on each GPU", "between steps", "optimizer")]
    sent: Annotated[Bytes, _told("Sent by each GPU", "per step", "communication")]


def setting_of(inputs: Inputs, prefetch: int) -> Setting:
    """Return the job, its parameters gathered so many layers ahead."""
    return Setting(
        model=inputs.model,
        gpu=inputs.gpu,
        tensor_parallel=1,
        pipeline_parallel=1,
        data_parallel=inputs.ranks,
        num_microbatches=inputs.micro_batches,
        tokens=inputs.tokens,
        port=inputs.port,
        slow_down=inputs.slow_down,
        own=inputs.own_constants,
        prefetch=prefetch,
        reshard=inputs.reshard,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = setting_of(inputs, inputs.prefetch)
    ran = sharded(setting, 3)
    return Result(
        ran=ran,
        by_depth=Later(partial(_by_depth, setting)),
        step_time=ran.seen.length,
        computing=1 - ran.seen.exposed / ran.seen.length,
        exposed=ran.seen.exposed,
        isolated=ran.isolated,
        peak=ran.peak,
        kept=ran.states.total,
        sent=ran.sent,
    )


def _by_depth(setting: Setting) -> tuple[Sharded, ...]:
    one = replace(setting, num_microbatches=1)
    return tuple(sharded(replace(one, prefetch=depth), 3) for depth in range(5))


TITLE = "ZeRO-3 at real scale"
QUESTION = "How much of gathering and freeing can a step hide, and at which memory?"
PRESETS = {
    "No prefetch": {"prefetch": 0},
    "Kept after the forward pass": {"reshard": False},
    "70B on 128 GPUs": {"model": "llama-3-70b", "ranks": 128},
    "One port of 100 Gb/s per node": {"port": 12.5 * Gbit},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "carousel": partial(carousel, result.ran),
        "step_time": simulated_step(tell, result.ran.evidence),
        **tell.values("exposed"),
        "regime": _regime(tell, inputs, result),
        "timeline": partial(
            timeline,
            "A step of FSDP on its streams",
            result.ran,
            "FSDP2 has a stream for gathers and one for reductions; here they take turns on the "
            "wire. Hatched: communication that nothing hides.",
        ),
        **tell.values("peak", "kept", "sent"),
        "fits": fit(tell, result.ran),
        "depths": partial(_depths, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    share = result.exposed / result.step_time
    if inputs.prefetch == 0:
        return Badge(
            text="Every gather is waited for",
            sentence="Without prefetch a layer's gather starts when the layer before it has ended.",
            color="communication",
        )
    if share < 0.1:
        return Badge(
            text="Compute-bound",
            sentence=tell.say("Of {isolated} of communication only {exposed} is exposed."),
            color="compute",
        )
    return Badge(
        text="Network-bound",
        sentence=tell.say("The network never rests for long: {exposed} is exposed."),
        color="communication",
    )


def _depths(result: Result) -> Bars:
    depths = result.by_depth()
    high = max(one.seen.length for one in depths) * 1.05
    return Bars(
        title="One micro-batch by prefetch depth",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"depth{depth}",
                label=f"depth {depth}, {_gigabytes(one.peak)}",
                segments=step_segments(one),
            )
            for depth, one in enumerate(depths)
        ),
        caption="Beside the depth: states and buffers at most.",
    )


def _gigabytes(size: Bytes) -> str:
    return words(say("{m}", m=(size, BYTES)))


START: Mapping[str, Scalar] = {"model": "llama-3-70b", "prefetch": 0, "tokens": 4096, "ranks": 64}
SOLUTION: Mapping[str, Scalar] = {**START, "prefetch": 1, "ranks": 128}
_MOST: Bytes = 20e9


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    share = result.exposed / result.step_time
    return Challenge(
        title="Challenge: 70B in a quarter of the memory",
        goal=say(
            "Train Llama 3 70B with at most {m} of states and buffers, and wait for less than a "
            "tenth of the step.",
            m=(_MOST, as_given(BYTES)),
        ),
        conditions=(
            Condition(
                text="Llama 3 70B on H100, ports of at most 400 Gb/s",
                met=inputs.model == "llama-3-70b"
                and inputs.gpu == "h100"
                and inputs.port <= 400 * Gbit,
            ),
            Condition(
                text="at most 4,096 tokens in a micro-batch, one micro-batch",
                met=inputs.tokens <= 4096 and inputs.micro_batches == 1,
            ),
            Condition(
                text=say("at most {m} for states and buffers", m=(_MOST, as_given(BYTES))),
                met=result.peak <= _MOST,
            ),
            Condition(text="less than 10 % of the step exposed", met=share < 0.1),
        ),
        hints=(
            "Prefetch hides gathers, and costs room for one more unit per level.",
            "States shrink with the number of GPUs. Buffers do not.",
        ),
        start=START,
        solution=SOLUTION,
    )
