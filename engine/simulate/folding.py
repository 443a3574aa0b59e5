"""Alike flows taken together: the messages of one rail stand for those of every rail.

With full nodes and equal rails, message k of the first rail has a copy on each of the others, and
all links of a kind in a node (or leaf group) carry the same. That is exact as long as no link is
slower than its likes; with a slow port every copy of what leaves a node is simulated. Tests
compare the two.
"""

from dataclasses import replace

from engine.basis.units import Bandwidth, Count
from engine.simulate.collective_time import Message, Phase, phase
from engine.simulate.fair_share import Flow, Link
from engine.simulate.topology import Topology, route


def folded(
    messages: tuple[Message, ...], topology: Topology, copies: Count, times: Count, label: str
) -> Phase:
    """Return a phase in which every message stands for `copies` of it, one on each rail."""
    leaves_node = any(topology.node(one[0]) != topology.node(one[1]) for one in messages)
    if topology.slow and leaves_node:
        return replace(phase(copied(messages, topology, copies), topology, times), label=label)
    alike: dict[tuple[object, ...], int] = {}
    flows: dict[tuple[object, ...], Flow] = {}
    capacity: dict[Link, Bandwidth] = {}
    for source, target, share in messages:
        way = route(topology, source, target)
        links: dict[Link, float] = {}
        for link in way.links:
            name, members = _class(topology, link, copies)
            links[name] = copies / members
            if name not in capacity:
                capacity[name] = topology.capacity(link)
        key = (share, way.latency, *links)
        alike[key] = alike.get(key, 0) + 1
        flows[key] = Flow(size=share, links=links, latency=way.latency)
    together = tuple(
        replace(
            flow,
            links={link: weight * alike[key] for link, weight in flow.links.items()},
            count=float(alike[key] * copies),
        )
        for key, flow in flows.items()
    )
    return Phase(label=label, flows=together, capacity=capacity, times=times)


def copied(messages: tuple[Message, ...], topology: Topology, copies: Count) -> tuple[Message, ...]:
    """Return all copies: both ends moved on by as many places in their nodes."""
    size = topology.gpus_per_node
    turns = range(0, size, size // copies)
    found: list[Message] = []
    for source, target, share in messages:
        here, there = source % size, target % size
        first, second = source - here, target - there
        found += [
            (first + (here + turn) % size, second + (there + turn) % size, share) for turn in turns
        ]
    return tuple(found)


def _class(topology: Topology, link: Link, copies: Count) -> tuple[Link, Count]:
    """Return the name of all links that are alike (those of a node, of a group), and how many."""
    kind, place = str(link[0]), int(link[1])
    if kind.startswith("nvlink"):
        return (kind, topology.node(place)), topology.gpus_per_node
    if kind.startswith("pcie"):
        return (kind, topology.node(place)), min(copies, topology.gpus_per_node)
    if kind.startswith("port"):
        return (kind, place), topology.rails_per_node
    return (kind, place), topology.rails_per_node if topology.rails else 1
