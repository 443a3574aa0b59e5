"""Collectives at scale: the inputs, the cluster they describe, and what every algorithm takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

from engine.basis.inputs import BILLIONS, GBITS, PERCENT, Choice, Number, Switch
from engine.basis.units import Bytes, Count, Gbit
from engine.catalog.hardware import LINKS
from engine.formulas.overlap import gradient_size
from engine.simulate.cluster_all_to_all import direct, two_level
from engine.simulate.cluster_collectives import (
    Cluster,
    halving_doubling,
    hierarchical,
    in_switch,
    ring,
    tree,
)
from engine.simulate.cluster_star import star
from engine.simulate.collective_time import Phase, Timed, drained, fitted, timed
from engine.simulate.fair_share import Drain
from engine.simulate.lumping import lumped
from engine.simulate.topology import PCIE, Topology

Algorithm = Callable[[Cluster], tuple[Phase, ...]]
ELEMENT = 2.0
# What no message's way depends on: a plan is made once for all of them.
_SPEEDS: Mapping[str, Any] = {"nvlink": 1.0, "port": 1.0, "pcie": 1.0, "oversubscription": 1.0}
_MARK = 0.5
NVLINK, PORT = LINKS["nvlink4"], LINKS["infiniband_ndr"]
NAMES: Mapping[str, str] = {
    "ring": "ring, one per port",
    "hierarchical": "hierarchical",
    "halving_doubling": "halving and doubling",
    "tree": "double binary tree",
    "in_switch": "in the switches",
    "star": "star",
    "direct": "direct",
    "two_level": "two levels",
}
OPERATIONS: Mapping[str, Mapping[str, Algorithm]] = {
    "all_reduce": {
        "ring": ring,
        "hierarchical": hierarchical,
        "halving_doubling": halving_doubling,
        "tree": tree,
        "in_switch": in_switch,
        "star": star,
    },
    "all_to_all": {"direct": direct, "two_level": two_level},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    operation: Annotated[
        str,
        Choice(label="Operation", options={"all_reduce": "All-reduce", "all_to_all": "All-to-all"}),
    ] = "all_reduce"
    algorithm: Annotated[
        str,
        Choice(label="Look at", options=NAMES, help="Whose links the lower charts show."),
    ] = "hierarchical"
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=1024, scale="log2", whole=True, symbol="n")
    ] = 512
    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e6, high=1e12, scale="log", symbol="P"),
    ] = 7e9
    oversubscription: Annotated[
        float,
        Number(
            label="Oversubscription above the leaf",
            low=1.0,
            high=16.0,
            step=0.5,
            help="Bandwidth of the ports under a leaf over that of its links to the spines.",
        ),
    ] = 1.0
    scattered: Annotated[
        bool,
        Switch(label="Neighbors in other groups", help="The order of ranks jumps between leaves."),
    ] = False
    wrong_rail: Annotated[
        bool,
        Switch(label="Ranks one rail off", help="Messages arrive one port further than they left."),
    ] = False
    pxn: Annotated[
        bool, Switch(label="PXN", help="Messages change rails over NVLink, before they leave.")
    ] = True
    slow_share: Annotated[
        float,
        Number(
            label="Speed left of one port",
            unit=PERCENT,
            low=0.05,
            high=1.0,
            step=0.05,
            help="Port 2 of node 1 sends at this share of its speed.",
        ),
    ] = 1.0
    ports_per_node: Annotated[
        int, Number(label="Ports per node of 8", low=1, high=8, scale="log2", whole=True)
    ] = 8
    port: Annotated[
        float,
        Number(
            label="Port", unit=GBITS, low=25 * Gbit, high=1600 * Gbit, scale="log", advanced=True
        ),
    ] = PORT.bandwidth
    nodes_per_group: Annotated[
        int,
        Number(
            label="Nodes per leaf group", low=1, high=128, scale="log2", whole=True, advanced=True
        ),
    ] = 32
    rails: Annotated[
        bool,
        Switch(label="Rails", help="Port k of every node is on leaf k.", advanced=True),
    ] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What the algorithms of the chosen operation take.

    Attributes:
        cluster: as simulated: full nodes only.
        repaired: what had to be changed for that, in words, or an empty text.
        size: of the buffer.
        results: by algorithm; those that cannot run here are missing.
        plans: their phases and what a round of each carries.
        shown: the algorithm whose links are shown.
    """

    cluster: Cluster
    repaired: str
    size: Bytes
    results: Mapping[str, Timed]
    plans: Mapping[str, tuple[tuple[Phase, ...], tuple[Drain, ...]]]
    shown: str


