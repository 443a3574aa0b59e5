"""What the gradient sync lab shows: every number, with its label, symbol and note."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.calculators.moving_bytes.gradient_sync.remedies import Tried
from engine.core.lazy import Later
from engine.core.outputs import Told
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
from engine.form.missing_range import UNRANGED
from engine.simulate.collectives.cluster_wires import TierBytes
from engine.simulate.data_parallel.gradient_sync import Halves, Job, Moved, Passes
from engine.simulate.streams.backward import Step

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
    """Every number of the lab; `job`, `sync` and `now` are what it was solved from.

    Attributes:
        tiers: bytes of a flat ring, and of a hierarchical all-reduce.
        by_algorithm: the time of every algorithm on these wires.
        curve, ports: over `TOKENS_COLUMN`, the step and the port that hides the all-reduce.
        streams, halves: one step on two streams; that of ZeRO-1 in halves.
        tried: single changes that help, the best first.
        printed_tokens: that a published calculator's compute time is the time of.
        ring_time, tree_time: of rings over the network alone, as that calculator means them.
    """

    job: Job
    sync: Moved
    now: Passes
    algorithm: str
    tiers: tuple[TierBytes, TierBytes]
    by_algorithm: Mapping[str, Seconds]
    curve: Later[Curve]
    ports: Later[tuple[Bandwidth, ...]]
    streams: Later[Step]
    halves: Later[Halves]
    tried: Later[tuple[Tried, ...]]
    printed_tokens: Tokens
    ring_time: Seconds
    tree_time: Seconds

    all_reduce_time: Annotated[Seconds, Told("All-reduce", "T", color="communication")]
    bandwidth_part: Annotated[Seconds, Told("Bandwidth part", note="bytes over bandwidth")]
    latency_part: Annotated[Seconds, Told("Latency part", note="one latency per step")]
    gradient_size: Annotated[
        Bytes,
        Told("Gradient", "S", color="gradients", assumes=("Every parameter has one gradient.",)),
    ]
    sent_bytes: Annotated[
        Bytes, Told("", "V", color="communication", assumes=("Each GPU receives as much.",))
    ]
    algorithm_bandwidth: Annotated[Bandwidth, Told("Algorithm bandwidth", "Ba", "buffer over time")]
    bus_bandwidth: Annotated[
        Bandwidth,
        Told(
            "Bus bandwidth",
            "Bb",
            "algorithm bandwidth times {factor}",
            assumes=(
                "Compare it with the line rate. With in-network reduction it may exceed the wire.",
            ),
        ),
    ]
    factor: Annotated[Ratio, Told(symbol="f")]
    link: str
    step_latency: Annotated[Seconds, Told(symbol="a", of="latency")]
    network_latency: Annotated[Seconds, Told(symbol="ao", of="latency")]
    scale_up_latency: Annotated[Seconds, Told(symbol="au")]
    scale_up_rate: Annotated[Bandwidth, Told(symbol="Bu", of="gpu")]
    ring_bandwidth: Annotated[Bandwidth, Told(symbol="B", of="port")]
    local: Annotated[Count, Told(symbol="g", of="gpus_per_node")]
    num_nodes: Annotated[Count, Told(symbol="m")]
    node_bandwidth: Annotated[Bandwidth, Told(symbol="Bo")]
    element: Annotated[Bytes, Told(symbol="e")]
    port_speed: LinkSpeed
    port_sent: Bytes
    port_wait: Seconds

    peak: Annotated[FlopRate, Told(symbol="F")]
    step_tokens: Annotated[Tokens, Told(symbol="t", of="tokens_per_gpu")]
    compute_time: Annotated[
        Seconds,
        Told("Compute", "Tc", "forward and backward of {step_tokens} tokens", "compute"),
    ]
    backward_time: Annotated[
        Seconds, Told("Backward pass", "Tb", "what the all-reduce can hide behind", "compute")
    ]
    communication: Annotated[Seconds, Told(symbol="Tm")]
    num_buckets: Annotated[Count, Told(symbol="N")]
    exposed_time: Annotated[
        Seconds,
        Told("Exposed communication", "Te", "{ideal_exposed} with ideal overlap", "communication"),
    ]
    ideal_exposed: Seconds
    step_time: Annotated[
        Seconds,
        Told(
            "Step",
            "Ts",
            "compute plus exposed",
            assumes=("The optimizer's own time is left out.", UNRANGED),
        ),
    ]
    blocking_share: Annotated[
        Share,
        Told(
            "Communication share if blocking",
            "q",
            "share of the step, without overlap",
            assumes=("Nothing overlaps: the all-reduce starts when the backward pass has ended.",),
        ),
    ]
    exposed_share: Annotated[
        Share, Told("Exposed share", "q", "share of the step, as set", assumes=(NO_SLOWDOWN,))
    ]
    efficiency: Annotated[
        Share,
        Told("Efficiency", "q", "{ideal_efficiency} with ideal overlap", assumes=(NO_SLOWDOWN,)),
    ]
    ideal_efficiency: Share
    states: Annotated[
        Bytes,
        Told(
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
        Told(
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
        Told(
            "",
            "B",
            "at {tokens_per_gpu} tokens per GPU",
            assumes=(
                "Bandwidth only: latencies and the tail of the last bucket are left out.",
                "V is what one port sends; {ports_per_node} per node.",
            ),
            of="port",
        ),
    ]
