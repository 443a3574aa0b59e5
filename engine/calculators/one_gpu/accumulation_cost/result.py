"""Results of accumulation at scale."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import GBITS, Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Symbol
from engine.core.units import Bytes, Count, Gbit, Ratio, Share, TokenRate, Tokens
from engine.form.fields import OwnConstants
from engine.formulas.parameters import total_parameters
from engine.formulas.pipeline import bubble_share, one_f_one_b_peak
from engine.run.parallelism import Cluster
from engine.simulate.data_parallel.accumulation import (
    GRADIENT,
    PARAMETER,
    AccumulationJob,
    AccumulationMemory,
    accumulated_passes,
    accumulation_bytes_sent,
    accumulation_memory,
    accumulation_run,
    accumulation_token_rate,
)
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.step.prediction_evidence import Evidence, evidence

# The inputs of accumulation at scale.

MAX_MICRO_BATCHES = 256
SCHEMES: Mapping[str, str] = {
    "ddp_sync": "DDP, reduced every time",
    "ddp": "DDP with no_sync",
    "zero1": "ZeRO-1",
    "zero2": "ZeRO-2",
    "fsdp": "FSDP, as it comes",
    "fsdp_once": "FSDP, gradients reduced once",
    "fsdp_keep": "FSDP, also gathered once",
}
_MODELS = ("llama-3-8b", "llama-2-7b", "llama-2-13b", "gpt-3-5b", "gpt-3-20b", "llama-3-70b")
_GPUS = ("H100-SXM", "H200-SXM", "B200", "A100-SXM-80GB", "MI300X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-8b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: ACCELERATORS[key].name for key in _GPUS})
    ] = "H100-SXM"
    world_size: Annotated[
        int,
        Number(label="GPUs", low=8, high=4096, scale="log2", whole=True, symbol="n"),
        Symbol("n"),
    ] = 64
    sequence_length: Annotated[
        int, Number(label="Sequence length", low=512, high=32_768, scale="log2", whole=True)
    ] = 4096
    micro_batch_size: Annotated[
        int, Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, symbol="b")
    ] = 1
    num_microbatches: Annotated[
        int,
        Number(
            label="Micro-batches",
            low=1,
            high=MAX_MICRO_BATCHES,
            scale="log2",
            whole=True,
            symbol="g",
        ),
    ] = 4
    scheme: Annotated[str, Choice(label="Data parallelism", options=SCHEMES)] = "zero1"
    pipeline_parallel: Annotated[
        int,
        Number(
            label="Stages of a pipeline",
            low=2,
            high=64,
            scale="log2",
            whole=True,
            symbol="p",
            help="For the figure about pipelines only.",
            advanced=True,
        ),
    ] = 4
    port: Annotated[
        float,
        Number(
            label="Port of each GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            advanced=True,
            help="One way; nodes of 8 GPUs.",
        ),
    ] = 400 * Gbit
    own_constants: OwnConstants = ""


def step_of(inputs: Inputs, scheme: str = "", count: int = 0) -> AccumulationJob:
    """Return the job; another scheme or number of micro-batches if given."""
    return AccumulationJob(
        model=MODELS[inputs.model],
        cluster=Cluster(
            gpu=ACCELERATORS[inputs.gpu],
            gpus_per_node=8,
            nics_per_node=8,
            nic_bandwidth=inputs.port,
            own_constants=parse_constants(inputs.own_constants),
        ),
        ranks=inputs.world_size,
        sequence_length=inputs.sequence_length,
        batch=inputs.micro_batch_size,
        count=count or inputs.num_microbatches,
        scheme=scheme or inputs.scheme,
    )


# Accumulation at scale over schemes and numbers of micro-batches.

COUNTS = tuple(1 << power for power in range(MAX_MICRO_BATCHES.bit_length()))
_TIMED = ("ddp", "zero1", "fsdp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """Bytes sent per step, passes around the ring, and memory per GPU of a sharding scheme."""

    reductions: Count
    gathers: Count
    sent: Bytes
    per_token: Bytes
    memory: Bytes


def tokens_per_gpu(step: AccumulationJob) -> Tokens:
    """Return the tokens per GPU in a step."""
    return float(step.batch * step.count * step.sequence_length)


def volumes(inputs: Inputs) -> Mapping[str, tuple[Bytes, ...]]:
    """Return the bytes sent per GPU and token by scheme, over `COUNTS`."""
    steps = {scheme: [step_of(inputs, scheme, n) for n in COUNTS] for scheme in SCHEMES}
    return {
        scheme: tuple(accumulation_bytes_sent(step) / tokens_per_gpu(step) for step in scheme_steps)
        for scheme, scheme_steps in steps.items()
    }


def speeds(inputs: Inputs) -> Mapping[str, tuple[TokenRate, ...]]:
    """Return tokens per second per GPU over `COUNTS`, for the schemes that the model can time."""
    return {
        scheme: tuple(accumulation_token_rate(step_of(inputs, scheme, n)) for n in COUNTS)
        for scheme in _TIMED
    }


def scheme_of(inputs: Inputs, scheme: str) -> Scheme:
    """Return a scheme with the reader's numbers."""
    step = step_of(inputs, scheme)
    reductions, gathers = accumulated_passes(scheme, step.count)
    return Scheme(
        reductions=reductions,
        gathers=gathers,
        sent=accumulation_bytes_sent(step),
        per_token=accumulation_bytes_sent(step) / tokens_per_gpu(step),
        memory=accumulation_memory(step).total,
    )


