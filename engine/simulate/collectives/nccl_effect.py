"""Effects of faults and NCCL settings on a collective: the same model with one change.

These are the conditions that a measured bus bandwidth is compared with, and the effect of the
variables of `engine.catalog.nccl_variables`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_collectives import PCIE_5, SOCKETS
from engine.catalog.nodes import NODES, Node
from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.run.machines import cluster_of
from engine.simulate.collectives.collective import (
    collective_choice,
    collective_rank,
    collective_time,
    collective_times,
)
from engine.simulate.layer.device_model import (
    RankGroup,
    RankRates,
    rank_group,
    scale_up_transport,
)

# Times of NCCL's algorithms and protocols for one collective, and the choice of its tuner.
#
# The times are those of `engine.simulate.collectives.collective`, which every step is charged.


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectivePlacement:
    """Machine, group and line rates of a collective.

    Attributes:
        rank: rates of one rank.
        group: ranks of the collective.
        node: node type.
        line: one-way line rate that limits a ring: of the links, or of the group's ports.
        pcie: one-way line rate of a GPU's PCIe; 0 if another link leads to the host.
        own_constants: text of constants measured on the machine; empty for the catalog's.
    """

    rank: RankRates
    group: RankGroup
    node: Node
    line: Bandwidth
    pcie: Bandwidth
    own_constants: str = ""


def place_collective(
    machine: str, ranks: Count, nodes: Count = 0, ports: Count = 0, own_constants: str = ""
) -> CollectivePlacement:
    """Return the placement of a collective of `ranks` ranks; 0 nodes: as few as possible.

    Args:
        machine: key of `NODES`.
        ranks: one to a GPU.
        nodes: that they spread over, evenly.
        ports: of each node that NCCL uses; 0: all.
        own_constants: text of constants that were measured there; empty: the catalog's.
    """
    node = NODES[machine]
    gpu = ACCELERATORS[node.gpu]
    cluster = replace(cluster_of(machine, own_constants), nics_per_node=ports or node.nics_per_node)
    rank = collective_rank(cluster)
    group = rank_group(rank, ranks, 1)
    if nodes and nodes != group.nodes:
        per_node = -(-ranks // nodes)
        bandwidth = rank.scale_up if nodes == 1 else min(rank.scale_up, per_node * rank.port)
        network = scale_up_transport(rank) if nodes == 1 else rank.network
        group = RankGroup(ranks=ranks, nodes=nodes, bandwidth=bandwidth, network=network)
    line = gpu.scale_up or gpu.pcie
    if group.nodes > 1:
        share = -(-ranks // group.nodes) / node.gpus_per_node
        line = min(line, cluster.nics_per_node * cluster.nic_bandwidth * share)
    pcie = gpu.pcie if gpu.host_link == "PCIe" else 0.0
    return CollectivePlacement(
        rank=rank, group=group, node=node, line=line, pcie=pcie, own_constants=own_constants
    )


def algorithm_times(
    operation: str, size: Bytes, placement: CollectivePlacement
) -> Mapping[str, Seconds]:
    """Return "algorithm protocol" -> time of every possible choice; empty without a model."""
    return collective_times(placement.rank, placement.group, size, operation)


def chosen_algorithm(
    operation: str, size: Bytes, placement: CollectivePlacement, times: Mapping[str, Seconds]
) -> str:
    """Return the algorithm and protocol that NCCL chooses, by its tuner or its planned times."""
    return collective_choice(placement.rank, placement.group, size, operation, times)


def charged_time(operation: str, size: Bytes, placement: CollectivePlacement) -> Seconds:
    """Return the time of NCCL's choice, which a step is charged; infinite without a model."""
    return collective_time(placement.rank, placement.group, size, operation)


def reached_bandwidth(
    operation: Operation, size: Bytes, placement: CollectivePlacement
) -> Bandwidth:
    """Return the bus bandwidth of NCCL's choice; 0 without a model."""
    return bus_bandwidth(
        size, charged_time(operation, size, placement), operation, placement.group.ranks
    )


def fastest_allowed(times: Mapping[str, Seconds], setting: str) -> Seconds:
    """Return the fastest time that NCCL_ALGO or NCCL_PROTO allows; infinite if none is allowed.

    Args:
        times: "algorithm protocol" -> time.
        setting: an algorithm ("NVLS" stands for NVLSTree too), a protocol, or nothing.
    """
    if not setting:
        return min(times.values(), default=float("inf"))
    allowed = (time for name, time in times.items() if _allows(setting, name))
    return min(allowed, default=float("inf"))


def _allows(setting: str, name: str) -> bool:
    algorithm, _, protocol = name.rpartition(" ")
    return protocol == setting or algorithm.startswith(setting)


