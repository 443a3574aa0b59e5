"""Pasted output of `perfquery`, `ethtool -S` or `rdma statistic`, once or several times.

Between the snapshots may stand what `date +%s.%N` prints; the time between two is taken from it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.core.units import Count, Seconds
from engine.run.importers.import_report import TextError

LONGEST_COUNTERS = 500_000
_SHOWN = 60
_CLOCK = re.compile(r"(1\d{9})(\.\d{1,9})?$")
_PERFQUERY = re.compile(r"# Port (extended )?counters: (.+?)(?: \(CapMask.*)?$")
_DOTTED = re.compile(r"([A-Z][A-Za-z0-9]*):\.*(\S*)$")
_ETHTOOL = re.compile(r"NIC statistics(?: for (\S+))?:$")
_COLON = re.compile(r"([a-z][\w.\[\]-]*):\s*(\S*)$")
_LINK = re.compile(r"link (\S+?)(?:\s+(.*))?$")
_PAIR = re.compile(r"([a-z][a-z0-9_]*)\s+(\S+)$")
_NUMBER = re.compile(r"(?:\d{1,20}|0x[0-9a-fA-F]{1,16})$")
# Fields of perfquery that choose counters and count nothing.
_SELECT = {"PortSelect", "CounterSelect", "CounterSelect2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadLine:
    """A line that was not understood, with its number (from 1), text and reason."""

    line: Count
    text: str
    reason: str


@dataclass(slots=True, kw_only=True)
class CounterSnapshot:
    """The counters of one port at one time.

    Attributes:
        kind: "perfquery", "ethtool" or "rdma".
        port: as the text names it.
        wide: whether all counters have 64 bits.
        clock: seconds since 1970, where the text says when; else 0.
        line: on which it begins.
        values: by the counters' names.
    """

    kind: str
    port: str
    wide: bool
    clock: Seconds
    line: Count
    values: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterLog:
    """Counter snapshots of a text in order, and the lines that were not understood."""

    snapshots: tuple[CounterSnapshot, ...]
    odd: tuple[UnreadLine, ...]


def read_counters(text: str) -> CounterLog:
    """Return the snapshots of a text; raise `TextError` with line and reason if there is none."""
    if len(text) > LONGEST_COUNTERS:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_COUNTERS:,}")
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            reader.read(number, line.strip())
    snapshots = tuple(snapshot for snapshot in reader.snapshots if snapshot.values)
    if not snapshots:
        first = reader.odd[0] if reader.odd else UnreadLine(line=1, text="", reason="no counter")
        raise TextError(
            f"line {first.line}: {first.reason}; allowed: the output of perfquery, ethtool -S or "
            "rdma statistic"
        )
    return CounterLog(snapshots=snapshots, odd=tuple(reader.odd))


class _Reader:
    """Reads line by line; a counter that comes again begins the next snapshot."""

    def __init__(self) -> None:
        self.snapshots: list[CounterSnapshot] = []
        self.odd: list[UnreadLine] = []
        self._clock = 0.0

    def read(self, number: Count, line: str) -> None:
        """Read one line."""
        clock = _CLOCK.match(line)
        if clock:
            self._clock = float(line)
        elif not (self._heads(number, line) or self._read_counter(number, line)):
            self._add_unread(number, line, "no counter, and no heading of one of the three tools")

    def _heads(self, number: Count, line: str) -> bool:
        """Start a snapshot at a heading; return whether the line is a heading."""
        if match := _PERFQUERY.match(line):
            self._begin("perfquery", match[2], number, wide=bool(match[1]))
        elif match := _ETHTOOL.match(line):
            self._begin("ethtool", match[1] or "the port", number, wide=True)
        elif match := _LINK.match(line):
            self._begin("rdma", match[1], number, wide=True)
            self._pairs(number, line, match[2] or "")
        else:
            return line.startswith("#")
        return True

    def _read_counter(self, number: Count, line: str) -> bool:
        """Read a line with one counter; return whether it matched."""
        for kind, pattern in (("perfquery", _DOTTED), ("ethtool", _COLON), ("rdma", _PAIR)):
            match = pattern.match(line)
            if match and (kind != "rdma" or self._is("rdma")):
                self._take(kind, number, line, (match[1], match[2]))
                return True
        return False

    def _pairs(self, number: Count, line: str, rest: str) -> None:
        words = rest.split()
        for name, value in zip(words[::2], words[1::2], strict=False):
            self._take("rdma", number, line, (name, value))
        if len(words) % 2:
            self._add_unread(number, line, f"'{words[-1][:30]}' stands without its number")

    def _take(self, kind: str, number: Count, line: str, pair: tuple[str, str]) -> None:
        name, value = pair
        if not _NUMBER.match(value):
            reason = f"{name} has no whole number behind it" if value else f"{name} has no number"
            self._add_unread(number, line, reason)
            return
        if name in _SELECT:
            return
        if not self._is(kind) or name in self.snapshots[-1].values:
            port = self.snapshots[-1].port if self._is(kind) else "the port"
            self._begin(kind, port, number, wide=kind != "perfquery")
        self.snapshots[-1].values[name] = int(value, 0) if value.startswith("0x") else int(value)

    def _is(self, kind: str) -> bool:
        return bool(self.snapshots) and self.snapshots[-1].kind == kind

    def _begin(self, kind: str, port: str, line: Count, *, wide: bool) -> None:
        snapshot = CounterSnapshot(kind=kind, port=port, wide=wide, clock=self._clock, line=line)
        self.snapshots.append(snapshot)

    def _add_unread(self, number: Count, line: str, reason: str) -> None:
        self.odd.append(UnreadLine(line=number, text=line[:_SHOWN], reason=reason))


def snapshot_pairs(log: CounterLog) -> Iterator[tuple[CounterSnapshot, CounterSnapshot]]:
    """Yield the first and the last snapshot of every port that was read twice."""
    ports: dict[tuple[str, str], list[CounterSnapshot]] = {}
    for snapshot in log.snapshots:
        ports.setdefault((snapshot.kind, snapshot.port), []).append(snapshot)
    for seen in ports.values():
        if len(seen) > 1:
            yield seen[0], seen[-1]
