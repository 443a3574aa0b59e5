"""Results of the gradient sync lab: every number with its label, symbol and note."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.constants import KEPT_FREE
from engine.catalog.hardware import GPUS
from engine.catalog.transports import INFINIBAND, NVLINK
from engine.core.inputs import BILLIONS, MEBIBYTES, MICROSECONDS, Choice, Number, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import (
    MICRO,
    Bandwidth,
    Bytes,
    Count,
    FlopRate,
    Gbit,
    LinkSpeed,
    MiB,
    Ratio,
    Seconds,
    Share,
    Tokens,
)
from engine.form.fields import PORT, LabGpu, OwnConstants
from engine.formulas.batch import usable_memory
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.run.software import DDP_BUCKET
from engine.simulate.collectives.cluster_wires import TierBytes
from engine.simulate.data_parallel.sync_streams import (
    GradientAllReduce,
    SyncJob,
    SyncSpan,
    SyncStep,
    sync_step,
)

ELEMENT = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0}
ALGORITHMS = {
    "auto": "automatic (NCCL)",
    "ring": "ring",
    "tree": "double binary tree",
    "hierarchical": "hierarchical",
    "in_network": "in-network (NVLS, SHARP)",
}
SHARDING = {"none": "replicated (DDP)", "zero1": "ZeRO-1, gathered during the next forward"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
    ] = 64
    port: Annotated[float, PORT] = 400 * Gbit
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
            help="Automatic is what NCCL chooses for the size of a message, sums in a node's "
            "switch included. Halves of an all-reduce, in ZeRO-1, are always its choice.",
        ),
    ] = "auto"
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
            help="With as many GPUs as a node holds, all traffic stays on its NVLink.",
        ),
    ] = 8
    ports_per_node: Annotated[
        int,
        Number(label="Network ports per node", low=1, high=16, whole=True),
    ] = 8
    latency: Annotated[
        float,
        Number(
            label="Latency of a step between nodes",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
            advanced=True,
            help=f"Of large messages; inside a node a step takes {NVLINK.step / MICRO:.3g} µs.",
        ),
    ] = INFINIBAND.step
    bucket: Annotated[
        float,
        Number(
            label="Bucket",
            unit=MEBIBYTES,
            low=1 * MiB,
            high=1024 * MiB,
            scale="log",
            advanced=True,
            help="PyTorch DDP reduces in buckets of 25 MiB unless told otherwise; the tensor that "
            "reaches the limit closes one.",
        ),
    ] = DDP_BUCKET
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
    # 8 H200 are as fast as 8 H100 and hold the states of 7B parameters on every GPU.
    gpu: LabGpu = "h200"
    sharding: Annotated[str, Choice(label="Optimizer state", options=SHARDING, advanced=True)] = (
        "none"
    )
    published: Annotated[
        bool,
        Switch(label="Show a published calculator's digits beside ours"),
    ] = False
    own_constants: OwnConstants = ""


def states_of(inputs: Inputs) -> Bytes:
    """Return the bytes of parameters, gradients and optimizer per GPU."""
    stage = 1 if inputs.sharding == "zero1" else 0
    kept = replace(MIXED_PRECISION, gradient=ELEMENT[inputs.dtype])
    return sharded_states(inputs.parameters, kept, stage, inputs.world_size).total


def room_of(inputs: Inputs) -> Bytes:
    """Return the memory of a GPU that may be filled."""
    return usable_memory(GPUS[inputs.gpu].memory, KEPT_FREE)


def missing_of(inputs: Inputs) -> Bytes:
    """Return the bytes by which the states exceed the memory of a GPU that may be filled."""
    return max(0.0, states_of(inputs) - room_of(inputs))


def job_of(inputs: Inputs) -> SyncJob:
    """Return the step that the inputs describe; a GPU brings its own links."""
    return SyncJob(
        parameters=inputs.parameters,
        element=ELEMENT[inputs.dtype],
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        gpus_per_node=inputs.gpus_per_node,
        ports_per_node=inputs.ports_per_node,
        port=inputs.port,
        algorithm=inputs.algorithm,
        bucket=inputs.bucket,
        overlap=inputs.overlap,
        zero1=inputs.sharding == "zero1",
        tokens=float(inputs.tokens_per_gpu),
        accumulation=inputs.accumulation,
        latency=inputs.latency,
        own_constants=inputs.own_constants,
    )


Change = Mapping[str, float | int | str | bool]
LOWER = {"fp32": "bf16", "bf16": "fp8"}
_MAX_CHANGES = 7
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedChange:
    """A change, and the time per step after it, scaled to the tokens of the step as it is now."""

    key: str
    change: Change
    after: Seconds


def try_changes(inputs: Inputs, sync: GradientAllReduce, now: Seconds) -> tuple[TriedChange, ...]:
    """Return the changes within range that fit and make the step of `now` shorter, best first.

    A job whose states do not fit needs what makes them fit, whatever it does to the step.
    """
    missing = bool(missing_of(inputs))
    changes = (
        TriedChange(key=key, change=change, after=_step_time_after(inputs, change))
        for key, change in _possible_changes(inputs, sync, missing=missing)
        if _in_range(change) and not missing_of(_changed_inputs(inputs, change))
    )
    useful = [change for change in changes if missing or change.after < now * 0.9995]
    return tuple(sorted(useful, key=lambda change: change.after)[:_MAX_CHANGES])


def _changed_inputs(inputs: Inputs, change: Change) -> Inputs:
    return replace(inputs, **change)  # type: ignore[arg-type]


def _step_time_after(inputs: Inputs, change: Change) -> Seconds:
    step = sync_step(job_of(_changed_inputs(inputs, change))).parts.total
    tokens = float(change.get("tokens_per_gpu", inputs.tokens_per_gpu))
    accumulation = float(change.get("accumulation", inputs.accumulation))
    return step * inputs.tokens_per_gpu * inputs.accumulation / (tokens * accumulation)


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _possible_changes(
    inputs: Inputs, sync: GradientAllReduce, *, missing: bool
) -> Iterator[tuple[str, Change]]:
    yield "accumulate", {"accumulation": 2 * inputs.accumulation}
    yield "tokens", {"tokens_per_gpu": 2 * inputs.tokens_per_gpu}
    yield "zero1", {"sharding": "zero1"}
    yield "port", {"port": 2 * inputs.port}
    yield "ports", {"ports_per_node": 2 * inputs.ports_per_node}
    yield "bucket", {"bucket": 4 * inputs.bucket}
    yield "smaller_bucket", {"bucket": inputs.bucket / 4}
    if inputs.dtype in LOWER:
        yield "dtype", {"dtype": LOWER[inputs.dtype]}
    if not inputs.overlap:
        yield "overlap", {"overlap": True}
    if missing:
        yield from ((gpu, {"gpu": gpu}) for gpu in GPUS)
    yield from _wire_changes(inputs, sync)


def _wire_changes(inputs: Inputs, sync: GradientAllReduce) -> Iterator[tuple[str, Change]]:
    if job_of(inputs).wires.num_nodes > 1:
        if inputs.world_size <= 8:
            yield "node", {"gpus_per_node": inputs.world_size}
        if inputs.gpus_per_node > 1 and sync.algorithm != "hierarchical":
            yield "hierarchical", {"algorithm": "hierarchical"}
    if inputs.algorithm in ("ring", "hierarchical"):
        yield "auto", {"algorithm": "auto"}
    if sync.algorithm != "in_network":
        yield "in_network", {"algorithm": "in_network"}
    if sync.algorithm == "tree":
        yield "ring", {"algorithm": "ring"}


MODEL = (
    "The step of the estimate, of a dense model of so many parameters with the proportions of the "
    "nearest Llama: PyTorch's kernels, sequences of at most 4,096 tokens, nothing recomputed."
)
NO_RANGE = (
    "The model is made up, so that no run of it was measured and it has no range; the estimate of "
    "a named model has one."
)
_STEP = {"assumes": (MODEL,), "sources": ("li2020",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The share of the step that computes, for every number of `TOKENS_COLUMN`."""

    as_set: tuple[Share, ...]
    ideal: tuple[Share, ...]
    blocking: tuple[Share, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The results; `job`, `sync` and `now` are the job, its all-reduce and its step.

    Attributes:
        tiers: bytes of a flat ring, and of a hierarchical all-reduce.
        way: algorithm and protocol of the all-reduce, as NCCL writes them.
        by_algorithm: the time of every algorithm on these wires.
        curve, ports: over `TOKENS_COLUMN`, the step and the port that hides the all-reduce.
        streams: the last micro-batch of a step on two streams.
        tried: single changes that help, the best first.
        printed_tokens: that a published calculator's compute time is the time of.
        ring_time, tree_time: of rings over the network alone, as that calculator means them.
    """

    job: SyncJob
    sync: GradientAllReduce
    now: SyncStep
    algorithm: str
    tiers: tuple[TierBytes, TierBytes]
    by_algorithm: Mapping[str, Seconds]
    curve: Lazy[Curve]
    ports: Lazy[tuple[Bandwidth, ...]]
    streams: Lazy[tuple[SyncSpan, ...]]
    tried: Lazy[tuple[TriedChange, ...]]
    printed_tokens: Tokens
    ring_time: Seconds
    tree_time: Seconds

    way: str
    all_reduce_time: Annotated[
        Seconds, Output("All-reduce", color="communication", sources=("nccl_tuning", "nccl_tests"))
    ]
    bound_time: Annotated[
        Seconds, Output("By the equation", "T", "bytes over bandwidth, and latency per step")
    ]
    bandwidth_part: Annotated[Seconds, Output("Bandwidth part", note="bytes over bandwidth")]
    latency_part: Annotated[
        Seconds, Output("Latency part", note="the start, and a latency per step")
    ]
    gradient_size: Annotated[
        Bytes,
        Output("Gradient", "S", color="gradients", assumes=("Every parameter has one gradient.",)),
    ]
    sent_bytes: Annotated[
        Bytes, Output("", "V", color="communication", assumes=("Each GPU receives as much.",))
    ]
    algorithm_bandwidth: Annotated[
        Bandwidth, Output("Algorithm bandwidth", "Ba", "buffer over time")
    ]
    bus_bandwidth: Annotated[
        Bandwidth,
        Output(
            "Bus bandwidth",
            "Bb",
            "algorithm bandwidth times {factor}",
            assumes=(
                "Compare it with the line rate. With in-network reduction it may exceed the wire.",
            ),
        ),
    ]
    factor: Annotated[Ratio, Output(symbol="f")]
    link: str
    step_latency: Annotated[Seconds, Output(symbol="a", of="latency")]
    network_latency: Annotated[Seconds, Output(symbol="ao", of="latency")]
    scale_up_latency: Annotated[Seconds, Output(symbol="au")]
    scale_up_rate: Annotated[Bandwidth, Output(symbol="Bu", of="gpu")]
    ring_bandwidth: Annotated[Bandwidth, Output(symbol="B", of="port")]
    local: Annotated[Count, Output(symbol="g", of="gpus_per_node")]
    num_nodes: Annotated[Count, Output(symbol="m")]
    node_bandwidth: Annotated[Bandwidth, Output(symbol="Bo")]
    element: Annotated[Bytes, Output(symbol="e")]
    port_rate: Bandwidth
    port_speed: LinkSpeed
    port_sent: Bytes
    port_wait: Seconds

    peak: Annotated[FlopRate, Output(symbol="F")]
    step_tokens: Annotated[Tokens, Output(symbol="t", of="tokens_per_gpu")]
    compute_time: Annotated[
        Seconds,
        Output(
            "Compute",
            "Tc",
            "forward and backward of {step_tokens} tokens",
            "compute",
            assumes=(MODEL, "u is what the kernels reach in this model, not an input."),
        ),
    ]
    reached: Annotated[
        Share,
        Output(
            "MFU while computing",
            "u",
            "of the dense bf16 peak, in the two passes",
            assumes=(
                "Model FLOPs utilization with six operations per parameter and token, embedding "
                "included; attention scores are not counted.",
                MODEL,
            ),
        ),
    ]
    backward_time: Annotated[
        Seconds,
        Output("Backward pass", "Tb", "what the all-reduce can hide behind", "compute", **_STEP),
    ]
    closing_time: Annotated[
        Seconds,
        Output(
            "Optimizer, host, slowest GPU",
            note="of the step, with nothing to hide",
            color="optimizer",
            **_STEP,
        ),
    ]
    working_time: Annotated[Seconds, Output("All but exposed communication", "Tc")]
    communication: Annotated[Seconds, Output(symbol="Tm")]
    num_buckets: Annotated[Count, Output(symbol="N")]
    exposed_time: Annotated[
        Seconds,
        Output("Exposed communication", "Te", "{contention} of it is contention", "communication"),
    ]
    exposed_bound: Annotated[Seconds, Output(symbol="Te")]
    contention: Seconds
    step_time: Annotated[Seconds, Output("Step", "Ts")]
    estimate: Annotated[
        Seconds,
        Output(
            "Step as software runs it unasked",
            note="algorithms by NCCL's choice, buckets of 25 MiB",
        ),
    ]
    blocking_share: Annotated[
        Share,
        Output(
            "Communication share if blocking",
            "q",
            "share of the step, without overlap",
            assumes=("Nothing overlaps: the all-reduce starts when the backward pass has ended.",),
        ),
    ]
    exposed_share: Annotated[
        Share, Output("Exposed share", "q", "share of the step, as set", **_STEP)
    ]
    efficiency: Annotated[
        Share,
        Output(
            "Efficiency",
            "q",
            "{ideal_efficiency} with ideal overlap",
            assumes=(
                "The speed relative to free communication. Ideal: buckets without end, latency or "
                "contention, a bound.",
                MODEL,
            ),
        ),
    ]
    ideal_efficiency: Share
    states: Annotated[
        Bytes,
        Output(
            "States on each GPU",
            color="optimizer",
            assumes=(
                "Adam in mixed precision: 2 bytes of parameter, 12 of optimizer, gradients as they "
                "are sent.",
                "Activations and buffers come on top.",
            ),
            sources=("rajbhandari2020",),
        ),
    ]
    memory: Bytes
    missing: Bytes
    break_even_tokens: Annotated[
        Tokens,
        Output(
            "Tokens per GPU to hide it",
            "t",
            "the backward pass is as long as the all-reduce",
            assumes=(
                "The least tokens of which the backward pass is as long as the all-reduce in one "
                "piece: a bound.",
                "Buckets pay their latencies again: with many small ones more tokens are needed.",
                MODEL,
            ),
            sources=("li2020",),
            of="tokens_per_gpu",
        ),
    ]
    required_bandwidth: Annotated[
        LinkSpeed,
        Output(
            "",
            "B",
            "at {tokens_per_gpu} tokens per GPU",
            assumes=(
                "A bound: latencies, contention and the tail of the last bucket are left out.",
                "V is what one port sends, over the share of its line rate that it reaches; "
                "{ports_per_node} per node.",
            ),
            of="port",
        ),
    ]
