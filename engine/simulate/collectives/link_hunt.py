"""Hunting a slow port by tests on groups of nodes: the tests, and the search by halves.

One GPU per node takes part, the one beside the same port of every node, so that NVLink stays out
of it and the bus bandwidth is that of the ports. Groups of a round run at the same time, each as a
ring in the order of its nodes; messages that meet in a leaf's uplink share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.transports import INFINIBAND
from engine.core.units import GB, Bandwidth, Bytes, Count, GiB, Ratio, Seconds, Share
from engine.formulas.bandwidth import bus_bandwidth
from engine.simulate.collectives.collective_time import Message, phase
from engine.simulate.network.fair_share import Link, drain
from engine.simulate.network.topology import Topology

PORT: Bandwidth = 50 * GB
SIZE: Bytes = 4 * GiB
# From this share of what a healthy group reaches on, a group counts as healthy. Chosen.
HEALTHY: Share = 0.9
Group = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Nodes with one port each on leaf switches, and what is wrong with them.

    Attributes:
        nodes: in all.
        per_leaf: nodes under one leaf switch.
        ports: node -> share of its port's speed that is left, both ways.
        uplinks: leaf -> share of its links to the spines that is left, both ways.
    """

    nodes: Count
    per_leaf: Count = 8
    ports: tuple[tuple[int, Ratio], ...] = ()
    uplinks: tuple[tuple[int, Ratio], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """One group that was tested.

    Attributes:
        group: its nodes, in the order of the ring.
        reached: bus bandwidth.
        expected: of the same group if nothing were wrong.
    """

    group: Group
    reached: Bandwidth
    expected: Bandwidth

    @property
    def slow(self) -> bool:
        """Whether something in the group, or on its way, is slow."""
        return self.reached < HEALTHY * self.expected


Round = tuple[Tested, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunt:
    """What a search did.

    Attributes:
        rounds: of tests; the first tests all nodes together.
        culprits: nodes that slow down whatever group they are in.
        between: groups that are slow although both of their halves are not.
    """

    rounds: tuple[Round, ...]
    culprits: Group
    between: tuple[Group, ...]

    @property
    def halvings(self) -> Count:
        """Rounds after the first, which only shows that something is slow."""
        return len(self.rounds) - 1


def run_tests(cluster: Cluster, groups: Sequence[Group]) -> Round:
    """Return what groups of two nodes or more reach if they are tested at the same time.

    Raises:
        ValueError: a group has fewer than two nodes, a node that does not exist, or one that is in
            two groups.
    """
    every = [node for group in groups for node in group]
    if any(len(group) < 2 for group in groups):
        raise ValueError("a group has fewer than two nodes; an all-reduce needs a partner")
    if len(set(every)) < len(every) or not all(0 <= node < cluster.nodes for node in every):
        raise ValueError(f"each of the nodes 0 to {cluster.nodes - 1} can be in one group only")
    healthy = Cluster(nodes=cluster.nodes, per_leaf=cluster.per_leaf)
    reached, expected = (_reached(one, tuple(groups)) for one in (cluster, healthy))
    return tuple(
        Tested(group=group, reached=now, expected=then)
        for group, now, then in zip(groups, reached, expected, strict=True)
    )


@lru_cache(maxsize=512)
def _reached(cluster: Cluster, groups: tuple[Group, ...]) -> tuple[Bandwidth, ...]:
    """Return the bus bandwidth of every group."""
    hops = [[(a, b, 1 / len(g)) for a, b in zip(g, (*g[1:], g[0]), strict=True)] for g in groups]
    messages: tuple[Message, ...] = tuple(hop for group in hops for hop in group)
    one = phase(messages, _wires(cluster))
    busy = drain(one.flows, one.capacity).busy
    # Flows stand in the order of the messages: no pair of nodes sends the same one twice.
    ends = iter(flow.latency + SIZE * time for flow, time in zip(one.flows, busy, strict=True))
    times: list[Seconds] = [
        2 * (len(group) - 1) * max(next(ends) for _ in group) for group in groups
    ]
    return tuple(
        bus_bandwidth(SIZE, time, "all_reduce", len(group))
        for group, time in zip(groups, times, strict=True)
    )


def _wires(cluster: Cluster) -> Topology:
    slow: dict[Link, Ratio] = {}
    for node, share in cluster.ports:
        slow |= {("port_out", node, 0): share, ("port_in", node, 0): share}
    for leaf, share in cluster.uplinks:
        slow |= {("leaf_up", leaf, 0): share, ("leaf_down", leaf, 0): share}
    return Topology(
        world_size=cluster.nodes,
        gpus_per_node=1,
        ports_per_node=1,
        port=PORT,
        nodes_per_group=cluster.per_leaf,
        network_latency=INFINIBAND.step,
        slow=tuple(slow.items()),
    )


def halve(cluster: Cluster) -> Hunt:
    """Return the search that cuts every slow group in two until single nodes are left."""
    everyone = tuple(range(cluster.nodes))
    rounds = [run_tests(cluster, (everyone,))]
    suspects = [one.group for one in rounds[0] if one.slow]
    clean = set() if suspects else set(everyone)
    culprits: list[int] = []
    between: list[Group] = []
    while suspects:
        halves = {group: cut(group) for group in suspects}
        tested = _partnered([half for pair in halves.values() for half in pair], sorted(clean))
        found = run_tests(cluster, tuple(tested.values()))
        rounds.append(found)
        slow = {half for half, test in zip(tested, found, strict=True) if test.slow}
        clean |= {node for half in set(tested) - slow for node in half}
        between += [group for group, pair in halves.items() if not slow & set(pair)]
        culprits += [half[0] for half in slow if len(half) == 1]
        suspects = sorted(half for half in slow if len(half) > 1)
    return Hunt(rounds=tuple(rounds), culprits=tuple(sorted(culprits)), between=tuple(between))


def cut(group: Group) -> tuple[Group, Group]:
    """Return the two halves of a group; of an odd number, the first has one more."""
    middle = (len(group) + 1) // 2
    return group[:middle], group[middle:]


def _partnered(halves: Sequence[Group], clean: Sequence[int]) -> Mapping[Group, Group]:
    """Return what is tested for each half: a single node gets a partner that is known to be clean.

    Raises:
        LookupError: there are fewer such nodes than single ones.
    """
    single = [half for half in halves if len(half) == 1]
    if len(single) > len(clean):
        raise LookupError(
            f"{len(single)} single nodes need partners, and {len(clean)} are known to be clean"
        )
    partners = dict(zip(single, clean, strict=False))
    return {half: (*half, partners[half]) if half in partners else half for half in halves}


def cleared(rounds: Sequence[Round]) -> frozenset[int]:
    """Return the nodes that were in a healthy group."""
    return frozenset(node for one in rounds for test in one if not test.slow for node in test.group)


def suspects(nodes: Count, rounds: Sequence[Round]) -> tuple[int, ...]:
    """Return the nodes that may be slow: in a slow group, and in no healthy one.

    Before any test, these are all.
    """
    if not rounds:
        return tuple(range(nodes))
    seen = {node for one in rounds for test in one if test.slow for node in test.group}
    return tuple(sorted(seen - cleared(rounds)))


def next_groups(nodes: Count, rounds: Sequence[Round]) -> tuple[Group, ...]:
    """Return the halves of every slow group of the last round that holds suspects.

    Empty where there is nothing left to cut, or too few clean partners for single nodes.
    """
    left = set(suspects(nodes, rounds))
    last = rounds[-1] if rounds else ()
    slow = [tuple(node for node in test.group if node in left) for test in last if test.slow]
    halves = [half for group in slow if len(group) > 1 for half in cut(group)]
    try:
        return tuple(_partnered(halves, sorted(cleared(rounds))).values())
    except LookupError:
        return ()