MODELLED = (
    "The step model of all pages; nodes of 8 GPUs. It times DDP with no_sync, ZeRO-1, ZeRO-2 and "
    "FSDP as it comes. The other schemes get the time of the nearest of these."
)
_WIRE = ("Gradients travel in 4 bytes, parameters in 2, in rings over all GPUs.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The results of one step with the chosen number of micro-batches.

    Attributes:
        evidence: on which the speed rests.
        parts: what the GPU that holds most holds, in micro-batches and in one batch.
        volumes, speeds: scheme -> what a GPU sends for a token, and its rate, over `COUNTS`.
        bubbles: idle shares of a pipeline over `COUNTS`.
        schemes: every scheme with the reader's numbers.
        own: tokens of one GPU.
        usable: of a GPU's memory.
    """

    sent: Annotated[
        Bytes, Output("Sent by each GPU in a step", "V", color="communication", assumes=_WIRE)
    ]
    reductions: Annotated[Count, Output(symbol="r", of="num_microbatches")]
    gathers: Annotated[Count, Output(symbol="a", of="num_microbatches")]
    gradients: Annotated[Bytes, Output(symbol="G", of="model")]
    parameters: Annotated[Bytes, Output(symbol="P", of="model")]
    per_token: Annotated[
        Bytes,
        Output(
            "For each of its tokens",
            color="communication",
            assumes=("What is sent in a step over the GPU's tokens of a step.", *_WIRE),
            sources=("rajbhandari2020",),
        ),
    ]
    collectives: Annotated[
        Count,
        Output(
            "Passes around the ring",
            note="{reductions} of the gradients, {gathers} of the parameters",
            color="communication",
            assumes=("An all-reduce is two passes, a reduce-scatter or an all-gather one.",),
            sources=("rajbhandari2020",),
        ),
    ]
    tokens: Annotated[
        Tokens,
        Output("Tokens of a step", assumes=("All GPUs, all micro-batches.",)),
    ]
    own: Tokens
    held: Annotated[
        Bytes,
        Output(
            "GPU that holds most, in micro-batches",
            note="of {usable} that may be filled",
            color="activations",
            assumes=(
                "The memory model of all pages, with selective recomputation; gradients that are "
                "not reduced yet are whole.",
            ),
            sources=("korthikanti2022", "rajbhandari2020"),
        ),
    ]
    at_once: Annotated[
        Bytes,
        Output(
            "GPU that holds most, in one batch",
            color="activations",
            assumes=("The same sequences in one forward pass.",),
            sources=("korthikanti2022",),
        ),
    ]
    usable: Bytes
    token_rate: Annotated[
        TokenRate,
        Output(
            "Tokens per second per GPU",
            color="compute",
            assumes=(MODELLED,),
            sources=("korthikanti2022",),
        ),
    ]
    gained: Annotated[
        Ratio,
        Output(
            "Over a single micro-batch",
            color="compute",
            assumes=("Tokens per second with your micro-batches over those with one.",),
            sources=("korthikanti2022",),
        ),
    ]
    bubble: Annotated[
        Share,
        Output(
            "Pipeline idle",
            assumes=("1F1B on {pipeline_parallel} equal stages, of the step.",),
            sources=("huang2019",),
        ),
    ]
    in_flight: Annotated[
        Count,
        Output(
            "Micro-batches held by the first stage",
            color="activations",
            assumes=("1F1B on {pipeline_parallel} stages.",),
            sources=("narayanan2019",),
        ),
    ]
    parts: tuple[AccumulationMemory, AccumulationMemory]
    volumes: Lazy[Mapping[str, tuple[Bytes, ...]]]
    speeds: Lazy[Mapping[str, tuple[TokenRate, ...]]]
    bubbles: tuple[Share, ...]
    schemes: Lazy[Mapping[str, Scheme]]
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    step = step_of(inputs)
    reductions, gathers = accumulated_passes(step.scheme, step.count)
    tokens = tokens_per_gpu(step)
    size, volume = total_parameters(step.model), accumulation_bytes_sent(step)
    stages, count = inputs.pipeline_parallel, inputs.num_microbatches
    rate = accumulation_token_rate(step)
    parts = accumulation_memory(step), accumulation_memory(step, at_once=True)
    return Result(
        sent=volume,
        reductions=reductions,
        gathers=gathers,
        gradients=GRADIENT * size,
        parameters=PARAMETER * size,
        per_token=volume / tokens,
        collectives=reductions + gathers,
        tokens=tokens * step.ranks,
        own=tokens,
        held=parts[0].total,
        at_once=parts[1].total,
        usable=usable_bytes(step.cluster.gpu.memory),
        token_rate=rate,
        parts=parts,
        volumes=Lazy(partial(volumes, inputs)),
        speeds=Lazy(partial(speeds, inputs)),
        bubbles=tuple(bubble_share(stages, n) for n in COUNTS),
        schemes=Lazy(lambda: {scheme: scheme_of(inputs, scheme) for scheme in SCHEMES}),
        evidence=evidence(accumulation_run(step)),
        gained=rate / accumulation_token_rate(step_of(inputs, count=1)),
        bubble=bubble_share(stages, count),
        in_flight=one_f_one_b_peak(0, stages, count),
    )
