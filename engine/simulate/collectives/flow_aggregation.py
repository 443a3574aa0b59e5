"""Exact aggregation of flows that a fair-share simulation cannot tell apart.

Two flows are equivalent if they have the same size, latency and weights and cross equivalent
links; two links are equivalent if they are of one kind, equally marked, and crossed by equal
numbers of equivalent flows. The coarsest such classes come from splitting until nothing splits any
more (color refinement). In max-min fair sharing equivalent flows have equal rates at all times,
whatever the bandwidth of each class, so one link and one flow of a class stand for the class.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace

from engine.simulate.collectives.collective_time import Phase
from engine.simulate.network.fair_share import Link


def aggregate_flows(phase: Phase, marked: Collection[Link] = ()) -> Phase:
    """Return the phase with one flow per equivalence class; links are the first of their classes.

    Args:
        phase: phase whose link bandwidths differ only by kind, except for the marked links.
        marked: links that may be slower than others of their kind.
    """
    names = list(phase.capacity)
    index_of = {link: index for index, link in enumerate(names)}
    paths = [tuple(index_of[link] for link in flow.links) for flow in phase.flows]
    flows = _class_numbers(
        [(flow.size, flow.latency, *flow.links.values()) for flow in phase.flows]
    )
    links = _class_numbers([(link[0], link if link in marked else ()) for link in names])
    while True:
        seen: list[list[int]] = [[] for _ in names]
        flows = _class_numbers(
            [
                (color, *(links[link] for link in path))
                for color, path in zip(flows, paths, strict=True)
            ]
        )
        for color, path in zip(flows, paths, strict=True):
            for link in path:
                seen[link].append(color)
        split = _class_numbers(
            [(color, *sorted(at)) for color, at in zip(links, seen, strict=True)]
        )
        if max(split, default=0) == max(links, default=0):
            return _class_phase(phase, flows, dict(zip(names, links, strict=True)))
        links = split


def _class_numbers(keys: Sequence[Hashable]) -> list[int]:
    """Return the class number of every key, numbered in order of first occurrence."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _class_representatives(colors: Sequence[int]) -> list[int]:
    """Return the index of the first member of every class."""
    first: dict[int, int] = {}
    for index, color in enumerate(colors):
        first.setdefault(color, index)
    return list(first.values())


def _class_phase(phase: Phase, flows: Sequence[int], links: Mapping[Link, int]) -> Phase:
    """Return the phase of the classes; a class's flow carries the link load of all its members."""
    names = list(links)
    kept = [names[index] for index in _class_representatives(list(links.values()))]
    capacity = {link: phase.capacity[link] for link in kept}
    representatives = [phase.flows[index] for index in _class_representatives(flows)]
    weights = [
        dict.fromkeys((kept[links[link]] for link in flow.links), 0.0) for flow in representatives
    ]
    counts = [0.0] * len(representatives)
    for flow, color in zip(phase.flows, flows, strict=True):
        counts[color] += flow.count
        for link, weight in flow.links.items():
            if link in capacity:
                weights[color][link] += weight
    aggregated = [
        replace(flow, links=on, count=count)
        for flow, on, count in zip(representatives, weights, counts, strict=True)
    ]
    return replace(phase, flows=tuple(aggregated), capacity=capacity)
