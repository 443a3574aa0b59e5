"""Aggregation of rails: the messages of one rail stand for those of every rail.

With full nodes and equal rails, message k of the first rail has a copy on each of the others, and
all links of a kind in a node (or leaf group) carry the same. That is exact as long as no link is
slower than its likes; with a slow port every copy of what leaves a node is simulated. Tests
compare the two.
"""

from dataclasses import replace

from engine.core.units import Count
from engine.simulate.collectives.collective_time import Message, Phase, message_phase
from engine.simulate.network.fair_share import Flow, Link
from engine.simulate.network.topology import Topology, route


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
            kind, place = str(link[0]), int(link[1])
            of_node, alike_in_all = multiplicity[kind]
            name = kind, place // size if of_node else place
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
