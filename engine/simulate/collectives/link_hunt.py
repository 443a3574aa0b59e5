"""Search for a slow port by all-reduce tests on groups of nodes, halving slow groups.

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
from engine.simulate.collectives.collective_time import Message, message_phase
from engine.simulate.network.fair_share import Link, simulate_flows
from engine.simulate.network.topology import Topology

PORT_BANDWIDTH: Bandwidth = 50 * GB
BUFFER_SIZE: Bytes = 4 * GiB
# Share of a healthy group's bandwidth from which a group counts as healthy. Chosen.
HEALTHY_SHARE: Share = 0.9
Group = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyCluster:
    """Nodes with one port each on leaf switches, and their slow ports and uplinks.

    Attributes:
        nodes: number of nodes.
        per_leaf: nodes under one leaf switch.
        ports: node -> share of its port's speed that is left, both ways.
        uplinks: leaf -> share of its links to the spines that is left, both ways.
    """

    nodes: Count
    per_leaf: Count = 8
    ports: tuple[tuple[int, Ratio], ...] = ()
    uplinks: tuple[tuple[int, Ratio], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTest:
    """Measured and expected bandwidth of one tested group.

    Attributes:
        group: nodes of the group, in the order of the ring.
        reached: measured bus bandwidth.
        expected: bus bandwidth of the same group without any fault.
    """

    group: Group
    reached: Bandwidth
    expected: Bandwidth

    @property
    def slow(self) -> bool:
        """Whether the group is slower than a healthy one."""
        return self.reached < HEALTHY_SHARE * self.expected


TestRound = tuple[GroupTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowPortSearch:
    """Rounds and result of a search.

    Attributes:
        rounds: rounds of tests; the first tests all nodes together.
        slow_nodes: nodes that slow down every group they are in.
        between: groups that are slow although both of their halves are not.
    """

    rounds: tuple[TestRound, ...]
    slow_nodes: Group
    between: tuple[Group, ...]

    @property
    def halvings(self) -> Count:
        """Number of rounds after the first, which only detects that something is slow."""
        return len(self.rounds) - 1


def run_tests(cluster: FaultyCluster, groups: Sequence[Group]) -> TestRound:
    """Return the bandwidths of groups of two or more nodes that are tested at the same time.

    Raises:
        ValueError: a group has fewer than two nodes, a node that does not exist, or one that is in
            two groups.
    """
    all_nodes = [node for group in groups for node in group]
    if any(len(group) < 2 for group in groups):
        raise ValueError("a group has fewer than two nodes; an all-reduce needs a partner")
    if len(set(all_nodes)) < len(all_nodes) or not all(
        0 <= node < cluster.nodes for node in all_nodes
    ):
        raise ValueError(f"each of the nodes 0 to {cluster.nodes - 1} can be in one group only")
    healthy = FaultyCluster(nodes=cluster.nodes, per_leaf=cluster.per_leaf)
    reached, expected = (_bus_bandwidths(variant, tuple(groups)) for variant in (cluster, healthy))
    return tuple(
        GroupTest(group=group, reached=now, expected=then)
        for group, now, then in zip(groups, reached, expected, strict=True)
    )


@lru_cache(maxsize=512)
def _bus_bandwidths(cluster: FaultyCluster, groups: tuple[Group, ...]) -> tuple[Bandwidth, ...]:
    """Return the bus bandwidth of every group."""
    hops = [[(a, b, 1 / len(g)) for a, b in zip(g, (*g[1:], g[0]), strict=True)] for g in groups]
    messages: tuple[Message, ...] = tuple(hop for group in hops for hop in group)
    phase = message_phase(messages, _faulty_topology(cluster))
    busy = simulate_flows(phase.flows, phase.capacity).busy
    # Flows stand in the order of the messages: no pair of nodes sends the same one twice.
    ends = iter(
        flow.latency + BUFFER_SIZE * time for flow, time in zip(phase.flows, busy, strict=True)
    )
    times: list[Seconds] = [
        2 * (len(group) - 1) * max(next(ends) for _ in group) for group in groups
    ]
    return tuple(
        bus_bandwidth(BUFFER_SIZE, time, "all_reduce", len(group))
        for group, time in zip(groups, times, strict=True)
    )


def _faulty_topology(cluster: FaultyCluster) -> Topology:
    slow: dict[Link, Ratio] = {}
    for node, share in cluster.ports:
        slow |= {("port_out", node, 0): share, ("port_in", node, 0): share}
    for leaf, share in cluster.uplinks:
        slow |= {("leaf_up", leaf, 0): share, ("leaf_down", leaf, 0): share}
    return Topology(
        world_size=cluster.nodes,
        gpus_per_node=1,
        ports_per_node=1,
        port=PORT_BANDWIDTH,
        nodes_per_group=cluster.per_leaf,
        network_latency=INFINIBAND.step,
        slow=tuple(slow.items()),
    )


def search_by_halves(cluster: FaultyCluster) -> SlowPortSearch:
    """Return the search that halves every slow group until single nodes are left."""
    all_nodes = tuple(range(cluster.nodes))
    rounds = [run_tests(cluster, (all_nodes,))]
    suspects = [test.group for test in rounds[0] if test.slow]
    clean = set() if suspects else set(all_nodes)
    culprits: list[int] = []
    between: list[Group] = []
    while suspects:
        halves = {group: split_group(group) for group in suspects}
        tested = _add_partners([half for pair in halves.values() for half in pair], sorted(clean))
        tests = run_tests(cluster, tuple(tested.values()))
        rounds.append(tests)
        slow = {half for half, test in zip(tested, tests, strict=True) if test.slow}
        clean |= {node for half in set(tested) - slow for node in half}
        between += [group for group, pair in halves.items() if not slow & set(pair)]
        culprits += [half[0] for half in slow if len(half) == 1]
        suspects = sorted(half for half in slow if len(half) > 1)
    return SlowPortSearch(
        rounds=tuple(rounds), slow_nodes=tuple(sorted(culprits)), between=tuple(between)
    )


def split_group(group: Group) -> tuple[Group, Group]:
    """Return the two halves of a group; the first has one node more if the number is odd."""
    middle = (len(group) + 1) // 2
    return group[:middle], group[middle:]


def _add_partners(halves: Sequence[Group], clean: Sequence[int]) -> Mapping[Group, Group]:
    """Return half -> tested group: a single node gets a partner that is known to be healthy.

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


