"""Times of a collective on the links of a topology, round by round.

A round is a fluid simulation: its messages start together and share links max-min fairly, and the
next round starts when the last of them has arrived. Equal rounds are simulated once.

In a chain of rounds (`Phase.chained`: a ring) a GPU waits only for its own predecessor. A chunk
then spends the mean of all hops per round, not the slowest; and no round is shorter than the
slowest hop needs for its bytes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.simulate.collectives.collective_trace import CollectiveTrace
from engine.simulate.network.fair_share import Flow, FlowTimes, Link, simulate_flows
from engine.simulate.network.topology import Route, Topology, route

# (source, target, share of the buffer)
Message = tuple[int, int, Ratio]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A sequence of equal rounds.

    Attributes:
        label: description of the rounds.
        flows: flows of one round; sizes are shares of the buffer (bytes for one byte).
        capacity: bandwidth of every link in use; of one link where a name stands for several.
        times: number of consecutive rounds.
        extra: latency of a round beside that of its flows.
        chained: whether a GPU waits only for its predecessor in a ring, not for all.
        hops: consecutive hops of a piece in one round.
    """

    label: str
    flows: tuple[Flow, ...]
    capacity: Mapping[Link, Bandwidth]
    times: Count = 1
    extra: Seconds = 0.0
    chained: bool = False
    hops: Count = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTime:
    """Time, latency, link loads and bottleneck of a sequence of phases for one buffer.

    Attributes:
        rounds: time of one round of each phase.
        time: time of all rounds.
        latency: time for an empty buffer.
        loads: bytes that each link carries.
        bottleneck: bottleneck links of the slowest message of the longest phase.
    """

    rounds: tuple[Seconds, ...]
    time: Seconds
    latency: Seconds
    loads: Mapping[Link, Bytes]
    bottleneck: tuple[Link, ...]


def time_phases(
    plan: Sequence[Phase], phase_flow_times: Sequence[FlowTimes], size: Bytes
) -> CollectiveTime:
    """Return the times of `plan` for a buffer of `size`, given `simulate_phases(plan)`."""
    rounds, latencies, slowest = [], [], []
    for phase, flow_times in zip(plan, phase_flow_times, strict=True):
        rounds.append(_round_time(phase, flow_times, size))
        latencies.append(_round_time(phase, flow_times, 0.0))
        last = max(
            range(len(flow_times.busy)),
            key=lambda i: phase.flows[i].latency + size * flow_times.busy[i],
        )
        slowest.append(flow_times.bottlenecks[last])
    phase_times = [time * phase.times for time, phase in zip(rounds, plan, strict=True)]
    longest = max(range(len(phase_times)), key=phase_times.__getitem__, default=None)
    return CollectiveTime(
        rounds=tuple(rounds),
        time=fsum(phase_times),
        latency=fsum(latency * phase.times for latency, phase in zip(latencies, plan, strict=True)),
        loads=_link_loads(plan, size),
        bottleneck=() if longest is None else slowest[longest],
    )


def scale_time(timed: CollectiveTime, ratio: Ratio) -> CollectiveTime:
    """Return a collective that takes `ratio` times as long, over the same links."""
    return replace(
        timed,
        rounds=tuple(ratio * time for time in timed.rounds),
        time=ratio * timed.time,
        latency=ratio * timed.latency,
    )


def _round_time(phase: Phase, flow_times: FlowTimes, size: Bytes) -> Seconds:
    """Return the time of one round of a phase for a buffer of `size`."""
    flows = phase.flows
    ends = [flow.latency + size * busy for flow, busy in zip(flows, flow_times.busy, strict=True)]
    if not phase.chained:
        return max(ends) + phase.extra
    hops = fsum(flow.count for flow in flows)
    mean = fsum(flow.count * end for flow, end in zip(flows, ends, strict=True)) / hops
    return max(mean, size * max(flow_times.busy)) + phase.extra


def with_link_capacities(plan: Sequence[Phase], topology: Topology) -> tuple[Phase, ...]:
    """Return the phases with the link bandwidths of `topology`."""
    return tuple(replace(phase, capacity=topology.capacities(phase.capacity)) for phase in plan)


def simulate_phases(plan: Sequence[Phase]) -> tuple[FlowTimes, ...]:
    """Return the fluid simulation of one round of every phase, for a buffer of one byte."""
    return tuple(simulate_flows(phase.flows, phase.capacity) for phase in plan)


def trace_phases(trace: CollectiveTrace, topology: Topology) -> tuple[Phase, ...]:
    """Return the phases of a recorded run, with equal consecutive rounds merged."""
    rounds: list[tuple[tuple[Message, ...], int]] = []
    for frame in trace.frames[1:]:
        counts: dict[tuple[int, int], int] = {}
        for transfer in frame.transfers:
            counts[transfer.source, transfer.target] = (
                counts.get((transfer.source, transfer.target), 0) + 1
            )
        messages = tuple(
            (source, target, count / trace.buffer_chunks)
            for (source, target), count in sorted(counts.items())
        )
        if rounds and rounds[-1][0] == messages:
            rounds[-1] = (messages, rounds[-1][1] + 1)
        else:
            rounds.append((messages, 1))
    return tuple(message_phase(messages, topology, times) for messages, times in rounds)


def message_phase(
    messages: tuple[Message, ...], topology: Topology, times: Count = 1, label: str = ""
) -> Phase:
    """Return a phase of single messages; repeated messages share one flow."""
    flows = []
    # The same message on several rings is one flow that takes several shares.
    for (source, target, share), occurrences in Counter(messages).items():
        path = _message_route(topology, source, target)
        count = float(occurrences)
        links = dict.fromkeys(path.links, count)
        flows.append(Flow(size=share, links=links, latency=path.latency, count=count))
    capacity = topology.capacities(link for flow in flows for link in flow.links)
    return Phase(label=label, flows=tuple(flows), capacity=capacity, times=times)


def _message_route(topology: Topology, source: int, target: int) -> Route:
    """Return the route of a message; the rank after the last GPU is the switch, half a hop away."""
    switch = topology.world_size
    if switch not in (source, target):
        return route(topology, source, target)
    gpu, direction = (source, "out") if target == switch else (target, "in")
    if topology.num_nodes == 1:
        return Route(links=((f"nvlink_{direction}", gpu),), latency=topology.step_latency / 2)
    port = (f"port_{direction}", topology.node(gpu), topology.port_of(gpu))
    return Route(links=((f"pcie_{direction}", gpu), port), latency=topology.network_latency / 2)


def _link_loads(plan: Sequence[Phase], size: Bytes) -> dict[Link, Bytes]:
    loads: dict[Link, Bytes] = {}
    for phase in plan:
        for flow in phase.flows:
            for link, weight in flow.links.items():
                loads[link] = loads.get(link, 0.0) + weight * flow.size * size * phase.times
    return loads
