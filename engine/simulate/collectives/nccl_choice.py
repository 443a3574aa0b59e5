"""Times of NCCL's algorithms and protocols for one collective, and the choice of its tuner.

The times are those of `engine.formulas.transfer_time`, which the step time uses: for an all-reduce,
a reduce-scatter and an all-gather a step is charged what the network's tuner takes, or what NCCL
plans is the fastest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nodes import NODES, Node
from engine.catalog.transports import LAUNCH, NVLINK
from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas import transfer_time, tree_time
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.formulas.ring_time import ramp, ring_latency
from engine.formulas.send_time import send_time
from engine.formulas.transfer_time import all_reduce_choice, half_choice
from engine.run.machines import cluster_of
from engine.run.parallelism import Training
from engine.simulate.layer.device_model import (
    RankGroup,
    RankRates,
    rank_group,
    rank_rates,
    scale_up_transport,
)
from engine.simulate.layer.expert_exchange import TokenRoutes, exchange_tokens

HALF_COLLECTIVES = ("all_gather", "reduce_scatter")
# The model of a group does not depend on the training settings.
_ANY = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)


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
    rank = rank_rates(cluster, _ANY)
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
    if placement.group.ranks <= 1 or size <= 0:
        return {}
    if operation == "all_reduce":
        return _all_reduce_times(size, placement)
    if operation in HALF_COLLECTIVES:
        return _half_times(size, placement)
    if operation == "all_to_all":
        exchange = exchange_tokens(
            1.0, size, TokenRoutes(copies=1, joined=False), placement.rank, placement.group
        )
        return {"Send and receive Simple": exchange.time}
    if operation in ("broadcast", "reduce"):
        return {"Ring Simple": _chain_time(size, placement.group)}
    if operation == "send_receive":
        port = placement.rank.scale_up if placement.group.nodes == 1 else placement.rank.port
        return {
            "Send and receive Simple": send_time(
                size, port, placement.group.nodes, placement.group.network
            )
        }
    return {}


def chosen_algorithm(
    operation: str, size: Bytes, placement: CollectivePlacement, times: Mapping[str, Seconds]
) -> str:
    """Return the algorithm and protocol that NCCL chooses, by its tuner or its planned times."""
    group, rank = placement.group, placement.rank
    ends = (group.ranks, group.nodes, group.bandwidth, group.network)
    if times and operation == "all_reduce":
        return all_reduce_choice(times, size, ends, rank.switch_adds, rank.scale_up)
    if times and operation in HALF_COLLECTIVES:
        return half_choice(operation, size, ends)
    return min(times, key=times.__getitem__, default="")


def charged_time(operation: str, size: Bytes, placement: CollectivePlacement) -> Seconds:
    """Return the time of NCCL's choice, which a step is charged; infinite without a model."""
    times = algorithm_times(operation, size, placement)
    return times[chosen_algorithm(operation, size, placement, times)] if times else inf


def reached_bandwidth(
    operation: Operation, size: Bytes, placement: CollectivePlacement
) -> Bandwidth:
    """Return the bus bandwidth of NCCL's choice; 0 without a model."""
    return bus_bandwidth(
        size, charged_time(operation, size, placement), operation, placement.group.ranks
    )


def _all_reduce_times(size: Bytes, placement: CollectivePlacement) -> Mapping[str, Seconds]:
    """Return the times of all choices; a step is never charged those of `_forced_small_times`."""
    group, links = placement.group, placement.rank.scale_up
    transfer = (size, group.ranks, group.nodes, group.bandwidth)
    times = transfer_time.all_reduce_times(
        *transfer, placement.rank.switch_adds, group.network, links
    )
    if group.nodes == 1:
        tree = tree_time.tree_all_reduce_ramped_time(*transfer, NVLINK, links)
        times["Tree Simple"] = tree
    return {**times, **_forced_small_times(size, group)}


def _forced_small_times(size: Bytes, group: RankGroup) -> Mapping[str, Seconds]:
    """Return small-message times of the slower algorithm, which only NCCL_ALGO selects.

    A tree in one node is a chain, and a ring over nodes takes every step in turn; both are as the
    other way for small messages, with more latency or more bytes.
    """
    steps, ranks, nodes = NVLINK.step_small, group.ranks, group.nodes
    start = LAUNCH + NVLINK.start_small
    if nodes == 1:
        steps = group.network.step_small if group.network.trays else steps
        wire = 2 * size / (group.bandwidth * NVLINK.share_small)
        return {"Tree LL": start + 2 * (ranks - 1) * steps + wire}
    if not group.network.share_small:
        return {}
    latency = 2 * ((ranks - nodes) * steps + nodes * group.network.step_small)
    wire = 2 * (ranks - 1) / ranks * size / (group.bandwidth * group.network.share_small)
    return {"Ring LL": start + latency + wire}


def _half_times(size: Bytes, placement: CollectivePlacement) -> Mapping[str, Seconds]:
    group = placement.group
    transfer = (size, group.ranks, group.nodes, group.bandwidth)
    return transfer_time.half_times(*transfer, group.network)


def _chain_time(size: Bytes, group: RankGroup) -> Seconds:
    """Return the time of a pipelined chain from or to a root: the buffer crosses each link once.

    Source: NCCL's tuning.cc (a ring whose bus bandwidth is its algorithm bandwidth); ramp as of
    one round of an all-reduce.
    """
    latency = ring_latency(size, group.ranks, group.nodes, group.network)
    ramped = (1 + ramp(size, NVLINK if group.nodes == 1 else group.network)) / 2
    return LAUNCH + NVLINK.start + latency + size / group.bandwidth * ramped


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