# Changed conditions, by the names of the variables' table.
CONDITION_NAMES: Mapping[str, str] = {
    "ring": "a ring only, no sums in the switch",
    "no_switch": "no sums in the switch",
    "small": "only the protocol for small messages (LL)",
    "half_ports": "half of the network ports",
    "one_port": "one network port of each node",
    "pcie": "PCIe in the node instead of NVLink",
    "trays": "the network between the hosts of a rack instead of its NVLink",
    "sockets": "TCP sockets between the nodes",
}
# Above PCIe 5.0 nothing was measured; the share of its line rate holds for the others.
_PCIE_5 = 63e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Time of a collective under one changed condition; infinite without a model."""

    key: str
    time: Seconds


def possible_conditions(
    operation: str, size: Bytes, placement: CollectivePlacement, machine: str
) -> tuple[Condition, ...]:
    """Return the conditions that can apply to this placement, with the collective's time."""
    nodes = placement.group.nodes
    keys = ["ring", "small"] if operation == "all_reduce" else []
    if nodes > 1:
        keys += ["half_ports", "one_port", "sockets"]
    elif placement.pcie:
        keys.append("pcie")
    if _trays(placement) > 1:
        keys.append("trays")
    candidates = (
        Condition(key=key, time=changed_time(key, operation, size, placement, machine))
        for key in keys
    )
    return tuple(condition for condition in candidates if condition.time < float("inf"))


def changed_time(
    key: str, operation: str, size: Bytes, placement: CollectivePlacement, machine: str
) -> Seconds:
    """Return the time of a collective under a condition; infinite if it cannot apply."""
    return min(
        _changed_times(key, operation, size, placement, machine).values(), default=float("inf")
    )


def _changed_times(
    key: str, operation: str, size: Bytes, placement: CollectivePlacement, machine: str
) -> Mapping[str, Seconds]:
    if key in ("ring", "small", "no_switch"):
        times = algorithm_times(operation, size, placement)
        if key == "small":
            return {name: time for name, time in times.items() if name.endswith("LL")}
        if key == "no_switch":
            without_switch = {
                name: time for name, time in times.items() if not name.startswith("NVLS")
            }
            algorithm = (
                chosen_algorithm(operation, size, placement, without_switch)
                if without_switch
                else ""
            )
            return (
                {algorithm: without_switch[algorithm]}
                if len(without_switch) < len(times) and algorithm
                else {}
            )
        rings = {name: time for name, time in times.items() if name.startswith("Ring")}
        return rings if any(name.startswith("NVLS") for name in times) else {}
    if (key == "pcie" and not placement.pcie) or (key == "trays" and _trays(placement) < 2):
        return {}
    return algorithm_times(operation, size, _changed_placement(key, placement, machine))


def _trays(placement: CollectivePlacement) -> Count:
    """Return the hosts of a rack that its ranks take; 0 where the ranks are in no rack, or two."""
    per_host = placement.node.gpus_per_host
    return -(-placement.group.ranks // per_host) if per_host and placement.group.nodes == 1 else 0


def _changed_placement(
    key: str, placement: CollectivePlacement, machine: str
) -> CollectivePlacement:
    """Return the placement of the same ranks on other links or fewer ports."""
    group, ports = placement.group, placement.node.nics_per_node
    if key == "trays":
        return place_collective(
            machine, group.ranks, _trays(placement), own_constants=placement.own_constants
        )
    if key in ("half_ports", "one_port"):
        num_ports = max(1, ports // 2) if key == "half_ports" else 1
        return place_collective(
            machine, group.ranks, group.nodes, num_ports, placement.own_constants
        )
    if key == "pcie":
        return _limit_bandwidth(placement, PCIE_5 * placement.pcie / _PCIE_5)
    return _limit_bandwidth(placement, SOCKETS)


def _limit_bandwidth(placement: CollectivePlacement, bandwidth: Bandwidth) -> CollectivePlacement:
    """Return the placement with a limited group bandwidth and without in-switch reduction."""
    rank = replace(
        placement.rank,
        switch=0.0,
        port=bandwidth * placement.group.nodes / placement.group.ranks,
        scale_up=placement.rank.scale_up if placement.group.nodes > 1 else bandwidth,
    )
    group = replace(placement.group, bandwidth=bandwidth)
    return replace(placement, rank=rank, group=group)


def bus_bandwidth_of(operation: Operation, size: Bytes, time: Seconds, ranks: int) -> Bandwidth:
    """Return the bus bandwidth of a time; 0 of an infinite one."""
    return 0.0 if time == float("inf") else bus_bandwidth(size, time, operation, ranks)
