"""Times and bottleneck links of every algorithm of a collective on one cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum
from typing import Any

from engine.core.slices import Slices, run_to_end, step_progress
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.simulate.collectives.cluster_collectives import (
    ClusterLayout,
    halving_doubling_all_reduce,
    hierarchical_all_reduce,
    in_switch_all_reduce,
    ring_all_reduce,
    tree_all_reduce,
)
from engine.simulate.collectives.collective import NCCL, collective_time
from engine.simulate.collectives.collective_time import (
    CollectiveTime,
    Phase,
    message_phase,
    scale_time,
    simulate_phases,
    time_phases,
    with_link_capacities,
)
from engine.simulate.collectives.flow_aggregation import aggregate_flows
from engine.simulate.layer.device_model import RankRates, rank_group
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route

# All-to-alls of up to thousands of GPUs, with equal messages of equal leaf groups aggregated.
#
# All messages of a phase are on their way at once; every port works through its own, one latency
# each, as in the rounds of `engine.collectives`. Both functions need full leaf groups, or one,
# and take all ports as equally fast.

Capacity = dict[Link, Bandwidth]


def direct_all_to_all(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return an all-to-all of a message from every GPU to every other."""
    topology = cluster.topology
    world, size = topology.world_size, topology.gpus_per_node
    share = 1 / world
    flows, capacity = _inter_node_flows(topology, share, every_place=True)
    if size > 1:
        flows.append(_intra_node_flow(topology, share, capacity))
    first = max(flow.latency for flow in flows)
    waits = (size - 1) * topology.step_latency + (world - size) * topology.network_latency
    phase = Phase(label="all pairs", flows=tuple(flows), capacity=capacity)
    return (replace(phase, extra=max(waits - first, 0.0)),)


