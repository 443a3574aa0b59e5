"""What traffic does to the links of a fat tree: times and loads, phase by phase."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog import transports
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.simulate.collectives.cluster_all_to_all import direct
from engine.simulate.collectives.cluster_collectives import Cluster, inside_nodes
from engine.simulate.collectives.collective_comparison import KINDS, kind_of
from engine.simulate.collectives.collective_time import Phase, drained, phase, timed
from engine.simulate.collectives.rail_aggregation import folded
from engine.simulate.network.fabric_design import Fabric
from engine.simulate.network.fair_share import Link
from engine.simulate.network.topology import PCIE, Topology

PATTERNS: Mapping[str, str] = {
    "all_reduce": "hierarchical all-reduce",
    "all_to_all": "direct all-to-all",
    "halves": "message to the other half",
    "pair": "single message",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Painted:
    """One phase of the traffic.

    Attributes:
        label: what happens in it.
        time: of all its rounds.
        loads: kind of link -> share of the phase for which the busiest one is full.
    """

    label: str
    time: Seconds
    loads: Mapping[str, Share]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a pattern takes.

    Attributes:
        time: of all phases.
        phases: in their order.
        binding: kind of the link that the longest phase waits for; "" if for latency.
    """

    time: Seconds
    phases: tuple[Painted, ...]
    binding: str


def topology_of(
    fabric: Fabric, gpus_per_node: Count, nvlink: Bandwidth, *, pxn: bool = True
) -> Topology:
    """Return the wires of full nodes on a fabric; of three tiers the upper two are one."""
    plan = fabric.plan
    return Topology(
        world_size=plan.num_nodes * gpus_per_node,
        gpus_per_node=gpus_per_node,
        ports_per_node=plan.ports_per_node,
        nvlink=nvlink,
        port=plan.port,
        # A port on a faster bus: never slower than the port itself.
        pcie=max(PCIE, plan.port),
        nodes_per_group=fabric.nodes_per_group,
        oversubscription=fabric.oversubscription,
        # Where all rails of a group share one leaf, no message has to climb between them.
        rails=plan.rails and fabric.leaves > fabric.groups,
        pxn=pxn,
        step_latency=transports.NVLINK.step,
        network_latency=transports.INFINIBAND.step,
    )


def traffic(pattern: str, topology: Topology, size: Bytes, pair: tuple[Count, Count]) -> Traffic:
    """Return what a pattern of `PATTERNS` takes.

    `size` is the buffer of a GPU of a collective, or one message; `pair` the two GPUs of "pair".
    """
    plan = _phases(pattern, topology, pair)
    drains = drained(plan)
    found = timed(plan, drains, size)
    spent = [one * part.times for one, part in zip(found.rounds, plan, strict=True)]
    mostly_waiting = found.latency > found.time / 2
    binding = "" if mostly_waiting or not found.binding else _slowest(found.binding)
    return Traffic(
        time=found.time,
        phases=tuple(
            Painted(label=part.label, time=time, loads=_loads(part, size, time))
            for part, time in zip(plan, spent, strict=True)
        ),
        binding=binding,
    )


def _phases(pattern: str, topology: Topology, pair: tuple[Count, Count]) -> tuple[Phase, ...]:
    if pattern == "all_reduce":
        return (*inside_nodes(topology), *ring_of_nodes(topology))
    if pattern == "all_to_all":
        return direct(Cluster(topology=topology))
    if pattern == "halves":
        return (halves(topology),)
    return (phase(((*pair, 1.0),), topology, label="on its way"),)


def ring_of_nodes(topology: Topology) -> tuple[Phase, ...]:
    """Return the rounds between nodes of a hierarchical all-reduce, nodes in order.

    No two messages of a round share a link, so one that stays in its leaf group stands for all of
    those, and one that leaves it for the others. Tests compare it with all messages.
    """
    nodes, size, group = topology.num_nodes, topology.gpus_per_node, topology.nodes_per_group
    if nodes == 1:
        return ()
    groups = -(-nodes // group)
    crossing = groups if groups > 1 else 0
    found = [((0, size), nodes - crossing)] if nodes > crossing else []
    if crossing:
        # Leaves its group for the next one; of two nodes in two groups each is first and last.
        found.append((((group - 1) * size, group * size), crossing))
    messages = tuple((*pair, 1 / topology.world_size) for pair, _ in found)
    one = folded(messages, topology, size, 2 * (nodes - 1), "across nodes")
    flows = tuple(
        replace(flow, count=float(count * size))
        for flow, (_, count) in zip(one.flows, found, strict=True)
    )
    return (replace(one, flows=flows, chained=True),)


def halves(asked: Topology) -> Phase:
    """Return a message from every GPU to the one at its place half of the cluster away.

    From two leaf groups on, all messages leave their group, and two full groups stand for all.
    """
    few = 2 * asked.nodes_per_group * asked.gpus_per_node
    topology = replace(asked, world_size=min(few, asked.world_size))
    nodes, size = topology.num_nodes, topology.gpus_per_node
    away = max(1, nodes // 2)
    share: Ratio = 1.0
    if nodes == 1:
        messages = tuple((gpu, (gpu + size // 2) % size, share) for gpu in range(size))
        return phase(messages, topology, label="to the other half")
    pairs = tuple((node * size, (node + away) % nodes * size, share) for node in range(nodes))
    return folded(pairs, topology, size, 1, "to the other half")


def _loads(part: Phase, size: Bytes, time: Seconds) -> dict[str, Share]:
    """Return for every kind of link what share of the phase the busiest of its kind is full."""
    spent: dict[Link, Seconds] = {}
    for flow in part.flows:
        for link, weight in flow.links.items():
            need = weight * flow.size * size * part.times / part.capacity[link]
            spent[link] = spent.get(link, 0.0) + need
    found = dict.fromkeys(KINDS, 0.0)
    for link, need in spent.items():
        kind = kind_of(link)
        found[kind] = max(found[kind], min(1.0, need / time))
    return found


def _slowest(links: tuple[Link, ...]) -> str:
    """Return the kind of a full link: a port, or else the outermost."""
    kinds = {kind_of(link) for link in links}
    if "port" in kinds:  # a fabric as wide as its ports is not what holds them up
        return "port"
    return next(kind for kind in reversed(KINDS) if kind in kinds)
