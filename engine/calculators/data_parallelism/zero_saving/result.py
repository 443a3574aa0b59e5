"""Results of the ZeRO saving: every number with its label, symbol and note."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.core.inputs import BILLIONS, Choice, Number, Unit
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Symbol
from engine.core.units import BYTES, GB, Bytes, Count, Parameters, Ratio, Share
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, StateBytes
from engine.formulas.volumes import gradient_passes, parameter_passes
from engine.formulas.zero_gains import zero_saving
from engine.simulate.data_parallel.zero_saving import (
    StageSharding,
    ZeroJob,
    rank_bytes_sent,
    stage_sharding,
)
from engine.simulate.memory.allocator import usable_bytes

# Inputs of the ZeRO saving, and the job that they describe.

CUSTOM_TYPES = "custom"
STAGES: tuple[Count, ...] = (0, 1, 2, 3)
_BYTES = Unit(" B", 1.0)
_GIGABYTES = Unit(" GB", GB, {"TB": 1e12, "GiB": 2.0**30}, quantity=BYTES)
_OFFERED = (
    "llama-3-8b",
    "llama-3-70b",
    "llama-3-405b",
    "llama-2-7b",
    "llama-2-13b",
    "gpt-3-175b",
    "deepseek-v3",
    "tiny-260",
)
_NAMES: Mapping[str, str] = {key: MODELS[key].name for key in _OFFERED} | {CUSTOM_TYPES: "your own"}


def _bytes_field(label: str, symbol: str, help_text: str) -> Number:
    return Number(
        label=label,
        unit=_BYTES,
        low=0.0,
        high=24.0,
        step=0.5,
        symbol=symbol,
        help=help_text,
        advanced=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[
        int,
        Number(
            label="GPUs that share the states",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            symbol="N",
        ),
    ] = 8
    zero_stage: Annotated[
        str,
        Choice(
            label="Sharded",
            options={
                "1": "optimizer (ZeRO-1)",
                "2": "and gradients (ZeRO-2)",
                "3": "and parameters (ZeRO-3)",
                "0": "nothing (DDP)",
            },
        ),
    ] = "1"
    model: Annotated[str, Choice(label="Model", cites=False, options=_NAMES)] = "llama-3-8b"
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=64,
            scale="log2",
            whole=True,
            symbol="g",
            help="Gradients are accumulated over them.",
        ),
        Symbol("micro"),  # in the equations g is a gradient's bytes
    ] = 1
    capacity: Annotated[
        float,
        Number(
            label="GPU memory",
            unit=_GIGABYTES,
            low=8 * GB,
            high=512 * GB,
            scale="log",
            symbol="C",
            help="What programs can allocate, as PyTorch reports it: less than on the label.",
        ),
    ] = GPUS["h100"].memory
    parameters: Annotated[
        float,
        Number(
            label="Parameters of your own model",
            unit=BILLIONS,
            low=1e6,
            high=1e13,
            scale="log",
            symbol="P",
            help="Counts if the model above is your own.",
            advanced=True,
        ),
    ] = 7e9
    parameter_bytes: Annotated[
        float,
        _bytes_field("Bytes of a parameter", "βp", "2 in bf16, 4 in fp32."),
        BYTES,
        Symbol("p"),
    ] = MIXED_PRECISION.parameter
    gradient_bytes: Annotated[
        float,
        _bytes_field("Bytes of a gradient", "βg", "Megatron sums in fp32: 4."),
        BYTES,
        Symbol("g"),
    ] = MIXED_PRECISION.gradient
    optimizer_bytes: Annotated[
        float,
        _bytes_field("Bytes of the optimizer", "βo", "Copy and two moments in fp32: 12."),
        BYTES,
        Symbol("o"),
    ] = MIXED_PRECISION.optimizer


def types_of(inputs: Inputs) -> StateBytes:
    """Return the bytes of each kind of state."""
    return StateBytes(
        parameter=inputs.parameter_bytes,
        gradient=inputs.gradient_bytes,
        optimizer=inputs.optimizer_bytes,
    )


def job_of(inputs: Inputs) -> ZeroJob:
    """Return the job whose states are sharded."""
    custom = inputs.model == CUSTOM_TYPES
    return ZeroJob(
        parameters=inputs.parameters if custom else total_parameters(MODELS[inputs.model]),
        types=types_of(inputs),
        ranks=inputs.ranks,
        num_microbatches=inputs.num_microbatches,
    )


RANKS = tuple(sorted({round(2 ** (i / 4)) for i in range(41)}))
BATCHES = tuple(2**i for i in range(7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Memory and traffic of the chosen stage, and the results by stage in the order of `STAGES`.

    Attributes:
        stages: all of it.
        published: the share saved as the published guide prints it, on two GPUs.
        compared: the share saved on two GPUs, the reader's, and 1,024.
        over_ranks: the same as `RANKS` are, from stage 1 on.
        over_batches: bytes sent in a step, as `BATCHES` are.
    """

    stage: Count
    stages: tuple[StageSharding, ...]
    published: tuple[Share, ...]
    compared: tuple[tuple[Share, ...], ...]
    over_ranks: Lazy[tuple[tuple[Share, ...], ...]]
    over_batches: tuple[tuple[Bytes, ...], ...]
    saving: Annotated[
        Share,
        Output(
            "States saved",
            "s",
            "on {ranks} GPUs",
            "optimizer",
            assumes=("Of parameters, gradients and optimizer; activations are untouched.",),
            sources=("rajbhandari2020",),
        ),
    ]
    published_saving: Share
    bytes_per_parameter: Annotated[
        Bytes,
        Output(
            "Bytes per parameter",
            "M",
            "of {whole} without sharding",
            "optimizer",
            assumes=("Of one parameter's states, on each GPU.",),
        ),
    ]
    whole: Bytes
    held: Annotated[
        Bytes,
        Output(
            "States on each GPU",
            "M",
            "",
            "optimizer",
            assumes=("Shares are even; padding and buffers of the collectives are left out.",),
        ),
    ]
    rest: Bytes
    usable: Bytes
    fits: bool
    size: Annotated[Parameters, Output(symbol="P")]
    one: Parameters = 1.0
    share_parameters: Annotated[Count, Output(symbol="a", of="ranks")]
    share_gradients: Annotated[Count, Output(symbol="b", of="ranks")]
    share_optimizer: Annotated[Count, Output(symbol="c", of="ranks")]
    sent: Annotated[
        Bytes,
        Output(
            "Sent by each GPU in a step",
            "V",
            "{extra} of plain data parallelism",
            "communication",
            assumes=(
                "Rings; gradients and parameters are sent in the types in which they are kept.",
                "Stages 0 and 1 reduce once per step, stages 2 and 3 after every micro-batch.",
            ),
        ),
    ]
    gradient_passes: Annotated[Count, Output(symbol="r", of="num_microbatches")]
    parameter_passes: Annotated[Count, Output(of="num_microbatches")]
    gradient_size: Annotated[Bytes, Output(symbol="G")]
    parameter_size: Bytes
    extra: Annotated[
        Ratio,
        Output(
            "Over plain data parallelism",
            "",
            "",
            "communication",
            assumes=("Bytes that each GPU sends in a step, divided by those of an all-reduce.",),
            sources=("rajbhandari2020",),
        ),
    ]
    even: Ratio


