"""All-to-alls of up to thousands of GPUs: the messages between two leaf groups taken together.

All messages of a phase are on their way at once; every port works through its own, one latency
each, as in the rounds of `engine.collectives`. Both functions need full leaf groups, or one.
"""

from dataclasses import replace

from engine.simulate.cluster_collectives import Cluster
from engine.simulate.collective_time import Phase
from engine.simulate.fair_share import Flow, Link
from engine.simulate.topology import Topology, route
from engine.units import Bandwidth, Count, Ratio

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
    """Return the messages between nodes, one flow for each pair of leaf groups and kind.

    Seen from one node of the group that sends: every link stands for its likes in a group.
    """
    size, groups = topology.gpus_per_node, _groups(topology)
    capacity: Capacity = {}
    flows = []
    same = size // topology.rails_per_node
    # Messages of a GPU to a node that stay on its rail, and those that do not.
    places = [(0, same), (size - 1, size - same)] if every_place else [(0, 1)]
    for here, mine in enumerate(groups):
        for there, other in enumerate(groups):
            pairs = mine * (other - (here == there))
            for place, copies in places:
                if pairs * copies:
                    flows.append(
                        _flow(
                            topology, (here, there), place, pairs * copies * size, share, capacity
                        )
                    )
    return flows, capacity


def _flow(
    topology: Topology,
    ends: tuple[int, int],
    place: int,
    count: Count,
    share: Ratio,
    capacity: Capacity,
) -> Flow:
    """Return `count` alike messages between two groups, spread evenly over alike links."""
    size, nodes = topology.gpus_per_node, topology.nodes_per_group
    first, second = (group * nodes * size for group in ends)
    second += size if ends[0] == ends[1] else 0
    way = route(topology, first, second + place)
    groups = _groups(topology)
    links: dict[Link, float] = {}
    for link in way.links:
        kind = str(link[0])
        # NVLink is used before the message leaves; after that, "in" and "down" are the target's.
        arrives = kind in ("leaf_down", "port_in", "pcie_in")
        group = ends[1] if arrives else ends[0]
        members = {
            "nvlink": groups[group] * size,
            "pcie": groups[group] * size,
            "port": groups[group] * topology.rails_per_node,
            "leaf": topology.rails_per_node if topology.rails else 1,
        }[kind.partition("_")[0]]
        name: Link = (kind, group)
        links[name] = links.get(name, 0.0) + count / members
        capacity[name] = topology.capacity(link)
    return Flow(size=share, links=links, latency=way.latency, count=count)


def _groups(topology: Topology) -> list[Count]:
    """Return the nodes of every leaf group."""
    left, found = topology.num_nodes, []
    while left > 0:
        found.append(min(left, topology.nodes_per_group))
        left -= topology.nodes_per_group
    return found
