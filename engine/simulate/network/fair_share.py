"""Max-min fair sharing of links: rates by progressive filling, times by a fluid simulation.

All flows start together and grow at the same pace; a link that fills up stops those that cross
it, the others grow on (Bertsekas and Gallager 1992, section 6.5). When a flow ends, the rates of
the rest are computed again. Equal flows are one entry, with their joint load on each of their
links.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Seconds

# Links that fill at rates this close fill together: rounding must not tell equal flows apart.
_CLOSE = 1 + 1e-9

# Kind and owner of a link: ("nvlink_out", gpu), ("port_in", node, port).
Link = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A flow of bytes over links, or several equal flows.

    Attributes:
        size: bytes of one flow.
        links: link -> number of equal flows that share it (1 for a single flow).
        latency: time from the start until the first byte arrives.
        count: number of equal flows.
    """

    size: Bytes
    links: Mapping[Link, float]
    latency: Seconds = 0.0
    count: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTimes:
    """Transfer times and bottlenecks of flows that start together; they scale with the sizes.

    Attributes:
        busy: time of each flow until its last byte has left, without latency.
        bottlenecks: full links that limited each flow as it ended.
    """

    busy: tuple[Seconds, ...]
    bottlenecks: tuple[tuple[Link, ...], ...]


def fair_rates(
    flows: Sequence[Flow], capacity: Mapping[Link, Bandwidth]
) -> tuple[tuple[Bandwidth, ...], tuple[tuple[Link, ...], ...]]:
    """Return the max-min fair rate of every flow, and its bottleneck links.

    Raises:
        ValueError: a flow crosses no link, or a link without capacity.
    """
    members: dict[Link, list[int]] = {}
    weight: dict[Link, float] = {}
    for index, flow in enumerate(flows):
        if not flow.links:
            raise ValueError(f"flow {index} crosses no link; it needs one or more")
        for link, times in flow.links.items():
            members.setdefault(link, []).append(index)
            weight[link] = weight.get(link, 0.0) + times
    remaining = {link: capacity[link] for link in members}
    if dead := [link for link, capacity_left in remaining.items() if capacity_left <= 0]:
        raise ValueError(f"link {dead[0]} has capacity {remaining[dead[0]]}; it must be above 0")
    rates: list[Bandwidth] = [-1.0] * len(flows)
    bottlenecks: list[tuple[Link, ...]] = [()] * len(flows)
    while remaining:
        level = min(capacity_left / weight[link] for link, capacity_left in remaining.items())
        full = [
            link
            for link, capacity_left in remaining.items()
            if capacity_left / weight[link] <= level * _CLOSE
        ]
        limited = {index for link in full for index in members[link] if rates[index] < 0}
        filled = set(full)
        for index in limited:
            rates[index] = level
            bottlenecks[index] = tuple(link for link in flows[index].links if link in filled)
            for link, times in flows[index].links.items():
                weight[link] -= times
                remaining[link] -= times * level
        # What is left of a weight after taking all flows from it may be a rounding error.
        remaining = {
            link: max(capacity_left, 0.0)
            for link, capacity_left in remaining.items()
            if link not in filled and weight[link] > 1e-9
        }
    return tuple(rates), tuple(bottlenecks)


def simulate_flows(flows: Sequence[Flow], capacity: Mapping[Link, Bandwidth]) -> FlowTimes:
    """Return the end of each flow if all start together and share the links max-min fairly."""
    bytes_left = [flow.size for flow in flows]
    busy = [0.0] * len(flows)
    bottlenecks: list[tuple[Link, ...]] = [()] * len(flows)
    active = [index for index, size in enumerate(bytes_left) if size > 0]
    time = 0.0
    while active:
        rates, limits = fair_rates([flows[index] for index in active], capacity)
        times_left = [bytes_left[index] / rate for index, rate in zip(active, rates, strict=True)]
        step = min(times_left)
        time += step
        unfinished = []
        for index, rate, need, links in zip(active, rates, times_left, limits, strict=True):
            if need > step * _CLOSE:
                bytes_left[index] -= rate * step
                unfinished.append(index)
            else:
                busy[index], bottlenecks[index] = time, links
        active = unfinished
    return FlowTimes(busy=tuple(busy), bottlenecks=tuple(bottlenecks))