def cleared_nodes(rounds: Sequence[TestRound]) -> frozenset[int]:
    """Return the nodes that were in a healthy group."""
    return frozenset(
        node for tests in rounds for test in tests if not test.slow for node in test.group
    )


def suspect_nodes(nodes: Count, rounds: Sequence[TestRound]) -> tuple[int, ...]:
    """Return the nodes that may be slow: they were in a slow group and in no healthy one.

    Before any test, these are all.
    """
    if not rounds:
        return tuple(range(nodes))
    slow_nodes = {node for tests in rounds for test in tests if test.slow for node in test.group}
    return tuple(sorted(slow_nodes - cleared_nodes(rounds)))


def next_groups(nodes: Count, rounds: Sequence[TestRound]) -> tuple[Group, ...]:
    """Return the halves of every slow group of the last round that holds suspects.

    Empty where there is nothing left to cut, or too few clean partners for single nodes.
    """
    remaining = set(suspect_nodes(nodes, rounds))
    last = rounds[-1] if rounds else ()
    slow = [tuple(node for node in test.group if node in remaining) for test in last if test.slow]
    halves = [half for group in slow if len(group) > 1 for half in split_group(group)]
    try:
        return tuple(_add_partners(halves, sorted(cleared_nodes(rounds))).values())
    except LookupError:
        return ()
