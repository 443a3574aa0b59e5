"""All-reduce algorithms on clusters of up to thousands of GPUs, as phases of flows.

Each function returns the phases of one algorithm; `engine.simulate.collectives.cluster_collectives`
says how the flows of one rail stand for those of all.
"""

from dataclasses import dataclass, replace

from engine.collectives.tree_all_reduce import edges
from engine.core.units import Count
from engine.formulas.communication import tree_depth
from engine.simulate.collectives.collective_time import Message, Phase, message_phase
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLayout:
    """A topology and the placement of the ranks on it.

    Attributes:
        topology: the links of the cluster; full nodes only.
        scattered: whether neighbors in the node order are in different leaf groups.
        rail_shift: rails by which messages between nodes miss the right one.
    """

    topology: Topology
    scattered: bool = False
    rail_shift: Count = 0

    @property
    def order(self) -> tuple[int, ...]:
        """The nodes in the order in which a ring visits them."""
        nodes = range(self.topology.num_nodes)
        per_group = self.topology.nodes_per_group if self.scattered else len(nodes)
        return tuple(sorted(nodes, key=lambda node: (node % per_group, node)))


def ring_all_reduce(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return a ring all-reduce: one ring per port, each through all GPUs.

    With PXN a ring leaves a node by the port at which it entered, over NVLink. Without PXN it
    leaves by the port of its last GPU, and enters the next node there: one GPU earlier per node.
    """
    topology, nodes = cluster.topology, cluster.order
    size, world, rings = topology.gpus_per_node, topology.world_size, _num_rings(topology)
    share = 1 / (rings * world)
    path = [
        node * size + (local_rank - (0 if topology.pxn else turn)) % size
        for turn, node in enumerate(nodes)
        for local_rank in range(size)
    ]
    messages = []
    for source, target in zip(path, [*path[1:], path[0]], strict=True):
        inside = topology.node(source) == topology.node(target)
        messages.append((source, target if inside else _receiving_gpu(cluster, target), share))
    times = 2 * (world - 1)
    phase = aggregate_rails(tuple(messages), topology, rings, times, "around the ring")
    return (replace(phase, chained=True),)


def hierarchical_all_reduce(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return a hierarchical all-reduce: reduce-scatter in nodes, all-reduce across, all-gather."""
    topology, nodes = cluster.topology, cluster.order
    inside = intra_node_rings(topology)
    if len(nodes) == 1:
        return inside
    size = topology.gpus_per_node
    share = 1 / topology.world_size
    messages = tuple(
        (here * size, _receiving_gpu(cluster, there * size), share)
        for here, there in zip(nodes, [*nodes[1:], nodes[0]], strict=True)
    )
    across = aggregate_rails(messages, topology, size, 2 * (len(nodes) - 1), "across nodes")
    return (*inside, replace(across, chained=True))


def intra_node_rings(topology: Topology) -> tuple[Phase, ...]:
    """Return the intra-node rings: a reduce-scatter and an all-gather, which take equally long."""
    size = topology.gpus_per_node
    if size == 1:
        return ()
    messages = tuple((gpu, gpu + 1, 1 / size) for gpu in range(0, topology.world_size, size))
    return (aggregate_rails(messages, topology, size, 2 * (size - 1), "inside the nodes"),)


def halving_doubling_all_reduce(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return a recursive halving and doubling all-reduce, nearest ranks first.

    Raises:
        ValueError: the number of GPUs, or of GPUs per node, is not a power of two.
    """
    topology, nodes = cluster.topology, cluster.order
    world, size = topology.world_size, topology.gpus_per_node
    if world & (world - 1) or size & (size - 1):
        raise ValueError(f"{world} GPUs in nodes of {size}: both must be powers of two")
    phases = []
    for turn in range(world.bit_length() - 1):
        distance = 1 << turn
        share = 1 / (2 * distance)
        if distance < size:
            pairs = [(node * size, node * size + distance) for node in nodes]
        else:
            hop = distance // size
            ends = ((node, nodes[turn ^ hop]) for turn, node in enumerate(nodes))
            pairs = [(here * size, _receiving_gpu(cluster, there * size)) for here, there in ends]
        messages = tuple((*pair, share) for pair in pairs)
        label = f"{distance} places apart"
        phases.append(aggregate_rails(messages, topology, size, 2, label))
    return tuple(phases)


def tree_all_reduce(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return a double-binary-tree all-reduce over nodes, with a chain of GPUs inside each node.

    Reduction and broadcast overlap; the first piece pays the way up and down as latency.
    """
    topology = cluster.topology
    size, nodes, trees = topology.gpus_per_node, cluster.order, _num_rings(topology)
    share = 1 / (2 * trees)
    messages: list[Message] = []
    for _, _, child, parent in edges(len(nodes)):
        low, high = nodes[child] * size, nodes[parent] * size
        messages.append((low, _receiving_gpu(cluster, high), share))
        messages.append((high, _receiving_gpu(cluster, low), share))
    # Both trees of a rail use the chain of a node, in both directions: four messages a hop.
    hops = [node * size + local_rank for node in nodes for local_rank in range(size - 1)]
    chain = [(here, here + 1, share) for here in hops for _ in range(4)]
    label = "up and down the trees"
    if topology.slow:
        phase = aggregate_rails((*messages, *chain), topology, trees, 1, label)
    else:
        # All hops of a node are alike, so one of them stands for all.
        first = tuple((node * size, node * size + 1, share) for node in nodes if size > 1)
        phase = aggregate_rails(tuple(messages), topology, trees, 1, label)
        inside = aggregate_rails(first, topology, 4 * trees * (size - 1), 1, label)
        capacity = {**phase.capacity, **inside.capacity}
        phase = replace(phase, flows=phase.flows + inside.flows, capacity=capacity)
    up_latency = (size - 1) * topology.step_latency + tree_depth(
        len(nodes)
    ) * topology.network_latency
    steps = 2 * (size - 1 + tree_depth(len(nodes)))
    return (
        replace(
            phase, extra=2 * up_latency - max(flow.latency for flow in phase.flows), hops=steps
        ),
    )


def in_switch_all_reduce(cluster: ClusterLayout) -> tuple[Phase, ...]:
    """Return an in-network all-reduce: sums form in the NVSwitch, then in leaves and spines.

    Chunks stream through both kinds of switches, so the slower one sets the pace.
    """
    topology = cluster.topology
    size = topology.gpus_per_node
    names: tuple[Link, ...] = (("nvlink_out", 0), ("nvlink_in", 0)) if size > 1 else ()
    shares: dict[Link, float] = dict.fromkeys(names, (size + 1) / size)
    capacity: dict[Link, float] = dict.fromkeys(names, topology.nvlink)
    wait, hops = (2 * topology.step_latency, 2) if size > 1 else (0.0, 0)
    if topology.num_nodes > 1:
        shares |= _switch_link_shares(topology)
        capacity |= {link: topology.capacity(link) for link in shares if link not in names}
        wait, hops = wait + 2 * topology.network_latency, hops + 2
        if topology.num_nodes > topology.nodes_per_group:
            wait, hops = wait + 2 * topology.climb_latency, hops + 2
    flows = tuple(
        Flow(size=share, links={link: 1.0}, latency=wait) for link, share in shares.items()
    )
    return (Phase(label="through the switches", flows=flows, capacity=capacity, hops=hops),)


def _switch_link_shares(topology: Topology) -> dict[Link, float]:
    """Return link -> share of the buffer: each port sends its share, each leaf one sum upward."""
    ports = topology.rails_per_node
    slow = [link for link, _ in topology.slow if str(link[0]).startswith("port")]
    names: list[Link] = [("port_out", 0, 0), ("port_in", 0, 0), *slow]
    if topology.num_nodes > topology.nodes_per_group:
        names += [("leaf_up", 0, 0), ("leaf_down", 0, 0)]
    # Without rails all ports of a node meet in one leaf, which sends up the sum of each share.
    at_leaf = 1 / ports if topology.rails else 1.0
    return {link: at_leaf if str(link[0]).startswith("leaf") else 1 / ports for link in names}


def _receiving_gpu(cluster: ClusterLayout, gpu: int) -> int:
    """Return the GPU of the same node at which a message from another node arrives."""
    size = cluster.topology.gpus_per_node
    node, local_rank = divmod(gpu, size)
    return node * size + (local_rank + cluster.rail_shift) % size


def _num_rings(topology: Topology) -> Count:
    """Return the number of parallel rings (or tree pairs): one per port; one in a single node."""
    return topology.rails_per_node if topology.num_nodes > 1 else 1


# Aggregation of rails: the messages of one rail stand for those of every rail.
#
# With full nodes and equal rails, message k of the first rail has a copy on each of the others, and
# all links of a kind in a node (or leaf group) carry the same. That is exact as long as no link is
# slower than its likes; with a slow port every copy of what leaves a node is simulated. Tests
# compare the two.


def aggregate_rails(
    messages: tuple[Message, ...], topology: Topology, copies: Count, times: Count, label: str
) -> Phase:
    """Return a phase in which every message stands for its `copies`, one on each rail."""
    leaves_node = any(
        topology.node(message[0]) != topology.node(message[1]) for message in messages
    )
    if topology.slow and leaves_node:
        return replace(
            message_phase(copy_to_rails(messages, topology, copies), topology, times), label=label
        )
    occurrences: dict[tuple[object, ...], int] = {}
    flows: dict[tuple[object, ...], Flow] = {}
    first: dict[Link, Link] = {}  # of each class
    size, multiplicity = topology.gpus_per_node, _link_multiplicity(topology, copies)
    for source, target, share in messages:
        path = route(topology, source, target)
        links: dict[Link, float] = {}
        for link in path.links:
            kind, number = str(link[0]), int(link[1])
            of_node, alike_in_all = multiplicity[kind]
            name = kind, number // size if of_node else number
            links[name] = copies / alike_in_all
            first.setdefault(name, link)
        key = (share, path.latency, *links)
        occurrences[key] = occurrences.get(key, 0) + 1
        flows[key] = Flow(size=share, links=links, latency=path.latency)
    aggregated = tuple(
        Flow(
            size=flow.size,
            links={link: weight * occurrences[key] for link, weight in flow.links.items()},
            latency=flow.latency,
            count=float(occurrences[key] * copies),
        )
        for key, flow in flows.items()
    )
    full = topology.capacities(first.values())
    capacity = {name: full[link] for name, link in first.items()}
    return Phase(label=label, flows=aggregated, capacity=capacity, times=times)


def copy_to_rails(
    messages: tuple[Message, ...], topology: Topology, copies: Count
) -> tuple[Message, ...]:
    """Return the messages of all rails: both ends moved on by as many GPUs in their nodes."""
    size = topology.gpus_per_node
    turns = range(0, size, size // copies)
    copied: list[Message] = []
    for source, target, share in messages:
        here, there = source % size, target % size
        first, second = source - here, target - there
        copied += [
            (first + (here + turn) % size, second + (there + turn) % size, share) for turn in turns
        ]
    return tuple(copied)


def _link_multiplicity(topology: Topology, copies: Count) -> dict[str, tuple[bool, Count]]:
    """Return kind of link -> whether a node's links are equivalent, and how many there are."""
    size, rails = topology.gpus_per_node, topology.rails_per_node
    kinds = {
        "nvlink": (True, size),
        "pcie": (True, min(copies, size)),
        "port": (False, rails),
        "leaf": (False, rails if topology.rails else 1),
    }
    directions = ("out", "in", "up", "down")
    return {
        f"{kind}_{direction}": entry for kind, entry in kinds.items() for direction in directions
    }
