"""The settings of FSDP2 with the cost and gain of each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, Bytes, Count, Gbit, Seconds
from engine.core.views import Badge, Table
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.knobs import KnobModel, KnobPort
from engine.form.sharded.lab import (
    LabRanks,
    LabTokens,
    fit_badge,
    gradient_setting,
    simulated_output,
    simulated_step,
    step_timeline,
)
from engine.run.parallelism import GradientPrecision
from engine.simulate.data_parallel.sharded_step import (
    ShardedSetting,
    ShardedStep,
    simulate_sharded_step,
)

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "Kept after the forward pass": {"reshard": "false"},
    "Resharded to the node": {"reshard": "node"},
    "Only the model is wrapped": {"unit": "all"},
    "Ports of 100 Gb/s": {"port": 100 * Gbit},
}
_NODE = 8
_DEFAULTS: Mapping[str, Any] = {"unit": "1", "reshard": "true", "prefetch": 1, "reduce": "fp32"}
# (setting, value as it is told, what it changes): each alone, all others at their defaults
TRIED_SETTINGS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("all defaults", "", {}),
    ("reshard_after_forward", "8", {"reshard": "node"}),
    ("reshard_after_forward", "False", {"reshard": "false"}),
    ("prefetch, forward and backward", "2 modules", {"prefetch": 2}),
    ("prefetch", "none", {"prefetch": 0}),
    ("fully_shard on", "groups of 4 layers", {"unit": "4"}),
    ("fully_shard on", "the model only", {"unit": "all"}),
    ("mp_policy, reduce_dtype", "bfloat16", {"reduce": "bf16"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    unit: Annotated[
        str,
        Choice(
            label="Layers per fully_shard",
            options={"1": "1", "2": "2", "4": "4", "8": "8", "all": "all, one call"},
            help="What is gathered, computed and freed as one.",
        ),
    ] = "1"
    reshard: Annotated[
        str,
        Choice(
            label="reshard_after_forward",
            options={"true": "True", "node": "8: over the node", "false": "False"},
            help="Free the parameters, keep a share over eight GPUs, or keep them.",
        ),
    ] = "true"
    prefetch: Annotated[
        int,
        Number(
            label="Modules gathered ahead",
            low=0,
            high=4,
            whole=True,
            help="1 by default; more by set_modules_to_forward_prefetch and its backward twin.",
        ),
    ] = 1
    reduce: Annotated[
        GradientPrecision,
        Choice(
            label="reduce_dtype",
            options={"fp32": "torch.float32", "bf16": "torch.bfloat16"},
            help="Of MixedPrecisionPolicy; torchtitan's is float32. None: as param_dtype, bf16.",
        ),
    ] = "fp32"
    model: KnobModel = "llama-3-8b"
    ranks: LabRanks = 64
    tokens: LabTokens = 4096
    port: KnobPort = 400 * Gbit
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


_output = partial(simulated_output, ("pytorch_fsdp2", "zhao2023"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step; `tried` are those of `TRIED_SETTINGS`."""

    ran: ShardedStep
    tried: Lazy[tuple[ShardedStep, ...]]
    exposed: Annotated[
        Seconds, _output("Exposed communication", "of a step of {step_time}", "communication")
    ]
    buffers: Annotated[
        Bytes, _output("Gathered and on its way", "at most, beside {states} of states", "buffers")
    ]
    calls: Annotated[Count, _output("Collectives", "in a step", "communication")]
    step_time: Annotated[
        Seconds, _output("Step", "{closing} of it optimizer, host, slowest GPU", "ink")
    ]
    states: Bytes
    closing: Seconds


def setting_of(inputs: Inputs) -> ShardedSetting:
    """Return the job with its settings of FSDP2."""
    layers = MODELS[inputs.model].num_layers
    unit = layers if inputs.unit == "all" else int(inputs.unit)
    return ShardedSetting(
        model=inputs.model,
        gpu=inputs.gpu,
        ranks=inputs.ranks,
        tokens=inputs.tokens,
        port=inputs.port,
        own_constants=inputs.own_constants,
        unit=unit,
        prefetch=inputs.prefetch,
        # The outermost module keeps its parameters for the backward pass.
        reshard=inputs.reshard != "false" and unit < layers,
        again=min(_NODE, inputs.ranks) if inputs.reshard == "node" else 0,
        gradient=gradient_setting("fsdp", inputs.reduce),
    )


def calls_of(ran: ShardedStep) -> Count:
    """Return the collectives of a step."""
    return sum(":" in span.op.key for span in ran.spans)


def buffers_of(ran: ShardedStep) -> Bytes:
    """Return the bytes of temporary buffers on top of the states."""
    return ran.peak - ran.states.total


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    ran = simulate_sharded_step(setting_of(inputs))
    return Result(
        ran=ran,
        tried=Lazy(partial(_try_settings, inputs)),
        exposed=ran.account.exposed,
        buffers=buffers_of(ran),
        calls=calls_of(ran),
        step_time=ran.step,
        states=ran.states.total,
        closing=ran.closing,
    )


def _try_settings(inputs: Inputs) -> tuple[ShardedStep, ...]:
    """Return the step of every setting of `TRIED_SETTINGS`, the job as the reader has it."""
    return tuple(
        simulate_sharded_step(setting_of(replace(inputs, **{**_DEFAULTS, **change})))
        for *_, change in TRIED_SETTINGS
    )


TITLE = "Settings of FSDP2"
QUESTION = "What does each setting of FSDP2 cost in memory, calls and time?"
HEADLINE = "step_time"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "timeline": partial(
            step_timeline,
            "A step of FSDP2 on its streams",
            result.ran,
            "Hatched: communication that nothing hides. Below, the memory of states and buffers.",
        ),
        **present.values("exposed", "buffers", "calls"),
        "regime": _regime(present, inputs, result),
        "board": partial(_board, result),
        "fits": fit_badge(present, result.ran),
        "step_time": simulated_step(present, result.ran.evidence),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.unit == "all":
        return Badge(
            text="Nothing overlaps",
            sentence="All parameters are one group: gathered before the first layer computes, and "
            "reduced after the last.",
            color="communication",
        )
    if result.exposed > 0.1 * result.step_time:
        return Badge(
            text="The step waits",
            sentence=present.say("{exposed} of {step_time} is exposed."),
            color="communication",
        )
    return Badge(
        text="Hidden",
        sentence=present.say("{exposed} of {step_time} is exposed, for {buffers} of room."),
        color="compute",
    )


def _board(result: Result) -> Table:
    """Return every setting changed alone, the job as the reader has it."""
    return Table(
        title="One setting changed at a time",
        columns=("Setting", "Value", "Room", "Collectives", "Exposed"),
        rows=tuple(
            (name, value, *_row(ran))
            for (name, value, _), ran in zip(TRIED_SETTINGS, result.tried(), strict=True)
        ),
        caption="Room: parameters gathered and gradients on their way, at most. Your model, GPUs, "
        "tokens and ports.",
    )


def _row(ran: ShardedStep) -> tuple[Text, ...]:
    return (
        say("{b}", b=(buffers_of(ran), BYTES)),
        say("{n}", n=(calls_of(ran), COUNT)),
        say("{t}", t=(ran.account.exposed, SECONDS)),
    )
