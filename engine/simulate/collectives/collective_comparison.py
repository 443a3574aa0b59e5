"""Every algorithm of an operation on one cluster: what it takes, and which links it waits for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum
from typing import Any

from engine.core.slices import Slices, steps_done, whole
from engine.core.units import Bytes, Count, Ratio, Seconds, Share
from engine.simulate.collectives.cluster_all_to_all import direct, two_level
from engine.simulate.collectives.cluster_collectives import (
    Cluster,
    halving_doubling,
    hierarchical,
    in_switch,
    ring,
    tree,
)
from engine.simulate.collectives.cluster_star import star
from engine.simulate.collectives.collective_time import Phase, Timed, drained, fitted, timed
from engine.simulate.collectives.flow_aggregation import lumped
from engine.simulate.network.fair_share import Link
from engine.simulate.network.topology import Topology

Algorithm = Callable[[Cluster], tuple[Phase, ...]]
# What no message's way depends on: a plan is made once for all of them.
_SPEEDS: Mapping[str, Any] = {"nvlink": 1.0, "port": 1.0, "pcie": 1.0, "oversubscription": 1.0}
_MARK = 0.5
KINDS = ("nvlink", "pcie", "port", "leaf")
OPERATIONS: Mapping[str, Mapping[str, Algorithm]] = {
    "all_reduce": {
        "ring": ring,
        "hierarchical": hierarchical,
        "halving_doubling": halving_doubling,
        "tree": tree,
        "in_switch": in_switch,
        "star": star,
    },
    "all_to_all": {"direct": direct, "two_level": two_level},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The rounds of one phase of an algorithm, all alike.

    Attributes:
        label: what happens in them.
        rounds: their number.
        message: the largest, in shares of the buffer.
        time: of all of them.
    """

    label: str
    rounds: Count
    message: Ratio
    time: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One algorithm on the cluster.

    Attributes:
        plan: its phases.
        timed: what they take.
        moving: what the bytes alone would take, without any latency.
    """

    plan: tuple[Phase, ...]
    timed: Timed
    moving: Seconds

    @property
    def rounds(self) -> Count:
        """Hops that follow one another, in all phases."""
        return sum(phase.times * phase.hops for phase in self.plan)

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The kinds of the links that bind it, the first one first."""
        return tuple(map(kind_of, self.timed.binding))

    @property
    def mostly_latency(self) -> bool:
        """Whether more than half of the time is latency."""
        return self.timed.latency > self.timed.time / 2

    @property
    def steps(self) -> tuple[Step, ...]:
        """What each phase takes."""
        return tuple(
            Step(
                label=phase.label,
                rounds=phase.times,
                message=max(flow.size for flow in phase.flows),
                time=one * phase.times,
            )
            for phase, one in zip(self.plan, self.timed.rounds, strict=True)
        )


def play(operation: str, cluster: Cluster, size: Bytes) -> Mapping[str, Played]:
    """Return every algorithm that can run on the cluster, for a buffer of `size`."""
    return whole(playing(operation, cluster, size))


def playing(operation: str, cluster: Cluster, size: Bytes) -> Slices[Mapping[str, Played]]:
    """Play the same, one algorithm after the other."""
    shape = _shape(cluster)
    found = {}
    for place, name in enumerate(OPERATIONS[operation], start=1):
        yield steps_done(place, len(OPERATIONS[operation]), "Algorithm")
        plan = fitted(_plan(operation, name, shape), cluster.topology)
        if plan:
            drains = drained(plan)
            bytes_alone = fsum(
                phase.times * size * max(drain.busy)
                for phase, drain in zip(plan, drains, strict=True)
            )
            found[name] = Played(plan=plan, timed=timed(plan, drains, size), moving=bytes_alone)
    return found


def _shape(cluster: Cluster) -> Cluster:
    """Return the cluster with all that changes no way of a message, only its speed, left out."""
    topology = cluster.topology
    marked = tuple((link, _MARK) for link, _ in topology.slow)
    return replace(cluster, topology=replace(topology, **_SPEEDS, slow=marked))


@lru_cache(maxsize=256)
def _plan(operation: str, name: str, shape: Cluster) -> tuple[Phase, ...]:
    """Return the phases, alike flows taken together; none where the algorithm cannot run."""
    try:
        plan = OPERATIONS[operation][name](shape)
    except ValueError:
        return ()
    return tuple(lumped(phase, [link for link, _ in shape.topology.slow]) for phase in plan)


def full_nodes(asked: Topology) -> Topology:
    """Return the topology of full nodes only, and with a whole number of GPUs to a port."""
    local = min(asked.gpus_per_node, asked.world_size)
    ports = 1 << (min(asked.ports_per_node, local).bit_length() - 1)
    return replace(
        asked,
        world_size=asked.world_size // local * local,
        gpus_per_node=local,
        ports_per_node=ports if local % ports == 0 else 1,
    )


def with_slow_port(topology: Topology, share: Ratio) -> Topology:
    """Return the topology with that share left of port 2 of node 1, or of its last port."""
    if share == 1 or topology.num_nodes == 1:
        return topology
    link: Link = ("port_out", 1, min(2, topology.ports_per_node - 1))
    return replace(topology, slow=((link, share),))


def kind_of(link: Link) -> str:
    """Return "nvlink", "pcie", "port" or "leaf"."""
    return str(link[0]).partition("_")[0]


def busy(one: Played, size: Bytes) -> Mapping[str, Share]:
    """Return for every kind of link what share of the time the busiest of its kind is full."""
    found = dict.fromkeys(KINDS, 0.0)
    spent: dict[Link, Seconds] = {}
    for phase in one.plan:
        for flow in phase.flows:
            for link, weight in flow.links.items():
                need = weight * flow.size * size * phase.times / phase.capacity[link]
                spent[link] = spent.get(link, 0.0) + need
    for link, need in spent.items():
        kind = kind_of(link)
        found[kind] = max(found[kind], need / one.timed.time)
    return {kind: min(share, 1.0) for kind, share in found.items()}
