"""Alike flows taken together: the messages of one rail stand for those of every rail.

With full nodes and equal rails, message k of the first rail has a copy on each of the others, and
all links of a kind in a node (or leaf group) carry the same. That is exact as long as no link is
slower than its likes; with a slow port every copy of what leaves a node is simulated. Tests
compare the two.
"""

from dataclasses import replace

from engine.core.units import Count
from engine.simulate.collectives.collective_time import Message, Phase, phase
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route


def folded(
    messages: tuple[Message, ...], topology: Topology, copies: Count, times: Count, label: str
) -> Phase:
    """Return a phase in which every message stands for `copies` of it, one on each rail."""
    leaves_node = any(topology.node(one[0]) != topology.node(one[1]) for one in messages)
    if topology.slow and leaves_node:
        return replace(phase(copied(messages, topology, copies), topology, times), label=label)
    alike: dict[tuple[object, ...], int] = {}
    flows: dict[tuple[object, ...], Flow] = {}
    first: dict[Link, Link] = {}  # of each class
    size, members = topology.gpus_per_node, _members(topology, copies)
    for source, target, share in messages:
        way = route(topology, source, target)
        links: dict[Link, float] = {}
        for link in way.links:
            kind, place = str(link[0]), int(link[1])
            of_node, alike_in_all = members[kind]
            name = kind, place // size if of_node else place
            links[name] = copies / alike_in_all
            first.setdefault(name, link)
        key = (share, way.latency, *links)
        alike[key] = alike.get(key, 0) + 1
        flows[key] = Flow(size=share, links=links, latency=way.latency)
    together = tuple(
        Flow(
            size=flow.size,
            links={link: weight * alike[key] for link, weight in flow.links.items()},
            latency=flow.latency,
            count=float(alike[key] * copies),
        )
        for key, flow in flows.items()
    )
    full = topology.capacities(first.values())
    capacity = {name: full[link] for name, link in first.items()}
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


def _members(topology: Topology, copies: Count) -> dict[str, tuple[bool, Count]]:
    """Return, by kind of link, whether those of a node are alike, and how many alike there are."""
    size, rails = topology.gpus_per_node, topology.rails_per_node
    kinds = {
        "nvlink": (True, size),
        "pcie": (True, min(copies, size)),
        "port": (False, rails),
        "leaf": (False, rails if topology.rails else 1),
    }
    ways = ("out", "in", "up", "down")
    return {f"{kind}_{way}": known for kind, known in kinds.items() for way in ways}
