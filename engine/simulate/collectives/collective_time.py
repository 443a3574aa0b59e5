"""Times of a collective on the wires of a topology, round by round.

A round is a fluid simulation: its messages start together and share links max-min fairly, and the
next round starts when the last of them has arrived. Alike rounds are simulated once.

In a chain of rounds (`Phase.chained`: a ring) a GPU waits only for its own predecessor. A chunk
then spends the mean of all hops per round, not the slowest; and no round is shorter than the
slowest hop needs for its bytes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.simulate.collectives.collective_trace import Trace
from engine.simulate.network.fair_share import Drain, Flow, Link, drain
from engine.simulate.network.topology import Route, Topology, route

# (source, target, share of the buffer)
Message = tuple[int, int, Ratio]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Rounds that are all alike.

    Attributes:
        label: what happens in them.
        flows: of one round; sizes are shares of the buffer (bytes for a buffer of one byte).
        capacity: of every link in use; of one link where a name stands for several alike.
        times: how many such rounds follow one another.
        extra: latency of a round beside that of its flows.
        chained: whether a GPU waits for its predecessor in a ring only, not for all.
        hops: that a piece takes in a row in one round.
    """

    label: str
    flows: tuple[Flow, ...]
    capacity: Mapping[Link, Bandwidth]
    times: Count = 1
    extra: Seconds = 0.0
    chained: bool = False
    hops: Count = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What a plan of phases takes for one buffer.

    Attributes:
        rounds: time of one round of each phase.
        time: of all rounds.
        latency: what of it an empty buffer would take.
        loads: bytes that each link carries.
        binding: the links that held up the slowest message of the longest phase.
    """

    rounds: tuple[Seconds, ...]
    time: Seconds
    latency: Seconds
    loads: Mapping[Link, Bytes]
    binding: tuple[Link, ...]


def timed(plan: Sequence[Phase], drains: Sequence[Drain], size: Bytes) -> Timed:
    """Return the times of `plan` for a buffer of `size`; `drains` are `drained(plan)`."""
    rounds, latencies, slowest = [], [], []
    for phase, one in zip(plan, drains, strict=True):
        rounds.append(_round(phase, one, size))
        latencies.append(_round(phase, one, 0.0))
        last = max(range(len(one.busy)), key=lambda i: phase.flows[i].latency + size * one.busy[i])
        slowest.append(one.held[last])
    spent = [time * phase.times for time, phase in zip(rounds, plan, strict=True)]
    longest = max(range(len(spent)), key=spent.__getitem__, default=None)
    return Timed(
        rounds=tuple(rounds),
        time=fsum(spent),
        latency=fsum(one * phase.times for one, phase in zip(latencies, plan, strict=True)),
        loads=_loads(plan, size),
        binding=() if longest is None else slowest[longest],
    )


def _round(phase: Phase, drain: Drain, size: Bytes) -> Seconds:
    """Return the time of one round of a phase for a buffer of `size`."""
    flows = phase.flows
    ends = [flow.latency + size * busy for flow, busy in zip(flows, drain.busy, strict=True)]
    if not phase.chained:
        return max(ends) + phase.extra
    hops = fsum(flow.count for flow in flows)
    mean = fsum(flow.count * end for flow, end in zip(flows, ends, strict=True)) / hops
    return max(mean, size * max(drain.busy)) + phase.extra


def fitted(plan: Sequence[Phase], topology: Topology) -> tuple[Phase, ...]:
    """Return the phases with the capacities of `topology`, whose links they use."""
    return tuple(replace(one, capacity=topology.capacities(one.capacity)) for one in plan)


def drained(plan: Sequence[Phase]) -> tuple[Drain, ...]:
    """Return the fluid simulation of one round of every phase, for a buffer of one byte."""
    return tuple(drain(phase.flows, phase.capacity) for phase in plan)


def phases(trace: Trace, topology: Topology) -> tuple[Phase, ...]:
    """Return a run as phases: its rounds in order, alike neighbors taken together."""
    found: list[tuple[tuple[Message, ...], int]] = []
    for frame in trace.frames[1:]:
        counts: dict[tuple[int, int], int] = {}
        for one in frame.transfers:
            counts[one.source, one.target] = counts.get((one.source, one.target), 0) + 1
        messages = tuple(
            (source, target, count / trace.buffer_chunks)
            for (source, target), count in sorted(counts.items())
        )
        if found and found[-1][0] == messages:
            found[-1] = (messages, found[-1][1] + 1)
        else:
            found.append((messages, 1))
    return tuple(phase(messages, topology, times) for messages, times in found)


def phase(
    messages: tuple[Message, ...], topology: Topology, times: Count = 1, label: str = ""
) -> Phase:
    """Return a phase of single messages, each a flow of its own if it is there once."""
    flows = []
    # The same message on several rings is one flow that takes several shares.
    for (source, target, share), times_over in Counter(messages).items():
        way = _way(topology, source, target)
        count = float(times_over)
        links = dict.fromkeys(way.links, count)
        flows.append(Flow(size=share, links=links, latency=way.latency, count=count))
    capacity = topology.capacities(link for flow in flows for link in flow.links)
    return Phase(label=label, flows=tuple(flows), capacity=capacity, times=times)


def _way(topology: Topology, source: int, target: int) -> Route:
    """Return the way of a message; a node behind the GPUs is the switch, half a hop away."""
    switch = topology.world_size
    if switch not in (source, target):
        return route(topology, source, target)
    gpu, way = (source, "out") if target == switch else (target, "in")
    if topology.num_nodes == 1:
        return Route(links=((f"nvlink_{way}", gpu),), latency=topology.step_latency / 2)
    port = (f"port_{way}", topology.node(gpu), topology.port_of(gpu))
    return Route(links=((f"pcie_{way}", gpu), port), latency=topology.network_latency / 2)


def _loads(plan: Sequence[Phase], size: Bytes) -> dict[Link, Bytes]:
    found: dict[Link, Bytes] = {}
    for one in plan:
        for flow in one.flows:
            for link, weight in flow.links.items():
                found[link] = found.get(link, 0.0) + weight * flow.size * size * one.times
    return found
