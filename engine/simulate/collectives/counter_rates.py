"""Port counters that were read twice: growth, rate and a verdict for each port.

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
    PortCounter,
)
from engine.core.units import Bandwidth, Count, Ratio, Seconds, Share
from engine.run.logs.counters import CounterLog, CounterSnapshot, snapshot_pairs

# From this share of the time on, a port that pauses is held up; from this share of its rate on, a
# port is busy; so often a lost packet may come again before it matters. Chosen, not published.
PAUSED_LIMIT: Share = 0.01
BUSY_LIMIT: Share = 0.8
LOSS_LIMIT: Ratio = 0.1
# Below this number no count of 64 bits has begun anew: it would have been 2^64 before.
_HALF_32, _HALF_64 = 2**31, 2**63
ANOMALIES = {"full": "full: at least", "reset": "was reset", "wrapped": "began anew at 32 bits"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterGrowth:
    """Growth of one counter between two readings.

    Attributes:
        name: name of the counter.
        counter: catalog row of the counter; None if unknown.
        grown: growth; None if it cannot be computed.
        rate: growth per second; None likewise.
        odd: a key of `ANOMALIES`, or nothing.
    """

    name: str
    counter: PortCounter | None
    grown: Count | None
    rate: Ratio | None
    odd: str = ""

    @property
    def says(self) -> str:
        """Meaning of the growth, as in the catalog; empty without growth."""
        return self.counter.says if self.counter and self.grown else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortReadings:
    """Counter growth and verdict of a port that was read twice.

    Attributes:
        kind, name: kind and port name of the snapshots.
        apart: time between the snapshots.
        growth: growth of every counter that both snapshots hold.
        sent, received: data rates.
        paused: share of the time in which the port was paused; `pauses`: in which it paused
            others.
        verdict: what the port suffers from: a value of a counter's `says`, "busy" or "idle".
    """

    kind: str
    name: str
    apart: Seconds
    growth: tuple[CounterGrowth, ...]
    sent: Bandwidth
    received: Bandwidth
    paused: Share
    pauses: Share
    verdict: str


def counter_growth(
    first: Count, second: Count, bits: Count, *, clamps: bool
) -> tuple[Count | None, str]:
    """Return the growth of a counter, and its anomaly if there is one.

    `clamps`: whether it stays at its largest value, as InfiniBand's counters do; else it wraps.
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


def port_readings(
    text: CounterLog, interval: Seconds, line_rate: Bandwidth
) -> tuple[PortReadings, ...]:
    """Return the readings of every port that occurs twice in a text.

    `interval` is the time between snapshots that carry no time of their own.
    """
    return tuple(
        _compare_readings(first, last, interval, line_rate) for first, last in snapshot_pairs(text)
    )


def _compare_readings(
    first: CounterSnapshot, last: CounterSnapshot, interval: Seconds, line_rate: Bandwidth
) -> PortReadings:
    elapsed = last.clock - first.clock
    time = elapsed if first.clock and elapsed > 0 else interval
    growths = tuple(_counter_growths(first, last, time))
    sent, received = (_data_rate(growths, sends=sends) for sends in (True, False))
    paused, pauses = (_longest_share(growths, says) for says in (PAUSED, PAUSES))
    busy = max(sent, received) / line_rate
    return PortReadings(
        kind=first.kind,
        name=first.port,
        apart=time,
        growth=growths,
        sent=sent,
        received=received,
        paused=paused,
        pauses=pauses,
        verdict=_verdict(growths, paused, pauses, busy),
    )


def _counter_growths(
    first: CounterSnapshot, last: CounterSnapshot, time: Seconds
) -> Iterator[CounterGrowth]:
    known = KINDS[first.kind]
    for name, before in first.values.items():
        if name not in last.values:
            continue
        counter = known.get(name)
        bits = counter.bits if counter and not first.wide else 64
        clamps = first.kind == "perfquery"
        increase, anomaly = counter_growth(before, last.values[name], bits, clamps=clamps)
        yield CounterGrowth(
            name=name,
            counter=counter,
            grown=increase,
            rate=None if increase is None else increase / time,
            odd=anomaly,
        )


def _data_rate(growths: Iterable[CounterGrowth], *, sends: bool) -> Bandwidth:
    return sum(
        growth.rate * growth.counter.unit
        for growth in growths
        if growth.counter
        and growth.rate
        and growth.counter.says == DATA
        and growth.counter.sends == sends
    )


def _longest_share(growths: Iterable[CounterGrowth], says: str) -> Share:
    """Return the largest time share among the duration counters of a meaning."""
    return max(
        (
            growth.rate * growth.counter.unit
            for growth in growths
            if growth.counter and growth.rate and growth.counter.says == says
        ),
        default=0.0,
    )


def _verdict(growths: tuple[CounterGrowth, ...], paused: Share, pauses: Share, busy: Share) -> str:
    """Return the most severe finding of the counters, from defects down to normal operation."""
    reported = {growth.says for growth in growths}
    lost = sum(growth.rate or 0.0 for growth in growths if growth.says == LOST)
    if BROKEN in reported:
        return BROKEN
    if lost > LOSS_LIMIT:
        return LOST
    for share, says in ((pauses, PAUSES), (paused, PAUSED)):
        if share >= PAUSED_LIMIT and share == max(paused, pauses):
            return says
    if MARKED in reported:
        return MARKED
    if WAITS in reported:
        return WAITS
    return "busy" if busy >= BUSY_LIMIT else "idle"
