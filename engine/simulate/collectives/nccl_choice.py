"""What each algorithm and protocol of NCCL takes for one collective, and which of them NCCL takes.

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
from engine.simulate.layer.device_model import Group, Rank, group_of, links_of, rank_of
from engine.simulate.layer.expert_exchange import Routes, exchanged

HALVES = ("all_gather", "reduce_scatter")
# For what is modelled of a group nothing of the training matters.
_ANY = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a collective runs.

    Attributes:
        rank: rates of one of its ranks.
        group: all of them.
        node: the machines.
        line: line rate that binds a ring, one way: of the links, or of the group's ports.
        pcie: line rate of a GPU's PCIe, one way; 0 where another link leads to the host.
        own: text of constants that were measured there; empty: the catalog's.
    """

    rank: Rank
    group: Group
    node: Node
    line: Bandwidth
    pcie: Bandwidth
    own: str = ""


def place(machine: str, ranks: Count, nodes: Count = 0, ports: Count = 0, own: str = "") -> Place:
    """Return where a collective of `ranks` ranks runs; 0 nodes: as few as hold them.

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
    rank = rank_of(cluster, _ANY)
    group = group_of(rank, ranks, 1)
    if nodes and nodes != group.nodes:
        per_node = -(-ranks // nodes)
        wide = rank.scale_up if nodes == 1 else min(rank.scale_up, per_node * rank.port)
        network = links_of(rank) if nodes == 1 else rank.network
        group = Group(ranks=ranks, nodes=nodes, bandwidth=wide, network=network)
    line = gpu.scale_up or gpu.pcie
    if group.nodes > 1:
        share = -(-ranks // group.nodes) / node.gpus_per_node
        line = min(line, cluster.nics_per_node * cluster.nic_bandwidth * share)
    pcie = gpu.pcie if gpu.host_link == "PCIe" else 0.0
    return Place(rank=rank, group=group, node=node, line=line, pcie=pcie, own=own)


def times(operation: str, size: Bytes, where: Place) -> Mapping[str, Seconds]:
    """Return "algorithm protocol" -> time of what can run; nothing where there is no model."""
    if where.group.ranks <= 1 or size <= 0:
        return {}
    if operation == "all_reduce":
        return _all_reduces(size, where)
    if operation in HALVES:
        return _halves(size, where)
    if operation == "all_to_all":
        one = exchanged(1.0, size, Routes(copies=1, joined=False), where.rank, where.group)
        return {"Send and receive Simple": one.time}
    if operation in ("broadcast", "reduce"):
        return {"Ring Simple": _chain(size, where.group)}
    if operation == "send_receive":
        port = where.rank.scale_up if where.group.nodes == 1 else where.rank.port
        return {
            "Send and receive Simple": send_time(size, port, where.group.nodes, where.group.network)
        }
    return {}


def choice(operation: str, size: Bytes, where: Place, found: Mapping[str, Seconds]) -> str:
    """Return what NCCL takes of some ways: what its tuner says, or plans is the fastest."""
    group, rank = where.group, where.rank
    ends = (group.ranks, group.nodes, group.bandwidth, group.network)
    if found and operation == "all_reduce":
        return all_reduce_choice(found, size, ends, rank.switch_adds, rank.scale_up)
    if found and operation in HALVES:
        return half_choice(operation, size, ends)
    return min(found, key=found.__getitem__, default="")


def charged(operation: str, size: Bytes, where: Place) -> Seconds:
    """Return the time of what NCCL takes, which a step pays; infinite where there is no model."""
    found = times(operation, size, where)
    return found[choice(operation, size, where, found)] if found else inf


def reached(operation: Operation, size: Bytes, where: Place) -> Bandwidth:
    """Return the bus bandwidth of what NCCL takes; 0 where there is no model."""
    return bus_bandwidth(size, charged(operation, size, where), operation, where.group.ranks)


def _all_reduces(size: Bytes, where: Place) -> Mapping[str, Seconds]:
    """Return what can run; a step is charged what NCCL takes, which is none of those `_forced`."""
    group, links = where.group, where.rank.scale_up
    given = (size, group.ranks, group.nodes, group.bandwidth)
    found = transfer_time.all_reduce_times(*given, where.rank.switch_adds, group.network, links)
    if group.nodes == 1:
        tree = tree_time.tree_all_reduce_ramped_time(*given, NVLINK, links)
        found["Tree Simple"] = tree
    return {**found, **_forced(size, group)}


def _forced(size: Bytes, group: Group) -> Mapping[str, Seconds]:
    """Return the small messages of the slower algorithm, which only NCCL_ALGO brings about.

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


def _halves(size: Bytes, where: Place) -> Mapping[str, Seconds]:
    group = where.group
    given = (size, group.ranks, group.nodes, group.bandwidth)
    return transfer_time.half_times(*given, group.network)


def _chain(size: Bytes, group: Group) -> Seconds:
    """Return a pipelined chain from or to a root: the buffer crosses each link once.

    Source: NCCL's tuning.cc (a ring whose bus bandwidth is its algorithm bandwidth); ramp as of
    one round of an all-reduce.
    """
    latency = ring_latency(size, group.ranks, group.nodes, group.network)
    ramped = (1 + ramp(size, NVLINK if group.nodes == 1 else group.network)) / 2
    return LAUNCH + NVLINK.start + latency + size / group.bandwidth * ramped


def forced(found: Mapping[str, Seconds], setting: str) -> Seconds:
    """Return the fastest that NCCL_ALGO or NCCL_PROTO leaves; infinite where nothing is left.

    Args:
        found: "algorithm protocol" -> time.
        setting: an algorithm ("NVLS" stands for NVLSTree too), a protocol, or nothing.
    """
    if not setting:
        return min(found.values(), default=float("inf"))
    kept = (time for name, time in found.items() if _allows(setting, name))
    return min(kept, default=float("inf"))


def _allows(setting: str, name: str) -> bool:
    algorithm, _, protocol = name.rpartition(" ")
    return protocol == setting or algorithm.startswith(setting)
