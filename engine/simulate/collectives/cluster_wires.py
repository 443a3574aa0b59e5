"""The machine of an all-reduce: its time by `collective_time`, its bytes and its bound."""

from dataclasses import dataclass, replace

from engine.catalog.accelerators import Gpu
from engine.catalog.reader_constants import OwnConstants
from engine.catalog.transports import INFINIBAND, NVLINK
from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.communication import (
    in_network_all_reduce_time,
    in_network_bytes_sent,
    ring_all_reduce_time,
    ring_bytes_sent,
    tree_all_reduce_time,
    tree_bytes_sent,
    tree_depth,
)
from engine.formulas.hierarchy import (
    hierarchical_all_reduce_time,
    hierarchical_bytes_sent,
    switched_all_reduce_time,
    switched_bytes_sent,
)
from engine.run.parallelism import Cluster
from engine.simulate.collectives.collective import (
    FAMILIES,
    NCCL,
    collective_choice,
    collective_rank,
    collective_time,
    collective_times,
)
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_group

# NCCL's algorithms by the names of equations and labels.
_NAMES = {"Ring": "ring", "Tree": "tree", "NVLSTree": "tree", "NVLS": "in_network"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterWires:
    """The GPUs of an all-reduce and the rates of one of them.

    Attributes:
        rank: rates of a GPU; its node has `gpus_per_node` GPUs.
        world_size: GPUs.
        gpus_per_node: GPUs of a full node; a partly filled last node counts as a node.
        ports_per_node: network ports of a node.
        port: one-way line rate of one port.
    """

    rank: RankRates
    world_size: Count
    gpus_per_node: Count
    ports_per_node: Count
    port: Bandwidth

    @property
    def group(self) -> RankGroup:
        """All GPUs, as the group of the all-reduce."""
        return rank_group(self.rank, self.world_size, 1)

    @property
    def num_nodes(self) -> Count:
        """Number of nodes that the GPUs fill."""
        return -(-self.world_size // self.gpus_per_node)

    @property
    def local(self) -> Count:
        """Number of the job's GPUs in one node."""
        return min(self.world_size, self.gpus_per_node)

    @property
    def scale_up(self) -> Bandwidth:
        """One-way bandwidth of the link inside a node, per GPU, as a ring reaches it."""
        return self.rank.scale_up

    @property
    def node(self) -> Bandwidth:
        """One-way bandwidth of all ports of a node together, as collectives reach it."""
        return self.rank.port * self.gpus_per_node

    @property
    def ring(self) -> Bandwidth:
        """The one-way bandwidth at which a ring through all GPUs runs, per rank."""
        return self.group.bandwidth

    @property
    def latency(self) -> Seconds:
        """Latency of one step of large messages from node to node."""
        return self.rank.network.step


def cluster_wires(
    gpu: Gpu,
    world_size: Count,
    gpus_per_node: Count,
    ports_per_node: Count,
    port: Bandwidth,
    latency: Seconds = INFINIBAND.step,
    own_constants: OwnConstants | None = None,
) -> ClusterWires:
    """Return the machine of an all-reduce: `gpus_per_node` GPUs share the scale-up links.

    `own_constants` are constants that were measured on it, in place of the catalog's.
    """
    cluster = Cluster(
        gpu=gpu,
        gpus_per_node=gpus_per_node,
        nics_per_node=ports_per_node,
        nic_bandwidth=port,
        own_constants=own_constants,
    )
    return ClusterWires(
        rank=replace(collective_rank(cluster, latency), domain=gpus_per_node),
        world_size=world_size,
        gpus_per_node=gpus_per_node,
        ports_per_node=ports_per_node,
        port=port,
    )


def effective_algorithm(wires: ClusterWires, algorithm: str, size: Bytes = 1.0) -> str:
    """Return the algorithm that runs: NCCL's choice for "auto".

    With one GPU per node or in a single node a hierarchy is a ring.
    """
    if algorithm == "auto":
        return _NAMES[all_reduce_algorithm(wires, algorithm, size).partition(" ")[0]]
    flat = wires.gpus_per_node == 1 or wires.num_nodes == 1
    return "ring" if algorithm == "hierarchical" and flat else algorithm


def all_reduce_algorithm(wires: ClusterWires, algorithm: str, size: Bytes) -> str:
    """Return the algorithm and protocol for `collective_time`, or one that it composes."""
    name = algorithm if algorithm == "auto" else effective_algorithm(wires, algorithm)
    if name in ("hierarchical", "in_network"):
        return name
    times = collective_times(wires.rank, wires.group, size)
    if name == "auto":
        return collective_choice(wires.rank, wires.group, size, "all_reduce", times)
    allowed = [pair for pair in times if pair.startswith(FAMILIES[name])]
    return min(allowed, key=times.__getitem__)


def all_reduce_time(wires: ClusterWires, algorithm: str, size: Bytes) -> Seconds:
    """Return the time of an all-reduce by "ring", "tree", "hierarchical", "in_network" or "auto".

    "auto" stands for what NCCL chooses, which needs no switches that add between the nodes.
    """
    chosen = NCCL if algorithm == "auto" else effective_algorithm(wires, algorithm)
    return collective_time(wires.rank, wires.group, size, algorithm=chosen)


def latency_time(wires: ClusterWires, algorithm: str, size: Bytes) -> Seconds:
    """Return the latency part of an all-reduce: the time of one byte in the same way."""
    if wires.world_size == 1 or size <= 0:
        return 0.0
    chosen = all_reduce_algorithm(wires, algorithm, size)
    return collective_time(wires.rank, wires.group, min(1.0, size), algorithm=chosen)


def mean_step_latency(wires: ClusterWires, algorithm: str) -> Seconds:
    """Return the mean latency of an algorithm's steps.

    A ring leaves each node once; a tree goes up inside the nodes first, then from node to node.
    """
    up, out, nodes = NVLINK.step, wires.latency, wires.num_nodes
    if nodes == 1:
        return up
    if algorithm == "tree":
        across, steps = tree_depth(nodes), tree_depth(wires.world_size)
    else:
        across, steps = nodes, wires.world_size
    return (across * out + (steps - across) * up) / steps


def bound_time(wires: ClusterWires, algorithm: str, size: Bytes) -> Seconds:
    """Return the time of an algorithm by its textbook equation at the rates of these wires."""
    name = effective_algorithm(wires, algorithm, size)
    wire = size, wires.world_size, wires.ring, mean_step_latency(wires, name)
    if name == "tree":
        return tree_all_reduce_time(*wire)
    if name == "ring":
        return ring_all_reduce_time(*wire)
    tiers = wires.scale_up, NVLINK.step, wires.node, wires.latency
    if name == "hierarchical":
        return hierarchical_all_reduce_time(size, wires.local, wires.num_nodes, *tiers)
    if wires.num_nodes > 1:
        return switched_all_reduce_time(size, wires.local, *tiers)
    return in_network_all_reduce_time(*wire)


def sent_bytes(wires: ClusterWires, algorithm: str, size: Bytes) -> Bytes:
    """Return the bytes that a GPU sends (the busiest of a tree; into the network by tiers)."""
    name = effective_algorithm(wires, algorithm, size)
    if name == "tree":
        return tree_bytes_sent(size, wires.world_size)
    if name == "in_network":
        if wires.num_nodes > 1:
            return switched_bytes_sent(size, wires.local)
        return in_network_bytes_sent(size, wires.world_size)
    if name == "hierarchical":
        return hierarchical_bytes_sent(size, wires.local, wires.num_nodes)
    return ring_bytes_sent(size, wires.world_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortLoad:
    """Bytes and waiting time of one port in an all-reduce; in a single node, of a GPU's link.

    Attributes:
        sent: bytes through the port, over the share of its line rate that collectives reach.
        wait: time for which the port waits for other links.
    """

    sent: Bytes
    wait: Seconds = 0.0


def port_load(wires: ClusterWires, algorithm: str, size: Bytes) -> PortLoad:
    """Return the bytes that one port sends, and its wait for the links inside the node."""
    name = effective_algorithm(wires, algorithm, size)
    if wires.num_nodes == 1:
        return PortLoad(sent=sent_bytes(wires, name, size))
    reached = wires.node / (wires.ports_per_node * wires.port)
    sent = sent_bytes(wires, name, size) / wires.ports_per_node / reached
    if name == "hierarchical":
        wait = ring_bytes_sent(size, wires.local) / wires.scale_up
        return PortLoad(sent=sent * wires.local, wait=wait)
    return PortLoad(sent=sent * wires.local if name == "in_network" else sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class TierBytes:
    """Bytes that an all-reduce moves over each tier.

    Attributes:
        gpu: bytes sent by a GPU over all its links.
        network: bytes of these into the network, mean over a node's GPUs.
        node: bytes leaving a node.
    """

    gpu: Bytes
    network: Bytes
    node: Bytes


def ring_tier_bytes(wires: ClusterWires, size: Bytes) -> TierBytes:
    """Return the bytes of a flat ring, which enters and leaves each node once."""
    flat = ring_bytes_sent(size, wires.world_size)
    crossing = flat if wires.num_nodes > 1 else 0.0
    return TierBytes(gpu=flat, network=crossing / wires.local, node=crossing)


def hierarchical_tier_bytes(wires: ClusterWires, size: Bytes) -> TierBytes:
    """Return the bytes of a hierarchy: all within the node, then one g-th per GPU across."""
    across = hierarchical_bytes_sent(size, wires.local, wires.num_nodes)
    inside = ring_bytes_sent(size, wires.local)
    return TierBytes(gpu=inside + across, network=across, node=across * wires.local)
