"""Inputs of the formula sheet: the training job behind every formula."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.transports import INFINIBAND, NVLINK
from engine.core.inputs import (
    BILLIONS,
    GBYTES_PER_SECOND,
    MEBIBYTES,
    MICROSECONDS,
    PERCENT,
    TFLOPS,
    TRILLIONS,
    Choice,
    Number,
)
from engine.core.units import GB, HOUR, MICRO, TERA, Bytes, Count, MiB, Quantity, Seconds, Tokens
from engine.form.price import PER_HOUR
from engine.form.saving_inputs import HOURS, LLAMA3_MTBF, MINUTES, SECONDS, WATTS
from engine.formulas.communication import ring_all_reduce_time
from engine.formulas.overlap import bucket_count, gradient_size

GPU = ACCELERATORS["H100-SXM"]
ELEMENT: dict[str, Bytes] = {"bf16": 2.0, "fp32": 4.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e13, scale="log", symbol="P"),
    ] = 7e9
    gradient_type: Annotated[
        str,
        Choice(label="Gradients", options={"bf16": "bf16, 2 bytes", "fp32": "fp32, 4 bytes"}),
    ] = "bf16"
    gpus_per_node: Annotated[
        int, Number(label="GPUs per node", low=1, high=72, whole=True, symbol="g")
    ] = 8
    num_nodes: Annotated[
        int, Number(label="Nodes", low=2, high=4096, scale="log2", whole=True, symbol="m")
    ] = 8
    port: Annotated[
        float,
        Number(
            label="Port per GPU",
            unit=GBYTES_PER_SECOND,
            low=0.125 * GB,
            high=900 * GB,
            scale="log",
            symbol="B",
            help="One way: a 400 Gb/s port is 50 GB/s.",
        ),
    ] = 50 * GB
    latency: Annotated[
        float,
        Number(
            label="Latency of one step",
            unit=MICROSECONDS,
            low=0.1 * MICRO,
            high=100 * MICRO,
            scale="log",
            symbol="α",
        ),
    ] = INFINIBAND.step
    scale_up: Annotated[
        float,
        Number(
            label="NVLink per GPU",
            unit=GBYTES_PER_SECOND,
            low=10 * GB,
            high=1800 * GB,
            scale="log",
            help="One way.",
        ),
    ] = GPU.scale_up
    scale_up_latency: Annotated[
        float,
        Number(
            label="Latency inside the node",
            unit=MICROSECONDS,
            low=0.1 * MICRO,
            high=100 * MICRO,
            scale="log",
        ),
    ] = NVLINK.step
    bucket: Annotated[
        float,
        Number(label="Bucket", unit=MEBIBYTES, low=1 * MiB, high=65_536 * MiB, scale="log"),
    ] = 256 * MiB
    peak: Annotated[
        float,
        Number(
            label="Peak of the GPU",
            unit=TFLOPS,
            low=10 * TERA,
            high=20_000 * TERA,
            scale="log",
            symbol="F",
        ),
    ] = GPU.peak["bf16"]
    utilization: Annotated[
        float,
        Number(label="Share of the peak", unit=PERCENT, low=0.01, high=1.0, step=0.01, symbol="u"),
    ] = 0.4
    num_layers: Annotated[
        int, Number(label="Layers", low=1, high=1024, scale="log", whole=True, symbol="l")
    ] = 32
    hidden_size: Annotated[
        int, Number(label="Hidden size", low=64, high=65_536, scale="log2", whole=True, symbol="h")
    ] = 4096
    num_attention_heads: Annotated[
        int, Number(label="Heads", low=1, high=512, scale="log2", whole=True, symbol="a")
    ] = 32
    vocab_size: Annotated[
        int, Number(label="Vocabulary", low=256, high=1_000_000, scale="log", whole=True)
    ] = 32_000
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=128, high=1_048_576, scale="log2", whole=True, symbol="s"
        ),
    ] = 4096
    micro_batch_size: Annotated[
        int,
        Number(label="Sequences per GPU", low=1, high=256, scale="log2", whole=True, symbol="b"),
    ] = 1
    tensor_parallel: Annotated[
        int, Number(label="Tensor parallel ranks", low=1, high=64, scale="log2", whole=True)
    ] = 2
    zero_stage: Annotated[int, Number(label="ZeRO stage", low=0, high=3, whole=True)] = 1
    pipeline_parallel: Annotated[
        int, Number(label="Pipeline stages", low=2, high=64, scale="log2", whole=True, symbol="p")
    ] = 8
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=1024, scale="log2", whole=True, symbol="m")
    ] = 32
    num_chunks: Annotated[
        int, Number(label="Chunks per rank", low=1, high=8, whole=True, symbol="v")
    ] = 2
    run_tokens: Annotated[
        float,
        Number(
            label="Tokens of the run", unit=TRILLIONS, low=1e9, high=1e15, scale="log", symbol="D"
        ),
    ] = 2e12
    gpu_mtbf: Annotated[
        float,
        Number(
            label="Time between failures of a GPU",
            unit=HOURS,
            low=1e4 * HOUR,
            high=1e7 * HOUR,
            scale="log",
        ),
    ] = LLAMA3_MTBF
    checkpoint: Annotated[
        float, Number(label="Checkpoint", unit=SECONDS, low=1.0, high=120.0, scale="log")
    ] = 60.0
    restart: Annotated[
        float, Number(label="Restart", unit=MINUTES, low=6.0, high=3600.0, scale="log")
    ] = 600.0
    deviation: Annotated[
        float,
        Number(label="Deviation of a step", unit=PERCENT, low=0.001, high=0.2, step=0.001),
    ] = 0.01
    price: Annotated[
        float,
        Number(
            label="Price of a GPU hour",
            unit=PER_HOUR,
            low=0.01 / HOUR,
            high=1000 / HOUR,
            scale="log",
        ),
    ] = 2 / HOUR
    power: Annotated[
        float, Number(label="Power of a GPU", unit=WATTS, low=50.0, high=5000.0, scale="log")
    ] = 1000.0
    overhead: Annotated[float, Number(label="PUE", low=1.0, high=3.0, step=0.01)] = 1.1


# Example values of an equation: the function, and the value of each symbol.

SymbolValues = Mapping[str, tuple[float, Quantity]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The example of an equation: title, function and symbol values.

    Attributes:
        title: what the sheet calls it.
        function: whose result the left side shows.
        symbols: inputs -> the number behind every symbol of the equation.
        inputs: symbol key -> the input that it is, where it is one.
    """

    title: str
    function: Callable[..., Any]
    symbols: Callable[[Inputs], SymbolValues]
    inputs: Mapping[str, str] = field(default_factory=dict)


def world_size(x: Inputs) -> Count:
    """Return the number of GPUs."""
    return x.gpus_per_node * x.num_nodes


def gradient_bytes(x: Inputs) -> Bytes:
    """Return the gradient bytes per rank."""
    return gradient_size(x.parameters, ELEMENT[x.gradient_type])


def tokens_per_gpu(x: Inputs) -> Tokens:
    """Return the tokens per GPU in a step of a single micro-batch."""
    return float(x.sequence_length * x.micro_batch_size)


def num_buckets(x: Inputs) -> Count:
    """Return the number of buckets."""
    return bucket_count(gradient_bytes(x), x.bucket)


def bucketed_all_reduce_time(x: Inputs, size: Bytes) -> Seconds:
    """Return the time of sequential all-reduces of all buckets, `size` bytes in total."""
    count = num_buckets(x)
    return count * ring_all_reduce_time(size / count, world_size(x), x.port, x.latency)
