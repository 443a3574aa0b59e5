"""The model behind the gradient sync lab: one data-parallel step, from inputs to times."""

from dataclasses import dataclass
from typing import Annotated

from engine.formulas.communication import (
    in_network_all_reduce_time,
    ring_all_reduce_time,
    tree_all_reduce_time,
)
from engine.formulas.hierarchy import (
    flat_ring_bandwidth,
    hierarchical_all_reduce_time,
    node_bandwidth,
)
from engine.formulas.overlap import (
    backward_time,
    bucket_count,
    exposed_time,
    forward_time,
    gradient_size,
)
from engine.hardware import GPUS
from engine.inputs import (
    BILLIONS,
    GBITS,
    GBYTES_PER_SECOND,
    MEBIBYTES,
    MICROSECONDS,
    PERCENT,
    Choice,
    Number,
    Switch,
)
from engine.units import GB, MICRO, Bandwidth, Bytes, Gbit, MiB, Seconds, Tokens

ELEMENT = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0}
ALGORITHMS = {
    "auto": "automatic",
    "ring": "ring",
    "tree": "double binary tree",
    "hierarchical": "hierarchical",
    "in_network": "in-network (NVLS, SHARP)",
}
SHARDING = {"none": "replicated (DDP)", "zero1": "ZeRO-1, gathered during the next forward"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e7, high=2e12, scale="log", symbol="P"),
    ] = 7e9
    dtype: Annotated[
        str,
        Choice(label="Gradients in", options={"fp32": "fp32", "bf16": "bf16", "fp8": "fp8"}),
    ] = "bf16"
    world_size: Annotated[
        int,
        Number(label="GPUs", low=2, high=131_072, scale="log2", whole=True, symbol="n"),
    ] = 8
    port: Annotated[
        float,
        Number(
            label="Network port",
            unit=GBITS,
            low=1 * Gbit,
            high=1600 * Gbit,
            scale="log",
            symbol="B",
            help="Line rate of one port, one way.",
        ),
    ] = 400 * Gbit
    tokens_per_gpu: Annotated[
        int,
        Number(
            label="Tokens per GPU",
            low=256,
            high=1_048_576,
            scale="log",
            whole=True,
            symbol="t",
            help="Tokens in one forward and backward pass of one GPU.",
        ),
    ] = 4096
    algorithm: Annotated[
        str,
        Choice(
            label="Algorithm",
            options=ALGORITHMS,
            help="Automatic is the fastest of those that need no help of a switch.",
        ),
    ] = "ring"
    overlap: Annotated[
        bool,
        Switch(label="Overlap with the backward pass", help="Reduce buckets as they are ready."),
    ] = True
    gpus_per_node: Annotated[
        int,
        Number(
            label="GPUs per node",
            low=1,
            high=72,
            whole=True,
            symbol="g",
            advanced=True,
            help="With as many GPUs as a node holds, all traffic stays on its NVLink.",
        ),
    ] = 1
    ports_per_node: Annotated[
        int,
        Number(label="Network ports per node", low=1, high=16, whole=True, advanced=True),
    ] = 1
    scale_up: Annotated[
        float,
        Number(
            label="NVLink, ring bus bandwidth",
            unit=GBYTES_PER_SECOND,
            low=25 * GB,
            high=900 * GB,
            scale="log",
            advanced=True,
            help="Per GPU, one way. 8 H200 were measured at 366 GB/s; their datasheet says 450.",
        ),
    ] = 366 * GB
    latency: Annotated[
        float,
        Number(
            label="Latency of one step",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
            advanced=True,
        ),
    ] = 3 * MICRO
    bucket: Annotated[
        float,
        Number(
            label="Bucket",
            unit=MEBIBYTES,
            low=1 * MiB,
            high=1024 * MiB,
            scale="log",
            advanced=True,
            help="PyTorch DDP reduces in buckets of 25 MiB unless told otherwise.",
        ),
    ] = 25 * MiB
    accumulation: Annotated[
        int,
        Number(
            label="Micro-batches per step",
            low=1,
            high=256,
            scale="log2",
            whole=True,
            advanced=True,
            help="Accumulated under no_sync: one all-reduce per step, behind the last backward.",
        ),
    ] = 1
    gpu: Annotated[
        str,
        Choice(label="GPU", options={k: gpu.name for k, gpu in GPUS.items()}, advanced=True),
    ] = "h100"
    utilization: Annotated[
        float,
        Number(
            label="MFU while computing",
            unit=PERCENT,
            low=0.1,
            high=0.7,
            step=0.01,
            symbol="u",
            advanced=True,
            help="Share of the dense bf16 peak that forward and backward reach when nothing waits.",
        ),
    ] = 0.5
    sharding: Annotated[str, Choice(label="Optimizer state", options=SHARDING, advanced=True)] = (
        "none"
    )
    published: Annotated[
        bool,
        Switch(label="Show a published calculator's digits beside ours"),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """The step: sizes in bytes, times in seconds, bandwidths one way.

    `collective` is the all-reduce of the whole gradient in one piece, `communication` the same in
    buckets; `exposed` is what the step waits for.
    """

    size: Bytes
    num_nodes: int
    local: int
    bandwidth: Bandwidth
    algorithm: str
    collective: Seconds
    latency_part: Seconds
    num_buckets: int
    communication: Seconds
    forward: Seconds
    backward: Seconds
    compute: Seconds
    exposed: Seconds
    ideal_exposed: Seconds

    @property
    def step(self) -> Seconds:
        """Computation plus what it waits for."""
        return self.compute + self.exposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """What a step computes and what it then waits for, at some number of tokens."""

    forward: Seconds
    backward: Seconds
    compute: Seconds
    exposed: Seconds
    ideal_exposed: Seconds


def model(inputs: Inputs) -> Sync:
    """Return the step for the given inputs."""
    size = gradient_size(inputs.parameters, ELEMENT[inputs.dtype])
    algorithm = chosen(inputs, size)
    collective = all_reduce_time(inputs, algorithm, size)
    bare = all_reduce_time(inputs, algorithm, size, latency=0.0)
    buckets = bucket_count(size, inputs.bucket)
    communication = collective
    if inputs.overlap:
        communication = buckets * all_reduce_time(inputs, algorithm, size / buckets)
    step = passes(inputs, inputs.tokens_per_gpu, collective, communication, buckets)
    return Sync(
        size=size,
        num_nodes=num_nodes(inputs),
        local=local_size(inputs),
        bandwidth=ring_bandwidth(inputs),
        algorithm=algorithm,
        collective=collective,
        latency_part=collective - bare,
        num_buckets=buckets,
        communication=communication,
        forward=step.forward,
        backward=step.backward,
        compute=step.compute,
        exposed=step.exposed,
        ideal_exposed=step.ideal_exposed,
    )


def passes(
    inputs: Inputs, tokens: Tokens, collective: Seconds, communication: Seconds, num_buckets: int
) -> Passes:
    """Return the step's times with `tokens` per GPU; the all-reduce is the same for any number."""
    work = inputs.parameters, tokens, inputs.utilization, GPUS[inputs.gpu].peak["bf16"]
    forward, backward = forward_time(*work), backward_time(*work)
    exposed = ideal = collective
    if inputs.overlap:
        exposed = _exposed(inputs, communication, num_buckets, forward, backward)
        ideal = max(0.0, collective - backward)
    return Passes(
        forward=forward,
        backward=backward,
        compute=inputs.accumulation * (forward + backward),
        exposed=exposed,
        ideal_exposed=ideal,
    )


def _exposed(
    inputs: Inputs, communication: Seconds, buckets: int, forward: Seconds, backward: Seconds
) -> Seconds:
    if inputs.sharding == "none":
        return exposed_time(communication, backward, buckets)
    # ZeRO-1 cuts the all-reduce in two: gradients are reduce-scattered behind the backward pass,
    # parameters gathered behind the next forward pass, in which the first bucket must be there
    # before its layer starts: the mirror image of the last bucket of the backward pass.
    half = communication / 2
    return exposed_time(half, backward, buckets) + exposed_time(half, forward, buckets)


def num_nodes(inputs: Inputs) -> int:
    """Return the nodes that the GPUs fill; a partly filled last node counts as a node."""
    return -(-inputs.world_size // inputs.gpus_per_node)


def local_size(inputs: Inputs) -> int:
    """Return the GPUs of the job in one node."""
    return min(inputs.world_size, inputs.gpus_per_node)


def ring_bandwidth(inputs: Inputs) -> Bandwidth:
    """Return the one-way bandwidth at which a ring through all GPUs runs, per rank."""
    if num_nodes(inputs) == 1:
        return inputs.scale_up
    if inputs.gpus_per_node == 1:
        return node_bandwidth(inputs.port, inputs.ports_per_node)
    return flat_ring_bandwidth(inputs.scale_up, inputs.port, inputs.ports_per_node)


def chosen(inputs: Inputs, size: Bytes) -> str:
    """Return the algorithm in use: the reader's, or the fastest that needs no switch's help."""
    if inputs.algorithm != "auto":
        return inputs.algorithm
    return min(
        ("ring", "tree", "hierarchical"), key=lambda name: all_reduce_time(inputs, name, size)
    )


def all_reduce_time(
    inputs: Inputs, algorithm: str, size: Bytes, latency: Seconds | None = None
) -> Seconds:
    """Return the time of one all-reduce of `size` bytes, by default with the inputs' latency."""
    step = inputs.latency if latency is None else latency
    wire = size, inputs.world_size, ring_bandwidth(inputs), step
    if algorithm == "tree":
        return tree_all_reduce_time(*wire)
    if algorithm == "in_network":
        return in_network_all_reduce_time(*wire)
    if algorithm == "hierarchical" and inputs.gpus_per_node > 1:
        return hierarchical_all_reduce_time(
            size,
            local_size(inputs),
            num_nodes(inputs),
            inputs.scale_up,
            step,
            node_bandwidth(inputs.port, inputs.ports_per_node),
            step,
        )
    return ring_all_reduce_time(*wire)