def model(inputs: Inputs) -> Scale:
    """Return the simulation of every algorithm of the operation."""
    cluster, repaired = _cluster(inputs)
    size = gradient_size(inputs.parameters, ELEMENT)
    known = OPERATIONS[inputs.operation]
    shape = _shape(cluster)
    plans = {
        name: (plan, drained(plan))
        for name in known
        if (plan := fitted(_plan(inputs.operation, name, shape), cluster.topology))
    }
    shown = inputs.algorithm if inputs.algorithm in plans else next(iter(plans))
    return Scale(
        cluster=cluster,
        repaired=repaired,
        size=size,
        results={name: timed(plan, drains, size) for name, (plan, drains) in plans.items()},
        plans=plans,
        shown=shown,
    )


def _shape(cluster: Cluster) -> Cluster:
    """Return the cluster with all that changes no way of a message, only its speed, left out."""
    topology = cluster.topology
    marked = tuple((link, _MARK) for link, _ in topology.slow)
    return replace(cluster, topology=replace(topology, **_SPEEDS, slow=marked))


@lru_cache(maxsize=256)
def _plan(operation: str, name: str, shape: Cluster) -> tuple[Phase, ...]:
    """Return the phases, alike flows taken together; none where the algorithm cannot run."""
    try:
        plan = OPERATIONS[operation][name](shape)
    except ValueError:
        return ()
    return tuple(lumped(phase, [link for link, _ in shape.topology.slow]) for phase in plan)


def _cluster(inputs: Inputs) -> tuple[Cluster, str]:
    """Return the cluster: of full nodes, and with a whole number of GPUs to a port."""
    local = min(8, inputs.world_size)
    world = inputs.world_size // local * local
    ports = 1 << (min(inputs.ports_per_node, local).bit_length() - 1)
    ports = ports if local % ports == 0 else 1
    notes = []
    if world != inputs.world_size:
        notes.append(f"{inputs.world_size} GPUs do not fill nodes of 8; simulated are {world}.")
    if ports != inputs.ports_per_node and world > 8:
        notes.append(f"{inputs.ports_per_node} ports do not divide 8 GPUs; simulated are {ports}.")
    slow = ((("port_out", 1, min(2, ports - 1)), inputs.slow_share),)
    topology = Topology(
        world_size=world,
        gpus_per_node=local,
        ports_per_node=ports,
        nvlink=NVLINK.bandwidth,
        port=inputs.port,
        # A port on a faster bus: never slower than the port itself.
        pcie=max(PCIE, inputs.port),
        nodes_per_group=inputs.nodes_per_group,
        oversubscription=inputs.oversubscription,
        rails=inputs.rails,
        pxn=inputs.pxn,
        step_latency=NVLINK.latency,
        network_latency=PORT.latency,
        slow=slow if inputs.slow_share < 1 and world > 8 else (),
    )
    shift = local // ports if inputs.wrong_rail else 0
    cluster = Cluster(topology=topology, scattered=inputs.scattered, rail_shift=shift)
    return cluster, " ".join(notes)


def num_rounds(plan: tuple[Phase, ...]) -> Count:
    """Return the rounds of all phases."""
    return sum(phase.times for phase in plan)
