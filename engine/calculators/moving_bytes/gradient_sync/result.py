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
from engine.form.missing_range import NO_RANGE
from engine.simulate.collectives.cluster_wires import TierBytes
from engine.simulate.data_parallel.gradient_sync import (
    DataParallelJob,
    GradientAllReduce,
    StepPasses,
    Zero1Streams,
)
from engine.simulate.streams.backward import BackwardStep

NO_SLOWDOWN = "Overlap slows neither stream down; measured contention costs more."
NO_ATTENTION = "Six operations per parameter and token; attention scores are left out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The share of the step that computes, for every number of `TOKENS_COLUMN`."""

    as_set: tuple[Share, ...]
    ideal: tuple[Share, ...]
    blocking: tuple[Share, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The results; `job`, `sync` and `now` are the job, its all-reduce and its step time.

    Attributes:
        tiers: bytes of a flat ring, and of a hierarchical all-reduce.
        way: algorithm and protocol of the all-reduce, as NCCL writes them.
        by_algorithm: the time of every algorithm on these wires.
        curve, ports: over `TOKENS_COLUMN`, the step and the port that hides the all-reduce.
        streams, halves: one step on two streams; that of ZeRO-1 in halves.
        tried: single changes that help, the best first.
        printed_tokens: that a published calculator's compute time is the time of.
        ring_time, tree_time: of rings over the network alone, as that calculator means them.
    """

    job: DataParallelJob
    sync: GradientAllReduce
    now: StepPasses
    algorithm: str
    tiers: tuple[TierBytes, TierBytes]
    by_algorithm: Mapping[str, Seconds]
    curve: Lazy[Curve]
    ports: Lazy[tuple[Bandwidth, ...]]
    streams: Lazy[BackwardStep]
    halves: Lazy[Zero1Streams]
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
        Output("Compute", "Tc", "forward and backward of {step_tokens} tokens", "compute"),
    ]
    backward_time: Annotated[
        Seconds, Output("Backward pass", "Tb", "what the all-reduce can hide behind", "compute")
    ]
    communication: Annotated[Seconds, Output(symbol="Tm")]
    num_buckets: Annotated[Count, Output(symbol="N")]
    exposed_time: Annotated[
        Seconds,
        Output(
            "Exposed communication", "Te", "{ideal_exposed} with ideal overlap", "communication"
        ),
    ]
    ideal_exposed: Seconds
    step_time: Annotated[
        Seconds,
        Output(
            "Step",
            "Ts",
            "compute plus exposed",
            assumes=("The optimizer's own time is left out.", NO_RANGE),
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
        Share, Output("Exposed share", "q", "share of the step, as set", assumes=(NO_SLOWDOWN,))
    ]
    efficiency: Annotated[
        Share,
        Output("Efficiency", "q", "{ideal_efficiency} with ideal overlap", assumes=(NO_SLOWDOWN,)),
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
                "Where the backward pass is as long as the all-reduce in one piece.",
                "Buckets pay their latencies again: with many small ones more tokens are needed.",
            ),
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
                "Bandwidth only: latencies and the tail of the last bucket are left out.",
                "V is what one port sends, over the share of its line rate that it reaches; "
                "{ports_per_node} per node.",
            ),
            of="port",
        ),
    ]
