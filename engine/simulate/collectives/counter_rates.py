"""What counters say when they are read twice: how much each grew, how fast, and a verdict.

A full counter of InfiniBand stays full; one of Ethernet begins anew. A count that fell otherwise
was reset, and says nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.catalog.port_counters import (
    BROKEN,
    DATA,
    KINDS,
    LOST,
    MARKED,
    PAUSED,
    PAUSES,
    WAITS,
    Counter,
)
from engine.core.units import Bandwidth, Count, Ratio, Seconds, Share
from engine.run.logs.counters import CounterText, Snapshot, pairs

# From this share of the time on, a port that pauses is held up; from this share of its rate on, a
# port is busy; so often a lost packet may come again before it matters. Chosen, not published.
HELD: Share = 0.01
BUSY: Share = 0.8
RARE: Ratio = 0.1
# Below this number no count of 64 bits has begun anew: it would have been 2^64 before.
_HALF_32, _HALF_64 = 2**31, 2**63
ODD_WAYS = {"full": "full: at least", "reset": "was reset", "wrapped": "began anew at 32 bits"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How much a counter grew.

    Attributes:
        name: of the counter.
        counter: what it counts; None where it is not known here.
        grown: by how much; None where that cannot be said.
        rate: per second; None likewise.
        odd: a key of `ODD_WAYS`, or nothing.
    """

    name: str
    counter: Counter | None
    grown: Count | None
    rate: Ratio | None
    odd: str = ""

    @property
    def says(self) -> str:
        """What its growth says."""
        return self.counter.says if self.counter and self.grown else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A port that was read twice.

    Attributes:
        kind, name: of the snapshots.
        apart: time between them.
        growth: of every counter that both hold.
        sent, received: rates of data.
        paused: share of the time for which it was told to pause; `pauses`: for which it told.
        verdict: what the port suffers from: a value of a counter's `says`, "busy" or "idle".
    """

    kind: str
    name: str
    apart: Seconds
    growth: tuple[Growth, ...]
    sent: Bandwidth
    received: Bandwidth
    paused: Share
    pauses: Share
    verdict: str


def grown(first: Count, second: Count, bits: Count, *, clamps: bool) -> tuple[Count | None, str]:
    """Return by how much a counter grew, and what is odd about it.

    `clamps`: it stays at its largest value, as InfiniBand's do; else it begins anew.
    """
    if clamps and second == 2**bits - 1:
        return second - first, "full"
    if second >= first:
        return second - first, ""
    if not clamps and _HALF_32 <= first < 2**32 and second < _HALF_32:
        return second - first + 2**32, "wrapped"
    if not clamps and first >= _HALF_64:
        return second - first + 2**64, ""
    return None, "reset"


def ports(found: CounterText, apart: Seconds, line_rate: Bandwidth) -> tuple[Port, ...]:
    """Return every port that a text holds twice.

    `apart` is the time between snapshots that carry no time of their own.
    """
    return tuple(_port(first, last, apart, line_rate) for first, last in pairs(found))


def _port(first: Snapshot, last: Snapshot, apart: Seconds, line_rate: Bandwidth) -> Port:
    between = last.clock - first.clock
    time = between if first.clock and between > 0 else apart
    growth = tuple(_growths(first, last, time))
    sent, received = (_data(growth, sends=sends) for sends in (True, False))
    paused, pauses = (_time(growth, says) for says in (PAUSED, PAUSES))
    busy = max(sent, received) / line_rate
    return Port(
        kind=first.kind,
        name=first.port,
        apart=time,
        growth=growth,
        sent=sent,
        received=received,
        paused=paused,
        pauses=pauses,
        verdict=_verdict(growth, paused, pauses, busy),
    )


def _growths(first: Snapshot, last: Snapshot, time: Seconds) -> Iterator[Growth]:
    known = KINDS[first.kind]
    for name, before in first.values.items():
        if name not in last.values:
            continue
        counter = known.get(name)
        bits = counter.bits if counter and not first.wide else 64
        clamps = first.kind == "perfquery"
        more, odd = grown(before, last.values[name], bits, clamps=clamps)
        yield Growth(
            name=name,
            counter=counter,
            grown=more,
            rate=None if more is None else more / time,
            odd=odd,
        )


def _data(growth: Iterable[Growth], *, sends: bool) -> Bandwidth:
    return sum(
        one.rate * one.counter.unit
        for one in growth
        if one.counter and one.rate and one.counter.says == DATA and one.counter.sends == sends
    )


def _time(growth: Iterable[Growth], says: str) -> Share:
    """Return the largest share of the time that a counter of durations gives."""
    return max(
        (
            one.rate * one.counter.unit
            for one in growth
            if one.counter and one.rate and one.counter.says == says
        ),
        default=0.0,
    )


def _verdict(growth: tuple[Growth, ...], paused: Share, pauses: Share, busy: Share) -> str:
    """Return the worst that the counters say, from what must be repaired to what is normal."""
    said = {one.says for one in growth}
    lost = sum(one.rate or 0.0 for one in growth if one.says == LOST)
    if BROKEN in said:
        return BROKEN
    if lost > RARE:
        return LOST
    for share, says in ((pauses, PAUSES), (paused, PAUSED)):
        if share >= HELD and share == max(paused, pauses):
            return says
    if MARKED in said:
        return MARKED
    if WAITS in said:
        return WAITS
    return "busy" if busy >= BUSY else "idle"
