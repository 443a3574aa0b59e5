"""Collectives at scale: what every algorithm takes on the cluster, and how it is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.calculators.moving_bytes.collective_at_scale.inputs import (
    NVLINK,
    PORT,
    Inputs,
    cluster_of,
    repaired,
)
from engine.core.outputs import Told
from engine.core.slices import Slices, whole
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas.overlap import gradient_size
from engine.simulate.collectives.cluster_collectives import Cluster
from engine.simulate.collectives.collective_comparison import Played, busy, playing
from engine.simulate.network.topology import CLIMB, describe

ELEMENT = 2.0
_SOURCES = ("bertsekas1992", "nvidia_pxn", NVLINK.source, PORT.source, "nccl_tuning")
ASSUMES = (
    "{simulated} GPUs, {local} to a node, NVLink at {nvlink} and ports at {port_bandwidth}, each "
    "one way, all at their line rate.",
    "Messages of a round start together and share links max-min fairly; traffic of a leaf "
    "spreads evenly over the spines.",
    "Latencies of a hop of large messages: {node_latency} in the node, {network_latency} between "
    "nodes; {climb} more by way of a spine is assumed.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What every algorithm of the operation takes on the cluster; `shown` is looked at.

    `repaired` and `slow` are words: what had to change, and which link is slow, if any.
    """

    cluster: Cluster
    played: Mapping[str, Played]
    shown: str
    best: str
    repaired: str
    slow: str
    size: Bytes
    simulated: Count
    local: Count
    nvlink: Bandwidth
    port_bandwidth: Bandwidth
    node_latency: Seconds
    network_latency: Seconds
    climb: Seconds = CLIMB
    time: Annotated[
        Seconds,
        Told(
            "",
            "",
            "{size} on {simulated} GPUs",
            "communication",
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    latency: Annotated[
        Seconds,
        Told(
            "With an empty buffer",
            "",
            "a full one takes {added} longer than its bytes alone",
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    added: Seconds
    fastest: Annotated[Seconds, Told("Fastest here", sources=_SOURCES, basis="simulated")]
    busy: Mapping[str, Share]


def solve(inputs: Inputs) -> Result:
    """Return the simulation of every algorithm of the operation."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate every algorithm of the operation, one after the other."""
    cluster = cluster_of(inputs)
    topology = cluster.topology
    size = gradient_size(inputs.parameters, ELEMENT)
    played = yield from playing(inputs.operation, cluster, size)
    shown = inputs.algorithm if inputs.algorithm in played else next(iter(played))
    best = min(played, key=lambda name: played[name].timed.time)
    own = played[shown]
    return Result(
        cluster=cluster,
        played=played,
        shown=shown,
        best=best,
        repaired=repaired(inputs, topology),
        slow=describe(topology.slow[0][0]) if topology.slow else "",
        size=size,
        simulated=topology.world_size,
        local=topology.gpus_per_node,
        nvlink=topology.nvlink,
        port_bandwidth=topology.port,
        node_latency=topology.step_latency,
        network_latency=topology.network_latency,
        time=own.timed.time,
        latency=own.timed.latency,
        added=own.timed.time - own.moving,
        fastest=played[best].timed.time,
        busy=busy(own, size),
    )
