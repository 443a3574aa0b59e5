"""Max-min fair sharing of links: rates by progressive filling, times by a fluid simulation.

All flows start together and grow at the same pace; a link that fills up stops those that cross
it, the others grow on (Bertsekas and Gallager 1992, section 6.5). When a flow ends, the rates of
the rest are found anew. Flows that are alike in every way are one entry, with what they put on
each of their links.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Seconds

# Links that fill at rates this close fill together: rounding must not tell alike flows apart.
_CLOSE = 1 + 1e-9

# Its kind, and what it belongs to: ("nvlink_out", gpu), ("port_in", node, port).
Link = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Bytes on their way over links.

    Attributes:
        size: bytes of one such flow.
        links: link -> how many flows like this one share it (1 if it is alone of its kind).
        latency: from the start until its first byte arrives.
        count: how many flows like this one there are.
    """

    size: Bytes
    links: Mapping[Link, float]
    latency: Seconds = 0.0
    count: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain:
    """What became of a set of flows that started together; it scales with their sizes.

    Attributes:
        busy: for each flow, when its last byte has left, latencies not counted.
        held: for each flow, the full links that held it back as it ended.
    """

    busy: tuple[Seconds, ...]
    held: tuple[tuple[Link, ...], ...]


def fair_rates(
    flows: Sequence[Flow], capacity: Mapping[Link, Bandwidth]
) -> tuple[tuple[Bandwidth, ...], tuple[tuple[Link, ...], ...]]:
    """Return the max-min fair rate of every flow, and the full links that hold it back.

    Raises:
        ValueError: a flow crosses no link, or one of no capacity, so that no rate is fair.
    """
    members: dict[Link, list[int]] = {}
    weight: dict[Link, float] = {}
    for index, flow in enumerate(flows):
        if not flow.links:
            raise ValueError(f"flow {index} crosses no link; it needs one or more")
        for link, times in flow.links.items():
            members.setdefault(link, []).append(index)
            weight[link] = weight.get(link, 0.0) + times
    left = {link: capacity[link] for link in members}
    if closed := [link for link, rest in left.items() if rest <= 0]:
        raise ValueError(f"link {closed[0]} has capacity {left[closed[0]]}; it must be above 0")
    rates: list[Bandwidth] = [-1.0] * len(flows)
    held: list[tuple[Link, ...]] = [()] * len(flows)
    while left:
        level = min(rest / weight[link] for link, rest in left.items())
        full = [link for link, rest in left.items() if rest / weight[link] <= level * _CLOSE]
        stopped = {index for link in full for index in members[link] if rates[index] < 0}
        filled = set(full)
        for index in stopped:
            rates[index] = level
            held[index] = tuple(link for link in flows[index].links if link in filled)
            for link, times in flows[index].links.items():
                weight[link] -= times
                left[link] -= times * level
        # What is left of a weight after taking all flows from it may be a rounding error.
        left = {
            link: max(rest, 0.0)
            for link, rest in left.items()
            if link not in filled and weight[link] > 1e-9
        }
    return tuple(rates), tuple(held)


def drain(flows: Sequence[Flow], capacity: Mapping[Link, Bandwidth]) -> Drain:
    """Return when each flow ends if all start now and share the links max-min fairly."""
    rest = [flow.size for flow in flows]
    busy = [0.0] * len(flows)
    held: list[tuple[Link, ...]] = [()] * len(flows)
    active = [index for index, size in enumerate(rest) if size > 0]
    now = 0.0
    while active:
        rates, full = fair_rates([flows[index] for index in active], capacity)
        left = [rest[index] / rate for index, rate in zip(active, rates, strict=True)]
        step = min(left)
        now += step
        going = []
        for index, rate, need, links in zip(active, rates, left, full, strict=True):
            if need > step * _CLOSE:
                rest[index] -= rate * step
                going.append(index)
            else:
                busy[index], held[index] = now, links
        active = going
    return Drain(busy=tuple(busy), held=tuple(held))
