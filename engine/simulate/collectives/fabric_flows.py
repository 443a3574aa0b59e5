"""Traffic patterns on a fat tree: times and link utilization, phase by phase."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog import transports
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.simulate.collectives.cluster_collectives import (
    ClusterLayout,
    aggregate_rails,
    intra_node_rings,
)
from engine.simulate.collectives.collective_comparison import (
    LINK_KINDS,
    direct_all_to_all,
    link_kind,
)
from engine.simulate.collectives.collective_time import (
    Phase,
    message_phase,
    simulate_phases,
    time_phases,
)
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
class TrafficPhase:
    """Time and link utilization of one phase of the traffic.

    Attributes:
        label: description of the phase.
        time: time of all its rounds.
        loads: kind of link -> utilization of the busiest link of that kind.
    """

    label: str
    time: Seconds
    loads: Mapping[str, Share]


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricTraffic:
    """Times and bottleneck of a traffic pattern.

    Attributes:
        time: time of all phases.
        phases: phases in order.
        bottleneck: kind of the bottleneck link of the longest phase; "" if latency dominates.
    """

    time: Seconds
    phases: tuple[TrafficPhase, ...]
    bottleneck: str


def fabric_topology(
    fabric: Fabric, gpus_per_node: Count, nvlink: Bandwidth, *, pxn: bool = True
) -> Topology:
    """Return the topology of full nodes on a fabric; the upper two of three tiers are merged."""
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


def fabric_traffic(
    pattern: str, topology: Topology, size: Bytes, pair: tuple[Count, Count]
) -> FabricTraffic:
    """Return times and link utilization of a pattern of `PATTERNS`.

    `size` is the buffer of a GPU of a collective, or one message; `pair` the two GPUs of "pair".
    """
    plan = _phases(pattern, topology, pair)
    phase_flow_times = simulate_phases(plan)
    timing = time_phases(plan, phase_flow_times, size)
    phase_times = [
        round_time * phase.times for round_time, phase in zip(timing.rounds, plan, strict=True)
    ]
    mostly_waiting = timing.latency > timing.time / 2
    bottleneck = (
        "" if mostly_waiting or not timing.bottleneck else _bottleneck_kind(timing.bottleneck)
    )
    return FabricTraffic(
        time=timing.time,
        phases=tuple(
            TrafficPhase(label=phase.label, time=time, loads=_link_utilization(phase, size, time))
            for phase, time in zip(plan, phase_times, strict=True)
        ),
        bottleneck=bottleneck,
    )


def _phases(pattern: str, topology: Topology, pair: tuple[Count, Count]) -> tuple[Phase, ...]:
    if pattern == "all_reduce":
        return (*intra_node_rings(topology), *inter_node_ring(topology))
    if pattern == "all_to_all":
        return direct_all_to_all(ClusterLayout(topology=topology))
    if pattern == "halves":
        return (half_exchange(topology),)
    return (message_phase(((*pair, 1.0),), topology, label="on its way"),)


def inter_node_ring(topology: Topology) -> tuple[Phase, ...]:
    """Return the inter-node rounds of a hierarchical all-reduce, nodes in order.

    No two messages of a round share a link, so one that stays in its leaf group stands for all of
    those, and one that leaves it for the others. Tests compare it with all messages.
    """
    nodes, size, group = topology.num_nodes, topology.gpus_per_node, topology.nodes_per_group
    if nodes == 1:
        return ()
    groups = -(-nodes // group)
    crossing = groups if groups > 1 else 0
    pairs = [((0, size), nodes - crossing)] if nodes > crossing else []
    if crossing:
        # Leaves its group for the next one; of two nodes in two groups each is first and last.
        pairs.append((((group - 1) * size, group * size), crossing))
    messages = tuple((*pair, 1 / topology.world_size) for pair, _ in pairs)
    phase = aggregate_rails(messages, topology, size, 2 * (nodes - 1), "across nodes")
    flows = tuple(
        replace(flow, count=float(count * size))
        for flow, (_, count) in zip(phase.flows, pairs, strict=True)
    )
    return (replace(phase, flows=flows, chained=True),)


def half_exchange(full_topology: Topology) -> Phase:
    """Return the phase in which every GPU sends to its counterpart in the other half.

    From two leaf groups on, all messages leave their group, and two full groups stand for all.
    """
    num_gpus = 2 * full_topology.nodes_per_group * full_topology.gpus_per_node
    topology = replace(full_topology, world_size=min(num_gpus, full_topology.world_size))
    nodes, size = topology.num_nodes, topology.gpus_per_node
    away = max(1, nodes // 2)
    share: Ratio = 1.0
    if nodes == 1:
        messages = tuple((gpu, (gpu + size // 2) % size, share) for gpu in range(size))
        return message_phase(messages, topology, label="to the other half")
    pairs = tuple((node * size, (node + away) % nodes * size, share) for node in range(nodes))
    return aggregate_rails(pairs, topology, size, 1, "to the other half")


def _link_utilization(phase: Phase, size: Bytes, time: Seconds) -> dict[str, Share]:
    """Return kind of link -> utilization of the busiest link of that kind in a phase."""
    busy_time: dict[Link, Seconds] = {}
    for flow in phase.flows:
        for link, weight in flow.links.items():
            busy = weight * flow.size * size * phase.times / phase.capacity[link]
            busy_time[link] = busy_time.get(link, 0.0) + busy
    utilization = dict.fromkeys(LINK_KINDS, 0.0)
    for link, busy in busy_time.items():
        kind = link_kind(link)
        utilization[kind] = max(utilization[kind], min(1.0, busy / time))
    return utilization


def _bottleneck_kind(links: tuple[Link, ...]) -> str:
    """Return the kind of a bottleneck link: a port, or else the outermost link."""
    kinds = {link_kind(link) for link in links}
    if "port" in kinds:  # a fabric as wide as its ports is not what holds them up
        return "port"
    return next(kind for kind in reversed(LINK_KINDS) if kind in kinds)
