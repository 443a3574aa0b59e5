"""The wires of a cluster as one all-reduce sees them: a link in every node, ports between nodes."""

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

# Those that need no switch's help.
OWN_SUMS = ("ring", "tree", "hierarchical")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wires:
    """What connects the GPUs of a job.

    Attributes:
        world_size: GPUs.
        gpus_per_node: of a full node; a partly filled last node counts as a node.
        ports_per_node: to the network.
        port: speed of one, one way.
        scale_up: of the link inside a node, per GPU, one way, as a ring reaches it.
        latency: of one step from node to node.
        scale_up_latency: of one step inside a node.
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
        """Nodes that the GPUs fill."""
        return -(-self.world_size // self.gpus_per_node)

    @property
    def local(self) -> Count:
        """GPUs of the job in one node."""
        return min(self.world_size, self.gpus_per_node)

    @property
    def node(self) -> Bandwidth:
        """All ports of a node together, one way."""
        return node_bandwidth(self.port, self.ports_per_node)

    @property
    def ring(self) -> Bandwidth:
        """The one-way bandwidth at which a ring through all GPUs runs, per rank."""
        if self.num_nodes == 1:
            return self.scale_up
        if self.gpus_per_node == 1:
            return self.node
        return flat_ring_bandwidth(self.scale_up, self.port, self.ports_per_node)


def step_latency(wires: Wires, algorithm: str) -> Seconds:
    """Return the latency of one step, in the mean of the steps on an algorithm's way.

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


def effective(wires: Wires, algorithm: str) -> str:
    """Return the algorithm whose formula applies: with one GPU per node a hierarchy is a ring."""
    flat = algorithm == "hierarchical" and wires.gpus_per_node == 1
    return "ring" if flat else algorithm


def fastest(wires: Wires, size: Bytes) -> str:
    """Return the algorithm that takes least for a buffer, of those that need no switch's help."""
    return min(OWN_SUMS, key=lambda name: all_reduce_time(wires, name, size))


def all_reduce_time(wires: Wires, algorithm: str, size: Bytes) -> Seconds:
    """Return the time of one all-reduce of `size` bytes: "ring", "tree", "hierarchical" or other.

    Any other name is an all-reduce whose sums the switch forms.
    """
    name = effective(wires, algorithm)
    wire = size, wires.world_size, wires.ring, step_latency(wires, name)
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


def latency_part(wires: Wires, algorithm: str, size: Bytes) -> Seconds:
    """Return what latencies add to an all-reduce."""
    bare = replace(wires, latency=0.0, scale_up_latency=0.0)
    return all_reduce_time(wires, algorithm, size) - all_reduce_time(bare, algorithm, size)


def sent_bytes(wires: Wires, algorithm: str, size: Bytes) -> Bytes:
    """Return what a GPU sends (the busiest of a tree; into the network, where tiers differ)."""
    name = effective(wires, algorithm)
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
    """What one port carries in an all-reduce; in one node: the link of one GPU.

    Attributes:
        sent: through it.
        wait: what other links keep it waiting.
    """

    sent: Bytes
    wait: Seconds = 0.0


def port_load(wires: Wires, algorithm: str, size: Bytes) -> PortLoad:
    """Return what one port sends, and how long the links inside the node keep it waiting."""
    name = effective(wires, algorithm)
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
    """What an all-reduce moves over each tier, in bytes.

    Attributes:
        gpu: sent by a GPU over all its links.
        network: of that into the network, in the mean of a node's GPUs.
        node: leaving a node.
    """

    gpu: Bytes
    network: Bytes
    node: Bytes


def ring_tiers(wires: Wires, size: Bytes) -> TierBytes:
    """Return what a flat ring moves: it enters and leaves each node once."""
    flat = ring_bytes_sent(size, wires.world_size)
    crossing = flat if wires.num_nodes > 1 else 0.0
    return TierBytes(gpu=flat, network=crossing / wires.local, node=crossing)


def hierarchical_tiers(wires: Wires, size: Bytes) -> TierBytes:
    """Return what a hierarchy moves: all within the node, then one g-th by each GPU across."""
    across = hierarchical_bytes_sent(size, wires.local, wires.num_nodes)
    inside = ring_bytes_sent(size, wires.local)
    return TierBytes(gpu=inside + across, network=across, node=across * wires.local)