def solve(inputs: Inputs) -> Result:
    """Return the results of every stage, and of the chosen stage in full."""
    job, stage = job_of(inputs), int(inputs.zero_stage)
    stages = tuple(stage_sharding(job, stage) for stage in STAGES)
    stage_cost, types = stages[stage], job.types
    total, micro = stage_cost.states.total, inputs.num_microbatches
    usable = usable_bytes(inputs.capacity)
    published = tuple(zero_saving(MIXED_PRECISION, stage, 2) for stage in STAGES)

    def saved(
        counts: tuple[Count, ...], stages: tuple[Count, ...]
    ) -> tuple[tuple[Share, ...], ...]:
        return tuple(
            tuple(zero_saving(types, stage, ranks) for ranks in counts) for stage in stages
        )

    return Result(
        stage=stage,
        stages=stages,
        published=published,
        compared=saved((2, inputs.ranks, 1024), STAGES),
        over_ranks=Lazy(lambda: saved(RANKS, STAGES[1:])),
        over_batches=tuple(
            tuple(rank_bytes_sent(job, stage, count) for count in BATCHES) for stage in STAGES
        ),
        saving=stage_cost.saving,
        published_saving=published[stage],
        bytes_per_parameter=total / job.parameters,
        whole=types.total,
        held=total,
        usable=usable,
        rest=abs(usable - total),
        fits=total <= usable,
        size=job.parameters,
        share_parameters=inputs.ranks if stage >= 3 else 1,
        share_gradients=inputs.ranks if stage >= 2 else 1,
        share_optimizer=inputs.ranks if stage >= 1 else 1,
        sent=stage_cost.sent,
        gradient_passes=gradient_passes(stage, micro),
        parameter_passes=parameter_passes(stage, micro),
        gradient_size=job.parameters * types.gradient,
        parameter_size=job.parameters * types.parameter,
        extra=stage_cost.extra,
        even=types.break_even_ranks(stage),
    )
