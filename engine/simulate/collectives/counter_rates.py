"""Port counters that were read twice: growth, rate and a verdict for each port.

A full counter of InfiniBand stays full; one of Ethernet begins anew. A count that fell otherwise
was reset, and says nothing. A port is acquitted only by counters that are all known and not full.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.catalog.counter_tables import table_of
from engine.catalog.port_counters import (
    BROKEN,
    CORRECTED,
    DATA,
    FRAMES,
    HOST,
    LOST,
    MARKED,
    MODULE,
    PAUSED,
    PAUSES,
    PCIE,
    PRIORITY,
    STALLED,
    WAITS,
    CounterTable,
    PortCounter,
)
from engine.core.units import Bandwidth, Count, Ratio, Seconds, Share
from engine.run.logs.counters import CounterLog, CounterSnapshot, snapshot_pairs

# From this share of the time on, a port that pauses is held up; from this share of its rate on, a
# port is busy; so often a lost packet may come again before it matters; above this ratio corrected
# bits are more than a sound link has. Chosen, not published.
PAUSED_LIMIT: Share = 0.01
BUSY_LIMIT: Share = 0.8
LOSS_LIMIT: Ratio = 0.1
CORRECTED_LIMIT: Ratio = 1e-5
# A second in which PCIe kept the adapter waiting above this share counts for Linux's driver of mlx5
# (outbound_pci_stalled_wr_events). In percent, as the counter.
STALLED_LIMIT: Count = 30
# No share of a time or of a port is larger; clocks and rounds of a shell are this exact.
_WHOLE: Share = 1.05
IMPOSSIBLE, UNKNOWN = "impossible", "unknown"
# What a text must count before a port of it is acquitted: at least one of these.
_AGAINST = frozenset({BROKEN, LOST, HOST, PAUSED, PAUSES, FRAMES, WAITS})
# Below this number no count of 64 bits has begun anew: it would have been 2^64 before.
_HALF_32, _HALF_64 = 2**31, 2**63
ANOMALIES = {"full": "full: at least", "reset": "was reset", "wrapped": "began anew at 32 bits"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterGrowth:
    """Growth of one counter between two readings.

    Attributes:
        name: name of the counter.
        counter: catalog row of the counter; None if unknown.
        grown: growth, or the last value of a gauge; None if it cannot be computed.
        rate: growth per second; None likewise, and of a gauge.
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
        table: tool or adapter whose counters these are; None if it is not known.
        apart: time between the snapshots.
        growth: growth of every counter that both snapshots hold.
        sent, received: data rates.
        paused: share of the time in which the port was paused; `pauses`: in which it paused
            others.
        corrected: share of the bits that coding corrected; 0 where nothing counts them.
        unknown, full: names of counters that grew and are unknown, and of known ones that are full.
        verdict: what the port suffers from: a value of a counter's `says`, "impossible", "unknown",
            "busy" or "idle".
    """

    kind: str
    name: str
    table: CounterTable | None
    apart: Seconds
    growth: tuple[CounterGrowth, ...]
    sent: Bandwidth
    received: Bandwidth
    paused: Share
    pauses: Share
    corrected: Share
    unknown: tuple[str, ...]
    full: tuple[str, ...]
    verdict: str

    @property
    def priorities(self) -> Mapping[str, Share]:
        """Received bytes of each priority, as a share of those of all that are counted."""
        rates = {
            growth.name: growth.rate or 0.0
            for growth in self.growth
            if growth.says == PRIORITY and growth.counter and not growth.counter.sends
        }
        total = sum(rates.values())
        return {name: rate / total for name, rate in rates.items()} if total else {}


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
    table = table_of(first.kind, first.values, first.port)
    growths = tuple(_counter_growths(first, last, time, table))
    sent, received = (_data_rate(growths, sends=sends) for sends in (True, False))
    paused, pauses = (_longest_share(growths, says) for says in (PAUSED, PAUSES))
    corrected = (
        sum(growth.rate or 0.0 for growth in growths if growth.says == CORRECTED) / line_rate / 8
    )
    unknown = tuple(growth.name for growth in growths if growth.counter is None and growth.grown)
    full = tuple(growth.name for growth in growths if growth.counter and growth.odd == "full")
    shares = paused, pauses, sent / line_rate, received / line_rate
    verdict = _verdict(growths, shares, corrected)
    seen = any(growth.counter and growth.counter.says in _AGAINST for growth in growths)
    if verdict in (MARKED, "busy", "idle") and (unknown or full or not seen):
        verdict = UNKNOWN
    return PortReadings(
        kind=first.kind,
        name=first.port,
        table=table,
        apart=time,
        growth=growths,
        sent=sent,
        received=received,
        paused=paused,
        pauses=pauses,
        corrected=corrected,
        unknown=unknown,
        full=full,
        verdict=verdict,
    )


def _counter_growths(
    first: CounterSnapshot, last: CounterSnapshot, time: Seconds, table: CounterTable | None
) -> Iterator[CounterGrowth]:
    for name, before in first.values.items():
        if name not in last.values:
            continue
        counter, after = table.find(name) if table else None, last.values[name]
        if counter and counter.gauge:
            yield CounterGrowth(name=name, counter=counter, grown=after, rate=None)
            continue
        bits = counter.bits if counter and not first.wide else 64
        clamps = first.kind in ("perfquery", "sysfs")
        increase, anomaly = counter_growth(before, after, bits, clamps=clamps)
        yield CounterGrowth(
            name=name,
            counter=counter,
            grown=increase,
            rate=None if increase is None else increase / time,
            odd=anomaly,
        )


def _data_rate(growths: Iterable[CounterGrowth], *, sends: bool) -> Bandwidth:
    """Return the rate of the counters of all data, or of those of priorities without any."""
    rates: dict[str, list[float]] = {DATA: [], PRIORITY: []}
    for growth in growths:
        counter = growth.counter
        if counter and growth.rate is not None and counter.sends == sends and counter.says in rates:
            rates[counter.says].append(growth.rate * counter.unit)
    return sum(rates[DATA] or rates[PRIORITY])


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


def _verdict(
    growths: tuple[CounterGrowth, ...],
    shares: tuple[Share, Share, Share, Share],
    corrected: Ratio,
) -> str:
    """Return the most severe finding of the counters, from defects down to normal operation."""
    if max(shares) > _WHOLE:
        return IMPOSSIBLE
    paused, pauses, *data = shares
    reported = {growth.says for growth in growths}
    for says in (BROKEN, PCIE):
        if says in reported:
            return says
    for says in (LOST, HOST):
        if sum(growth.rate or 0.0 for growth in growths if growth.says == says) > LOSS_LIMIT:
            return says
    for share, says in ((pauses, PAUSES), (paused, PAUSED)):
        if share >= PAUSED_LIMIT and share == max(paused, pauses):
            return says
    return _mild_verdict(growths, reported, corrected, max(data))


def _mild_verdict(
    growths: tuple[CounterGrowth, ...], reported: set[str], corrected: Ratio, busy: Share
) -> str:
    stalled = (growth.grown or 0 for growth in growths if growth.says == STALLED)
    if max(stalled, default=0) >= STALLED_LIMIT:
        return STALLED
    if corrected >= CORRECTED_LIMIT:
        return CORRECTED
    timed = any(other.counter and other.counter.says in (PAUSED, PAUSES) for other in growths)
    if MODULE in reported or (FRAMES in reported and not timed):
        return MODULE if MODULE in reported else FRAMES
    for says in (MARKED, WAITS):
        if says in reported:
            return says
    return "busy" if busy >= BUSY_LIMIT else "idle"