def two_level_all_to_all(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return a two-level all-to-all: in the node to the GPU on the target's rail, then across."""
    topology = cluster.topology
    nodes, size = topology.num_nodes, topology.gpus_per_node
    phases = []
    if size > 1:
        capacity: Capacity = {}
        flow = _intra_node_flow(topology, 1 / size, capacity)
        wait = (size - 2) * topology.step_latency
        phases.append(Phase(label="inside the nodes", flows=(flow,), capacity=capacity, extra=wait))
    if nodes > 1:
        flows, capacity = _inter_node_flows(topology, 1 / nodes, every_place=False)
        first = max(flow.latency for flow in flows)
        waits = max((nodes - 1) * topology.network_latency - first, 0.0)
        phases.append(
            Phase(label="across nodes", flows=tuple(flows), capacity=capacity, extra=waits)
        )
    return tuple(phases)


def _intra_node_flow(topology: Topology, share: Ratio, capacity: Capacity) -> Flow:
    """Return the messages of one GPU to all others of its node, as one flow for all GPUs."""
    others = topology.gpus_per_node - 1
    links: dict[Link, float] = {("nvlink_out", 0): others, ("nvlink_in", 0): others}
    capacity |= dict.fromkeys(links, topology.nvlink)
    count = others * topology.world_size
    return Flow(size=share, links=links, latency=topology.step_latency, count=count)


def _inter_node_flows(
    topology: Topology, share: Ratio, *, every_place: bool
) -> tuple[list[Flow], Capacity]:
    """Return the messages between nodes: one flow per kind of leaf-group pair and rail.

    Seen from one node of the group that sends: every link stands for its likes in a group.
    """
    size = topology.gpus_per_node
    capacity: Capacity = {}
    same = size // topology.rails_per_node
    # Messages of a GPU to a node that stay on its rail, and those that do not.
    shifts = [(0, same), (size - 1, size - same)] if every_place else [(0, 1)]
    flows = [
        _group_pair_flow(topology, pair, shift, copies, capacity)
        for pair in _group_pairs(_group_sizes(topology))
        for shift, copies in shifts
        if pair.messages * copies
    ]
    return [replace(flow, size=share) for flow in flows], capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupPair:
    """Equal pairs of leaf groups: their groups have the same numbers of nodes.

    Attributes:
        sender, receiver: group numbers of the first such pair.
        nodes: nodes of the sending and of the receiving group.
        messages: pairs of nodes in one pair of groups.
        sending, receiving: number of such pairs in which one group sends, and receives.
        count: number of such pairs.
    """

    sender: int
    receiver: int
    nodes: tuple[Count, Count]
    messages: Count
    sending: Count = 1
    receiving: Count = 1
    count: Count = 1


def _group_pairs(groups: list[Count]) -> list[_GroupPair]:
    """Return all pairs of groups, each with itself as well; only the last group may be smaller."""
    pairs = []
    kinds = {nodes: groups.count(nodes) for nodes in groups}
    for source_nodes, senders in kinds.items():
        first = groups.index(source_nodes)
        pairs.append(
            _GroupPair(
                sender=first,
                receiver=first,
                nodes=(source_nodes, source_nodes),
                messages=source_nodes * (source_nodes - 1),
                count=senders,
            )
        )
        for target_nodes, receivers in kinds.items():
            same_size = source_nodes == target_nodes
            pairs.append(
                _GroupPair(
                    sender=first,
                    receiver=groups.index(target_nodes) + same_size,
                    nodes=(source_nodes, target_nodes),
                    messages=source_nodes * target_nodes if senders * receivers > same_size else 0,
                    sending=receivers - same_size,
                    receiving=senders - same_size,
                    count=senders * (receivers - same_size),
                )
            )
    return pairs


def _group_pair_flow(
    topology: Topology, pair: _GroupPair, shift: int, copies: Count, capacity: Capacity
) -> Flow:
    """Return one flow for the messages of equal group pairs, spread evenly over equal links."""
    size, nodes = topology.gpus_per_node, topology.nodes_per_group
    first, second = (group * nodes * size for group in (pair.sender, pair.receiver))
    second += size if pair.sender == pair.receiver else 0
    path = route(topology, first, second + shift)
    count = pair.messages * copies * size
    same_size = pair.nodes[0] == pair.nodes[1]
    links: dict[Link, float] = {}
    for link in path.links:
        kind = str(link[0])
        # NVLink is used before the message leaves; after that, "in" and "down" are the target's.
        arrives = kind in ("leaf_down", "port_in", "pcie_in")
        group = pair.receiver if arrives and not same_size else pair.sender
        nodes_of_side, times = (
            (pair.nodes[1], pair.receiving) if arrives else (pair.nodes[0], pair.sending)
        )
        members = {
            "nvlink": nodes_of_side * size,
            "pcie": nodes_of_side * size,
            "port": nodes_of_side * topology.rails_per_node,
            "leaf": topology.rails_per_node if topology.rails else 1,
        }[kind.partition("_")[0]]
        name: Link = (kind, group)
        links[name] = links.get(name, 0.0) + times * count / members
        capacity[name] = topology.capacity(name)
    return Flow(size=0.0, links=links, latency=path.latency, count=pair.count * count)


def _group_sizes(topology: Topology) -> list[Count]:
    """Return the number of nodes of every leaf group."""
    remaining, sizes = topology.num_nodes, []
    while remaining > 0:
        sizes.append(min(remaining, topology.nodes_per_group))
        remaining -= topology.nodes_per_group
    return sizes


# Star all-reduce: every GPU sends its whole buffer to GPU 0, which sends the sum to all.


def star_all_reduce(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return the two phases of a star all-reduce: gather to the root and broadcast."""
    topology = cluster.topology
    others = range(1, topology.world_size)
    relayed = topology.pxn and topology.rails
    gather_phase = (
        message_phase(tuple((gpu, 0, 1.0) for gpu in others), topology)
        if topology.slow
        else _aggregated_phase(topology, inward=True)
    )
    # With PXN the root sends by all ports of its node, so its rails differ from one another.
    broadcast_phase = (
        message_phase(tuple((0, gpu, 1.0) for gpu in others), topology)
        if topology.slow or relayed
        else _aggregated_phase(topology, inward=False)
    )
    return (
        replace(gather_phase, label="into the root"),
        replace(broadcast_phase, label="out of the root"),
    )


def _aggregated_phase(topology: Topology, *, inward: bool) -> Phase:
    """Return one phase in which the flows of a node's GPUs are aggregated.

    Links shared by nodes carry all of them. In its own node, the ports carry them where they
    meet: at the root's rail with PXN, each at its own without. NVLink and PCIe there are faster
    than the port of the root that all wait for, so one GPU's own stand for them.
    """
    size, flows = topology.gpus_per_node, []
    ports = 1 if topology.pxn and topology.rails and inward else topology.rails_per_node
    for node in range(topology.num_nodes):
        gpu = node * size + size - 1
        count = float(size if node else size - 1)
        if not count:
            continue
        path = route(topology, gpu, 0) if inward else route(topology, 0, gpu)
        weights: dict[Link, float] = {}
        for link in path.links:
            same_node = str(link[0]).startswith("port") and link[1] == node
            private = str(link[0]).startswith(("nvlink", "pcie")) and link[1] != 0
            weights[link] = 1.0 if private else count / ports if same_node and node else count
        flows.append(Flow(size=1.0, links=weights, latency=path.latency, count=count))
    capacity = topology.capacities(link for flow in flows for link in flow.links)
    return Phase(label="", flows=tuple(flows), capacity=capacity)


Algorithm = Callable[[ClusterLayout], tuple[Phase, ...]]
# Bandwidths do not change the route of a message: phases are built once for all of them.
_UNIT_SPEEDS: Mapping[str, Any] = {"nvlink": 1.0, "port": 1.0, "pcie": 1.0, "oversubscription": 1.0}
_SLOW_SHARE = 0.5
LINK_KINDS = ("nvlink", "pcie", "port", "leaf")
ALGORITHMS: Mapping[str, Mapping[str, Algorithm]] = {
    "all_reduce": {
        "ring": ring_all_reduce,
        "hierarchical": hierarchical_all_reduce,
        "halving_doubling": halving_doubling_all_reduce,
        "tree": tree_all_reduce,
        "in_switch": in_switch_all_reduce,
        "star": star_all_reduce,
    },
    "all_to_all": {"direct": direct_all_to_all, "two_level": two_level_all_to_all},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseRounds:
    """The equal rounds of one phase of an algorithm.

    Attributes:
        label: description of the rounds.
        rounds: number of rounds.
        message: largest message, as a share of the buffer.
        time: time of all rounds.
    """

    label: str
    rounds: Count
    message: Ratio
    time: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmRun:
    """Phases and times of one algorithm on the cluster.

    Attributes:
        plan: phases of the algorithm.
        timed: times of the phases.
        moving: time of the bytes alone, without any latency.
    """

    plan: tuple[Phase, ...]
    timed: CollectiveTime
    moving: Seconds

    @property
    def rounds(self) -> Count:
        """Number of consecutive hops, in all phases."""
        return sum(phase.times * phase.hops for phase in self.plan)

    def scaled(self, ratio: Ratio) -> "AlgorithmRun":
        """Return the run, `ratio` times as long."""
        return replace(self, timed=scale_time(self.timed, ratio), moving=ratio * self.moving)

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Kinds of the bottleneck links, in the order of the route."""
        return tuple(map(link_kind, self.timed.bottleneck))

    @property
    def is_latency_bound(self) -> bool:
        """Whether more than half of the time is latency."""
        return self.timed.latency > self.timed.time / 2

    @property
    def steps(self) -> tuple[PhaseRounds, ...]:
        """Rounds, largest message and time of each phase."""
        return tuple(
            PhaseRounds(
                label=phase.label,
                rounds=phase.times,
                message=max(flow.size for flow in phase.flows),
                time=round_time * phase.times,
            )
            for phase, round_time in zip(self.plan, self.timed.rounds, strict=True)
        )


def compare_algorithms(
    operation: str, cluster: ClusterLayout, size: Bytes
) -> Mapping[str, AlgorithmRun]:
    """Return algorithm -> run of each algorithm that can run on the cluster, for `size` bytes."""
    return run_to_end(compare_algorithms_in_slices(operation, cluster, size))


def compare_algorithms_in_slices(
    operation: str, cluster: ClusterLayout, size: Bytes
) -> Slices[Mapping[str, AlgorithmRun]]:
    """Yield progress after every algorithm; return the same as `compare_algorithms`."""
    shape = _without_speeds(cluster)
    runs = {}
    for index, name in enumerate(ALGORITHMS[operation], start=1):
        yield step_progress(index, len(ALGORITHMS[operation]), "Algorithm")
        plan = with_link_capacities(_phases(operation, name, shape), cluster.topology)
        if plan:
            phase_flow_times = simulate_phases(plan)
            bytes_alone = fsum(
                phase.times * size * max(flow_times.busy)
                for phase, flow_times in zip(plan, phase_flow_times, strict=True)
            )
            runs[name] = AlgorithmRun(
                plan=plan, timed=time_phases(plan, phase_flow_times, size), moving=bytes_alone
            )
    return runs


def _without_speeds(cluster: ClusterLayout) -> ClusterLayout:
    """Return the cluster with unit bandwidths, which leave the routes of messages unchanged."""
    topology = cluster.topology
    slow = tuple((link, _SLOW_SHARE) for link, _ in topology.slow)
    return replace(cluster, topology=replace(topology, **_UNIT_SPEEDS, slow=slow))


# Algorithms of the fluid simulation that NCCL has too, by the names of `collective_time`.
CALIBRATED: Mapping[str, Mapping[str, str]] = {
    "all_reduce": {
        "ring": "ring",
        "tree": "tree",
        "hierarchical": "hierarchical",
        "in_switch": "in_network",
    },
    "all_to_all": {"direct": NCCL},
}


def compare_calibrated_in_slices(
    operation: str, cluster: ClusterLayout, size: Bytes, rank: RankRates
) -> Slices[Mapping[str, AlgorithmRun]]:
    """Yield progress; return the runs, scaled to `collective_time` where nothing is in the way.

    The simulation says how many times as long placement, oversubscription and faults make a
    collective; how long it takes without them, the calibrated model. An algorithm that NCCL does
    not have stays as simulated, on links at the rates that NCCL reaches.
    """
    runs = yield from compare_algorithms_in_slices(operation, cluster, size)
    free = _unhindered(cluster)
    ideal = runs
    if free != cluster:
        ideal = yield from compare_algorithms_in_slices(operation, free, size)
    group = rank_group(rank, cluster.topology.world_size, 1)
    ratios = {
        name: collective_time(rank, group, size, operation, way) / ideal[name].timed.time
        for name, way in CALIBRATED[operation].items()
        if name in ideal
    }
    return {name: run.scaled(ratios.get(name, 1.0)) for name, run in runs.items()}


def _unhindered(cluster: ClusterLayout) -> ClusterLayout:
    """Return the cluster with nothing in the way: ranks in order, no slow and no thin link."""
    topology = replace(cluster.topology, oversubscription=1.0, rails=True, pxn=True, slow=())
    return ClusterLayout(topology=topology)


@lru_cache(maxsize=256)
def _phases(operation: str, name: str, shape: ClusterLayout) -> tuple[Phase, ...]:
    """Return the phases with equal flows aggregated; none if the algorithm cannot run."""
    try:
        plan = ALGORITHMS[operation][name](shape)
    except ValueError:
        return ()
    return tuple(
        aggregate_flows(phase, [link for link, _ in shape.topology.slow]) for phase in plan
    )


def with_full_nodes(topology: Topology) -> Topology:
    """Return the topology reduced to full nodes and a whole number of GPUs per port."""
    local = min(topology.gpus_per_node, topology.world_size)
    ports = 1 << (min(topology.ports_per_node, local).bit_length() - 1)
    return replace(
        topology,
        world_size=topology.world_size // local * local,
        gpus_per_node=local,
        ports_per_node=ports if local % ports == 0 else 1,
    )


def with_slow_port(topology: Topology, share: Ratio) -> Topology:
    """Return the topology with only a share left of port 2 of node 1, or of its last port."""
    if share == 1 or topology.num_nodes == 1:
        return topology
    link: Link = ("port_out", 1, min(2, topology.ports_per_node - 1))
    return replace(topology, slow=((link, share),))


def link_kind(link: Link) -> str:
    """Return the kind of a link: "nvlink", "pcie", "port" or "leaf"."""
    return str(link[0]).partition("_")[0]


def link_utilization(run: AlgorithmRun, size: Bytes) -> Mapping[str, Share]:
    """Return kind of link -> utilization of the busiest link of that kind."""
    utilization = dict.fromkeys(LINK_KINDS, 0.0)
    busy_time: dict[Link, Seconds] = {}
    for phase in run.plan:
        for flow in phase.flows:
            for link, weight in flow.links.items():
                time = weight * flow.size * size * phase.times / phase.capacity[link]
                busy_time[link] = busy_time.get(link, 0.0) + time
    for link, time in busy_time.items():
        kind = link_kind(link)
        utilization[kind] = max(utilization[kind], time / run.timed.time)
    return {kind: min(share, 1.0) for kind, share in utilization.items()}
