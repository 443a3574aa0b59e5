"""What the gradient sync lab shows: every number, with its label, symbol and note."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.told import Told
from engine.basis.units import (
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
from engine.calculators.moving_bytes.gradient_sync.inputs import (
    Inputs,
    job_of,
    missing_of,
    states_of,
)
from engine.catalog.hardware import GPUS, link_name
from engine.form.unranged import UNRANGED
from engine.formulas.bandwidth import algorithm_bandwidth, bus_bandwidth, bus_bandwidth_factor
from engine.formulas.overlap import communication_share
from engine.simulate.cluster_wires import effective, port_load, sent_bytes, step_latency
from engine.simulate.gradient_sync import (
    Job,
    Moved,
    Passes,
    break_even,
    moved,
    passes,
    required_port,
)

NO_SLOWDOWN = "Overlap slows neither stream down; measured contention costs more."
NO_ATTENTION = "Six operations per parameter and token; attention scores are left out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the lab; `job`, `sync` and `now` are what it was solved from."""

    job: Job
    sync: Moved
    now: Passes
    algorithm: str

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
                "Adam in mixed precision: 2 bytes of parameter, 2 of gradient, 12 of optimizer.",
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
                "In buckets each pays its latencies again, so a little stays exposed beyond it.",
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


def solve(inputs: Inputs) -> Result:
    """Return every number of the lab."""
    job = job_of(inputs)
    sync, wires = moved(job), job.wires
    now = passes(job, sync, job.tokens)
    whole = sync.size, sync.collective
    load = port_load(wires, sync.algorithm, sync.size)
    return Result(
        job=job,
        sync=sync,
        now=now,
        algorithm=effective(wires, sync.algorithm),
        all_reduce_time=sync.collective,
        bandwidth_part=sync.collective - sync.latency_part,
        latency_part=sync.latency_part,
        gradient_size=sync.size,
        sent_bytes=sent_bytes(wires, sync.algorithm, sync.size),
        algorithm_bandwidth=algorithm_bandwidth(*whole),
        bus_bandwidth=bus_bandwidth(*whole, "all_reduce", wires.world_size),
        factor=bus_bandwidth_factor("all_reduce", wires.world_size),
        link=link_name(inputs.gpu),
        step_latency=step_latency(wires, effective(wires, sync.algorithm)),
        network_latency=wires.latency,
        scale_up_latency=wires.scale_up_latency,
        scale_up_rate=wires.scale_up,
        ring_bandwidth=wires.ring,
        local=wires.local,
        num_nodes=wires.num_nodes,
        node_bandwidth=wires.node,
        element=job.element,
        port_speed=wires.port if wires.num_nodes > 1 else wires.scale_up,
        port_sent=load.sent,
        port_wait=load.wait,
        peak=job.peak,
        step_tokens=job.tokens * job.accumulation,
        compute_time=now.compute,
        backward_time=now.backward,
        communication=sync.communication,
        num_buckets=sync.num_buckets,
        exposed_time=now.exposed,
        ideal_exposed=now.ideal_exposed,
        step_time=now.step,
        blocking_share=communication_share(now.compute, sync.collective),
        exposed_share=communication_share(now.compute, now.exposed),
        efficiency=now.efficiency,
        ideal_efficiency=now.ideal_efficiency,
        states=states_of(inputs),
        memory=GPUS[inputs.gpu].memory,
        missing=missing_of(inputs),
        break_even_tokens=break_even(job, sync),
        required_bandwidth=required_port(job, sync, now.backward),
    )
