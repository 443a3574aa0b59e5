"""Link bandwidths and latencies of a cluster, and closed-form all-reduce times on them."""

from dataclasses import dataclass, replace

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
    flat_ring_bandwidth,
    hierarchical_all_reduce_time,
    hierarchical_bytes_sent,
    node_bandwidth,
    switched_all_reduce_time,
    switched_bytes_sent,
)

# Algorithms in which GPUs, not switches, form the sums.
SWITCHLESS_ALGORITHMS = ("ring", "tree", "hierarchical")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterWires:
    """Bandwidths and latencies of the links between the GPUs of a job.

    Attributes:
        world_size: GPUs.
        gpus_per_node: GPUs of a full node; a partly filled last node counts as a node.
        ports_per_node: network ports of a node.
        port: one-way bandwidth of one port.
        scale_up: one-way bandwidth of the link inside a node, per GPU, as a ring reaches it.
        latency: latency of one step from node to node.
        scale_up_latency: latency of one step inside a node.
    """

    world_size: Count
    gpus_per_node: Count
    ports_per_node: Count
    port: Bandwidth
    scale_up: Bandwidth
    latency: Seconds
    scale_up_latency: Seconds

    @property
    def num_nodes(self) -> Count:
        """Number of nodes that the GPUs fill."""
        return -(-self.world_size // self.gpus_per_node)

    @property
    def local(self) -> Count:
        """Number of the job's GPUs in one node."""
        return min(self.world_size, self.gpus_per_node)

    @property
    def node(self) -> Bandwidth:
        """One-way bandwidth of all ports of a node together."""
        return node_bandwidth(self.port, self.ports_per_node)

    @property
    def ring(self) -> Bandwidth:
        """The one-way bandwidth at which a ring through all GPUs runs, per rank."""
        if self.num_nodes == 1:
            return self.scale_up
        if self.gpus_per_node == 1:
            return self.node
        return flat_ring_bandwidth(self.scale_up, self.port, self.ports_per_node)


def mean_step_latency(wires: ClusterWires, algorithm: str) -> Seconds:
    """Return the mean latency of an algorithm's steps.

    A ring leaves each node once; a tree goes up inside the nodes first, then from node to node.
    """
    up, out, nodes = wires.scale_up_latency, wires.latency, wires.num_nodes
    if nodes == 1:
        return up
    if algorithm == "tree":
        across, steps = tree_depth(nodes), tree_depth(wires.world_size)
    else:
        across, steps = nodes, wires.world_size
    return (across * out + (steps - across) * up) / steps


def effective_algorithm(wires: ClusterWires, algorithm: str) -> str:
    """Return the effective algorithm: with one GPU per node a hierarchy is a ring."""
    flat = algorithm == "hierarchical" and wires.gpus_per_node == 1
    return "ring" if flat else algorithm


def fastest_algorithm(wires: ClusterWires, size: Bytes) -> str:
    """Return the fastest algorithm for a buffer among those without in-network reduction."""
    return min(SWITCHLESS_ALGORITHMS, key=lambda name: all_reduce_time(wires, name, size))


def all_reduce_time(wires: ClusterWires, algorithm: str, size: Bytes) -> Seconds:
    """Return the time of an all-reduce of `size` bytes by "ring", "tree", "hierarchical" or other.

    Any other name stands for an all-reduce whose sums the switch forms.
    """
    name = effective_algorithm(wires, algorithm)
    wire = size, wires.world_size, wires.ring, mean_step_latency(wires, name)
    if name == "tree":
        return tree_all_reduce_time(*wire)
    if name == "ring":
        return ring_all_reduce_time(*wire)
    tiers = wires.scale_up, wires.scale_up_latency, wires.node, wires.latency
    if name == "hierarchical":
        return hierarchical_all_reduce_time(size, wires.local, wires.num_nodes, *tiers)
    if wires.num_nodes > 1:
        return switched_all_reduce_time(size, wires.local, *tiers)
    return in_network_all_reduce_time(*wire)


def latency_time(wires: ClusterWires, algorithm: str, size: Bytes) -> Seconds:
    """Return the latency part of an all-reduce time."""
    without_latency = replace(wires, latency=0.0, scale_up_latency=0.0)
    return all_reduce_time(wires, algorithm, size) - all_reduce_time(
        without_latency, algorithm, size
    )


def sent_bytes(wires: ClusterWires, algorithm: str, size: Bytes) -> Bytes:
    """Return the bytes that a GPU sends (the busiest of a tree; into the network by tiers)."""
    name = effective_algorithm(wires, algorithm)
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
        sent: bytes through the port.
        wait: time for which the port waits for other links.
    """

    sent: Bytes
    wait: Seconds = 0.0


def port_load(wires: ClusterWires, algorithm: str, size: Bytes) -> PortLoad:
    """Return the bytes that one port sends, and its wait for the links inside the node."""
    name = effective_algorithm(wires, algorithm)
    if wires.num_nodes == 1:
        inside = "ring" if name == "hierarchical" else name
        return PortLoad(sent=sent_bytes(wires, inside, size))
    sent = sent_bytes(wires, name, size) / wires.ports_per_node
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
