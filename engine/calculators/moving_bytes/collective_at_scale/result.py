"""Collectives at scale: the simulated time of every algorithm on the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from engine.calculators.moving_bytes.collective_at_scale.inputs import (
    PORT,
    Inputs,
    adjustment_note,
    cluster_of,
    rank_of,
)
from engine.core.outputs import Output
from engine.core.slices import Slices, run_to_end
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas.overlap import gradient_size
from engine.run.software import GRADIENT_BYTES
from engine.simulate.collectives.cluster_collectives import ClusterLayout
from engine.simulate.collectives.collective_comparison import (
    AlgorithmRun,
    compare_calibrated_in_slices,
    link_utilization,
)
from engine.simulate.network.topology import CLIMB, describe_link

_SOURCES = ("bertsekas1992", "nvidia_pxn", PORT.source, "nccl_tuning", "nccl_tests")
ASSUMES = (
    "{simulated} H100, {local} to a node, NVLink at {nvlink} and ports at {port_bandwidth}, each "
    "one way: what NCCL reaches of their line rates.",
    "With nothing in the way, ring, tree, hierarchy, sums in switches and the direct all-to-all "
    "take what NCCL takes; placement, oversubscription and faults lengthen that as simulated.",
    "Messages of a round start together and share links max-min fairly; traffic of a leaf "
    "spreads evenly over the spines.",
    "Latencies of a hop of large messages: {node_latency} in the node, {network_latency} between "
    "nodes; {climb} more by way of a spine is assumed.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The simulation of every algorithm of the operation; `shown` is the selected algorithm.

    `repaired` and `slow` are words: what had to change, and which link is slow, if any.
    """

    cluster: ClusterLayout
    played: Mapping[str, AlgorithmRun]
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
        Output(
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
        Output(
            "With an empty buffer",
            "",
            "a full one takes {added} longer than its bytes alone",
            sources=_SOURCES,
            basis="simulated",
        ),
    ]
    added: Seconds
    fastest: Annotated[Seconds, Output("Fastest here", sources=_SOURCES, basis="simulated")]
    busy: Mapping[str, Share]


def solve(inputs: Inputs) -> Result:
    """Return the simulation of every algorithm of the operation."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate every algorithm of the operation in turn."""
    cluster = cluster_of(inputs)
    topology = cluster.topology
    size = gradient_size(inputs.parameters, GRADIENT_BYTES[inputs.gradients])
    rank = rank_of(replace(inputs, ports_per_node=topology.ports_per_node))
    played = yield from compare_calibrated_in_slices(inputs.operation, cluster, size, rank)
    shown = inputs.algorithm if inputs.algorithm in played else next(iter(played))
    best = min(played, key=lambda name: played[name].timed.time)
    own = played[shown]
    return Result(
        cluster=cluster,
        played=played,
        shown=shown,
        best=best,
        repaired=adjustment_note(inputs, topology),
        slow=describe_link(topology.slow[0][0]) if topology.slow else "",
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
        busy=link_utilization(own, size),
    )
