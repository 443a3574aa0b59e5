"""Results of the gradient sync lab: every number with its label, symbol and note."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.calculators.moving_bytes.gradient_sync.remedies import TriedChange
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import (
    Bandwidth,
    Bytes,
    Count,
    FlopRate,
    LinkSpeed,
    Ratio,
    Seconds,
    Share,
    Tokens,
)
from engine.simulate.collectives.cluster_wires import TierBytes
from engine.simulate.data_parallel.sync_step import GradientAllReduce, SyncJob, SyncStep
from engine.simulate.data_parallel.sync_streams import SyncSpan

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
    latency_part: Annotated[Seconds, Output("Latency part", note="one latency per step")]
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
