"""All-to-alls of up to thousands of GPUs, with equal messages of equal leaf groups aggregated.

All messages of a phase are on their way at once; every port works through its own, one latency
each, as in the rounds of `engine.collectives`. Both functions need full leaf groups, or one,
and take all ports as equally fast.
"""

from dataclasses import dataclass, replace

from engine.core.units import Bandwidth, Count, Ratio
from engine.simulate.collectives.cluster_collectives import ClusterLayout
from engine.simulate.collectives.collective_time import Phase
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route

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
    places = [(0, same), (size - 1, size - same)] if every_place else [(0, 1)]
    flows = [
        _group_pair_flow(topology, pair, place, copies, capacity)
        for pair in _group_pairs(_group_sizes(topology))
        for place, copies in places
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
    topology: Topology, pair: _GroupPair, place: int, copies: Count, capacity: Capacity
) -> Flow:
    """Return one flow for the messages of equal group pairs, spread evenly over equal links."""
    size, nodes = topology.gpus_per_node, topology.nodes_per_group
    first, second = (group * nodes * size for group in (pair.sender, pair.receiver))
    second += size if pair.sender == pair.receiver else 0
    path = route(topology, first, second + place)
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
