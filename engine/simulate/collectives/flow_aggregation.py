"""Flows that no simulation can tell apart, taken together: exact, and found without geometry.

Two flows are alike if they have the same size, latency and weights and cross links that are alike;
two links are alike if they are of one kind, equally marked, and alike flows cross them in equal
numbers. The coarsest such classes come from splitting until nothing splits any more (color
refinement). In max-min fair sharing alike flows have equal rates at all times, whatever the
capacity of each class, so one link and one flow of a class stand for all of it.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace

from engine.simulate.collectives.collective_time import Phase
from engine.simulate.network.fair_share import Link


def lumped(phase: Phase, marked: Collection[Link] = ()) -> Phase:
    """Return the phase with one flow per class; its links are the first of their classes.

    Args:
        phase: whose capacities differ between kinds of link only, but for the marked ones.
        marked: links that may be slower than their likes.
    """
    names = list(phase.capacity)
    place = {link: index for index, link in enumerate(names)}
    ways = [tuple(place[link] for link in flow.links) for flow in phase.flows]
    flows = _numbered([(one.size, one.latency, *one.links.values()) for one in phase.flows])
    links = _numbered([(link[0], link if link in marked else ()) for link in names])
    while True:
        seen: list[list[int]] = [[] for _ in names]
        flows = _numbered(
            [(own, *(links[one] for one in way)) for own, way in zip(flows, ways, strict=True)]
        )
        for color, way in zip(flows, ways, strict=True):
            for link in way:
                seen[link].append(color)
        split = _numbered([(own, *sorted(at)) for own, at in zip(links, seen, strict=True)])
        if max(split, default=0) == max(links, default=0):
            return _quotient(phase, flows, dict(zip(names, links, strict=True)))
        links = split


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """Return for every key the number of its class, in the order in which they come."""
    found: dict[Hashable, int] = {}
    return [found.setdefault(key, len(found)) for key in keys]


def _firsts(colors: Sequence[int]) -> list[int]:
    """Return the place of the first of every class."""
    first: dict[int, int] = {}
    for index, color in enumerate(colors):
        first.setdefault(color, index)
    return list(first.values())


def _quotient(phase: Phase, flows: Sequence[int], links: Mapping[Link, int]) -> Phase:
    """Return the phase of the classes: a flow puts on a link what all of its class put there."""
    names = list(links)
    kept = [names[index] for index in _firsts(list(links.values()))]
    capacity = {link: phase.capacity[link] for link in kept}
    firsts = [phase.flows[index] for index in _firsts(flows)]
    weights = [dict.fromkeys((kept[links[link]] for link in one.links), 0.0) for one in firsts]
    counts = [0.0] * len(firsts)
    for flow, color in zip(phase.flows, flows, strict=True):
        counts[color] += flow.count
        for link, weight in flow.links.items():
            if link in capacity:
                weights[color][link] += weight
    together = [
        replace(one, links=on, count=count)
        for one, on, count in zip(firsts, weights, counts, strict=True)
    ]
    return replace(phase, flows=tuple(together), capacity=capacity)
