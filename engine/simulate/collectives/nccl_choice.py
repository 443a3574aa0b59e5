"""Times of NCCL's algorithms and protocols for one collective, and the choice of its tuner.

The times are those of `engine.simulate.collectives.collective`, which every step is charged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog.accelerators import ACCELERATORS
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectivePlacement:
    """Machine, group and line rates of a collective.

    Attributes:
        rank: rates of one rank.
        group: ranks of the collective.
        node: node type.
        line: one-way line rate that limits a ring: of the links, or of the group's ports.
        pcie: one-way line rate of a GPU's PCIe; 0 if another link leads to the host.
        own: text of constants measured on the machine; empty for the catalog's.
    """

    rank: RankRates
    group: RankGroup
    node: Node
    line: Bandwidth
    pcie: Bandwidth
    own: str = ""


def place_collective(
    machine: str, ranks: Count, nodes: Count = 0, ports: Count = 0, own: str = ""
) -> CollectivePlacement:
    """Return the placement of a collective of `ranks` ranks; 0 nodes: as few as possible.

    Args:
        machine: key of `NODES`.
        ranks: one to a GPU.
        nodes: that they spread over, evenly.
        ports: of each node that NCCL uses; 0: all.
        own: text of constants that were measured there; empty: the catalog's.
    """
    node = NODES[machine]
    gpu = ACCELERATORS[node.gpu]
    cluster = replace(cluster_of(machine, own), nics_per_node=ports or node.nics_per_node)
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
    return CollectivePlacement(rank=rank, group=group, node=node, line=line, pcie=pcie, own=own)


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
