"""All-to-alls of up to thousands of GPUs: messages between alike leaf groups taken together.

All messages of a phase are on their way at once; every port works through its own, one latency
each, as in the rounds of `engine.collectives`. Both functions need full leaf groups, or one,
and take all ports as equally fast.
"""

from dataclasses import dataclass, replace

from engine.core.units import Bandwidth, Count, Ratio
from engine.simulate.collectives.cluster_collectives import Cluster
from engine.simulate.collectives.collective_time import Phase
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route

Capacity = dict[Link, Bandwidth]


def direct(cluster: Cluster) -> tuple[Phase, ...]:
    """Return an all-to-all of a message from every GPU to every other."""
    topology = cluster.topology
    world, size = topology.world_size, topology.gpus_per_node
    share = 1 / world
    flows, capacity = _between(topology, share, every_place=True)
    if size > 1:
        flows.append(_inside(topology, share, capacity))
    first = max(flow.latency for flow in flows)
    waits = (size - 1) * topology.step_latency + (world - size) * topology.network_latency
    one = Phase(label="all pairs", flows=tuple(flows), capacity=capacity)
    return (replace(one, extra=max(waits - first, 0.0)),)


def two_level(cluster: Cluster) -> tuple[Phase, ...]:
    """Return an all-to-all by way of the GPU of one's own node at the target's place."""
    topology = cluster.topology
    nodes, size = topology.num_nodes, topology.gpus_per_node
    found = []
    if size > 1:
        capacity: Capacity = {}
        flow = _inside(topology, 1 / size, capacity)
        wait = (size - 2) * topology.step_latency
        found.append(Phase(label="inside the nodes", flows=(flow,), capacity=capacity, extra=wait))
    if nodes > 1:
        flows, capacity = _between(topology, 1 / nodes, every_place=False)
        first = max(flow.latency for flow in flows)
        waits = max((nodes - 1) * topology.network_latency - first, 0.0)
        found.append(
            Phase(label="across nodes", flows=tuple(flows), capacity=capacity, extra=waits)
        )
    return tuple(found)


def _inside(topology: Topology, share: Ratio, capacity: Capacity) -> Flow:
    """Return the messages from every GPU to all others of its node, as of one GPU."""
    others = topology.gpus_per_node - 1
    links: dict[Link, float] = {("nvlink_out", 0): others, ("nvlink_in", 0): others}
    capacity |= dict.fromkeys(links, topology.nvlink)
    count = others * topology.world_size
    return Flow(size=share, links=links, latency=topology.step_latency, count=count)


def _between(topology: Topology, share: Ratio, *, every_place: bool) -> tuple[list[Flow], Capacity]:
    """Return the messages between nodes, one flow for each kind of pair of leaf groups and place.

    Seen from one node of the group that sends: every link stands for its likes in a group.
    """
    size = topology.gpus_per_node
    capacity: Capacity = {}
    same = size // topology.rails_per_node
    # Messages of a GPU to a node that stay on its rail, and those that do not.
    places = [(0, same), (size - 1, size - same)] if every_place else [(0, 1)]
    flows = [
        _flow(topology, pair, place, copies, capacity)
        for pair in _pairs(_groups(topology))
        for place, copies in places
        if pair.messages * copies
    ]
    return [replace(flow, size=share) for flow in flows], capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Pairs of leaf groups that are alike: both of as many nodes as the first such pair.

    Attributes:
        sender, receiver: the groups of the first such pair.
        nodes: of the two.
        messages: pairs of nodes in it.
        sending, receiving: how many such pairs one group sends in, and receives in.
        count: of such pairs.
    """

    sender: int
    receiver: int
    nodes: tuple[Count, Count]
    messages: Count
    sending: Count = 1
    receiving: Count = 1
    count: Count = 1


def _pairs(groups: list[Count]) -> list[_Pair]:
    """Return the pairs of groups, each with itself too; only the last group may be smaller."""
    found = []
    kinds = {nodes: groups.count(nodes) for nodes in groups}
    for mine, senders in kinds.items():
        first = groups.index(mine)
        found.append(
            _Pair(
                sender=first,
                receiver=first,
                nodes=(mine, mine),
                messages=mine * (mine - 1),
                count=senders,
            )
        )
        for other, receivers in kinds.items():
            alike = mine == other
            found.append(
                _Pair(
                    sender=first,
                    receiver=groups.index(other) + alike,
                    nodes=(mine, other),
                    messages=mine * other if senders * receivers > alike else 0,
                    sending=receivers - alike,
                    receiving=senders - alike,
                    count=senders * (receivers - alike),
                )
            )
    return found


def _flow(topology: Topology, pair: _Pair, place: int, copies: Count, capacity: Capacity) -> Flow:
    """Return the alike messages of alike pairs of groups, spread evenly over alike links."""
    size, nodes = topology.gpus_per_node, topology.nodes_per_group
    first, second = (group * nodes * size for group in (pair.sender, pair.receiver))
    second += size if pair.sender == pair.receiver else 0
    way = route(topology, first, second + place)
    count = pair.messages * copies * size
    alike = pair.nodes[0] == pair.nodes[1]
    links: dict[Link, float] = {}
    for link in way.links:
        kind = str(link[0])
        # NVLink is used before the message leaves; after that, "in" and "down" are the target's.
        arrives = kind in ("leaf_down", "port_in", "pcie_in")
        group = pair.receiver if arrives and not alike else pair.sender
        own, times = (pair.nodes[1], pair.receiving) if arrives else (pair.nodes[0], pair.sending)
        members = {
            "nvlink": own * size,
            "pcie": own * size,
            "port": own * topology.rails_per_node,
            "leaf": topology.rails_per_node if topology.rails else 1,
        }[kind.partition("_")[0]]
        name: Link = (kind, group)
        links[name] = links.get(name, 0.0) + times * count / members
        capacity[name] = topology.capacity(name)
    return Flow(size=0.0, links=links, latency=way.latency, count=pair.count * count)


def _groups(topology: Topology) -> list[Count]:
    """Return the nodes of every leaf group."""
    left, found = topology.num_nodes, []
    while left > 0:
        found.append(min(left, topology.nodes_per_group))
        left -= topology.nodes_per_group
    return found
