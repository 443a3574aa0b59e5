"""Times and bottleneck links of every algorithm of a collective on one cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum
from typing import Any

from engine.core.slices import Slices, run_to_end, step_progress
from engine.core.units import Bytes, Count, Ratio, Seconds, Share
from engine.simulate.collectives.cluster_all_to_all import direct_all_to_all, two_level_all_to_all
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
