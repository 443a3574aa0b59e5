"""Pasted counters of network ports, once or several times.

Read are `perfquery`, `ethtool -S`, `rdma statistic`, files of /sys/class/infiniband (`grep .` or
`tail`), and SONiC's `show pfc counters` and `show interfaces counters`. Between the snapshots may
stand what `date +%s.%N` prints; the time between two is taken from it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from engine.core.units import Count, Seconds
from engine.run.importers.text_error import TextError

LONGEST_COUNTERS = 500_000
ALLOWED = (
    "the output of perfquery, ethtool -S or rdma statistic, files of /sys/class/infiniband, or "
    "SONiC's show pfc counters and show interfaces counters"
)
UNNAMED = "the port"
_SHOWN, _MOST_SNAPSHOTS = 60, 5000
_CLOCK = re.compile(r"(1\d{9})(\.\d{1,9})?$")
_PERFQUERY = re.compile(r"# Port (extended )?counters: (.+?)(?: \(CapMask.*)?$")
_DOTTED = re.compile(r"([A-Z][A-Za-z0-9]*):\.*(\S*)$")
_ETHTOOL = re.compile(r"NIC statistics(?: for (\S+))?:$")
_COMMAND = re.compile(
    r"(?:.{0,80}[$#>]\s+|`)?(?:sudo\s+)?ethtool\s+-S\s+([\w.:-]{1,40})\s*(?:\|[^;]{0,80})?`?\s*$"
)
_COLON = re.compile(r"((?:\[\d{1,4}\]: )?[a-z][\w.\[\]-]*) ?:\s*(\S*)$")
_LINK = re.compile(r"link (\S+?)(?:\s+(.*))?$")
_PAIR = re.compile(r"([a-z][a-z0-9_]*)\s+(\S+)$")
_NUMBER = re.compile(r"(?:\d{1,20}|0x[0-9a-fA-F]{1,16})$")
_FILE = (
    r"(?:/sys/class/infiniband/)?([\w.-]{1,40})/ports/(\d{1,3})/(counters|hw_counters)/(\w{1,60})"
)
_SYSFS = re.compile(_FILE + r"\s*[:=\s]\s*(\S+)$")
_SYSFS_HEAD = re.compile(r"==> " + _FILE + r" <==$")
_SONIC_PORTS = re.compile(r"Port (Rx|Tx)\s+PFC0\b")
_SONIC_NAMES = re.compile(r"IFACE\s+STATE\s+RX_OK\b")
_COLUMNS = re.compile(r"\s{2,}|\t+")
# Fields of perfquery that choose counters and count nothing, and columns that are rates.
_SELECT = {"PortSelect", "CounterSelect", "CounterSelect2"}
_COUNTED = re.compile(r"(?:[RT]X_(?:OK|ERR|DRP|OVR)|[RT]x PFC\d)$")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})*$|\d{1,20}$")


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
        kind: "perfquery", "ethtool", "rdma", "sysfs" or "sonic".
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
        if line.strip() and not line.startswith("```"):  # the fence of a quoted text
            reader.read(number, line.strip())
    snapshots = [snapshot for snapshot in reader.snapshots if snapshot.values]
    if not snapshots:
        first = reader.odd[0] if reader.odd else UnreadLine(line=1, text="", reason="no counter")
        raise TextError(f"line {first.line}: {first.reason}; allowed: {ALLOWED}")
    return CounterLog(snapshots=tuple(_separated(snapshots)), odd=tuple(reader.odd))


class _Reader:
    """Reads line by line; a counter that comes again begins the next snapshot."""

    def __init__(self) -> None:
        self.snapshots: list[CounterSnapshot] = []
        self.odd: list[UnreadLine] = []
        self._clock = 0.0
        self._named = ""
        self._columns: tuple[str, ...] = ()
        self._file: tuple[str, str, str] | None = None

    def read(self, number: Count, line: str) -> None:
        """Read one line."""
        clock = _CLOCK.match(line)
        if self._file and _NUMBER.match(line):  # before the clock, which looks the same
            kind, port, name = self._file
            self._file = None
            self._add_reading(kind, port, number, (name, line))
            return
        if clock:
            self._clock = float(line)
        elif command := _COMMAND.fullmatch(line):
            self._named = command[1]
        elif not (
            self._heads(number, line)
            or self._read_table(number, line)
            or self._read_file(number, line)
            or self._read_counter(number, line)
        ):
            self._add_unread(number, line, "no counter, and no heading of a tool that is read")

    def _heads(self, number: Count, line: str) -> bool:
        """Start a snapshot at a heading; return whether the line is a heading."""
        if match := _PERFQUERY.match(line):
            self._begin("perfquery", match[2], number, wide=bool(match[1]))
        elif match := _ETHTOOL.match(line):
            self._begin("ethtool", match[1] or self._named or UNNAMED, number, wide=True)
            self._named = ""
        elif match := _LINK.match(line):
            self._begin("rdma", match[1], number, wide=True)
            self._pairs(number, line, match[2] or "")
        else:
            return line.startswith(("#", "Last cached time was"))
        return True

    def _read_table(self, number: Count, line: str) -> bool:
        """Read a line of a table of SONiC's: its head, its rule or a port."""
        if match := _SONIC_PORTS.match(line):
            heads = _COLUMNS.split(line)[1:]
            self._columns = ("", *(f"{match[1]} {head.strip()}" for head in heads))
            return True
        if _SONIC_NAMES.match(line):
            self._columns = ("", *_COLUMNS.split(line)[1:])
            return True
        if not self._columns or set(line) <= {"-", " "}:
            return bool(self._columns)
        cells = _COLUMNS.split(line)
        if len(cells) != len(self._columns) or not re.match(r"[A-Za-z]+[\d/]", cells[0]):
            self._columns = ()
            return False
        for name, cell in zip(self._columns[1:], cells[1:], strict=True):
            if _COUNTED.match(name) and _GROUPED.match(cell):
                self._add_reading("sonic", cells[0], number, (name, cell.replace(",", "")))
        return True

    def _read_file(self, number: Count, line: str) -> bool:
        """Read a file of /sys/class/infiniband with its number, or its name alone."""
        if match := _SYSFS_HEAD.match(line):
            kind = "sysfs" if match[3] == "counters" else "rdma"
            self._file = kind, f"{match[1]}/{match[2]}", match[4]
            return True
        match = _SYSFS.match(line)
        if not match:
            return False
        kind, name = "sysfs" if match[3] == "counters" else "rdma", match[4]
        if _NUMBER.match(match[5]):
            self._add_reading(kind, f"{match[1]}/{match[2]}", number, (name, match[5]))
        else:
            self._add_unread(number, line, f"{name} has no whole number behind it")
        return True

    def _read_counter(self, number: Count, line: str) -> bool:
        """Read a line with one counter; return whether it matched."""
        for kind, pattern in (("perfquery", _DOTTED), ("ethtool", _COLON), ("rdma", _PAIR)):
            match = pattern.match(line)
            if match and (kind != "rdma" or self._is("rdma")):
                self._take(kind, number, line, (match[1], match[2]))
                return True
        return False

    def _pairs(self, number: Count, line: str, text: str) -> None:
        words = text.split()
        for name, value in zip(words[::2], words[1::2], strict=False):
            self._take("rdma", number, line, (name, value))
        if len(words) % 2:
            self._add_unread(number, line, f"'{words[-1][:30]}' stands without its number")

    def _take(self, kind: str, number: Count, line: str, pair: tuple[str, str]) -> None:
        """Take a counter of the port whose heading came last."""
        name, value = pair
        if not _NUMBER.match(value):
            reason = f"{name} has no whole number behind it" if value else f"{name} has no number"
            self._add_unread(number, line, reason)
            return
        if name in _SELECT:
            return
        # `| grep` leaves the heading out: then the command before names the port.
        named = self._named if kind == "ethtool" else ""
        if named or not self._is(kind) or name in self.snapshots[-1].values:
            port = named or (self.snapshots[-1].port if self._is(kind) else UNNAMED)
            self._named = ""
            self._begin(kind, port, number, wide=kind != "perfquery")
        self.snapshots[-1].values[name] = _integer(value)

    def _add_reading(self, kind: str, port: str, number: Count, pair: tuple[str, str]) -> None:
        """Take a counter of a port that its own line names, among others."""
        name, value = pair
        open_ones = (
            earlier
            for earlier in reversed(self.snapshots[-256:])
            if (earlier.kind, earlier.port, earlier.clock) == (kind, port, self._clock)
        )
        snapshot = next(open_ones, None)
        if snapshot is None or name in snapshot.values:
            self._begin(kind, port, number, wide=kind != "sysfs")
            snapshot = self.snapshots[-1]
        snapshot.values[name] = _integer(value)

    def _is(self, kind: str) -> bool:
        return bool(self.snapshots) and self.snapshots[-1].kind == kind

    def _begin(self, kind: str, port: str, line: Count, *, wide: bool) -> None:
        if len(self.snapshots) >= _MOST_SNAPSHOTS:
            raise TextError(f"line {line}: more than {_MOST_SNAPSHOTS:,} readings of ports")
        snapshot = CounterSnapshot(kind=kind, port=port, wide=wide, clock=self._clock, line=line)
        self.snapshots.append(snapshot)

    def _add_unread(self, number: Count, line: str, reason: str) -> None:
        self.odd.append(UnreadLine(line=number, text=line[:_SHOWN], reason=reason))


def _integer(value: str) -> int:
    return int(value, 0) if value.startswith("0x") else int(value)


def _separated(snapshots: list[CounterSnapshot]) -> list[CounterSnapshot]:
    """Return the snapshots with outputs of several ports under one time told apart.

    `ethtool` prints no name. Under each time the same commands run in the same order, so that the
    first output of each belongs to the first port. Raises `TextError` where that cannot be.
    """
    rounds: dict[tuple[str, str], dict[Seconds, list[int]]] = {}
    for at, snapshot in enumerate(snapshots):
        by_name = rounds.setdefault((snapshot.kind, snapshot.port), {})
        by_name.setdefault(snapshot.clock, []).append(at)
    separated = list(snapshots)
    for (_, port), by_clock in rounds.items():
        several = [indices for indices in by_clock.values() if len(indices) > 1]
        if not several or (set(by_clock) == {0.0} and _grows([snapshots[i] for i in several[0]])):
            continue
        if 0.0 in by_clock or len({len(indices) for indices in by_clock.values()}) > 1:
            line = snapshots[several[0][1]].line
            raise TextError(
                f"line {line}: a second output of {port} without a time of its own: another port, "
                "or a later reading? Write `date +%s.%N` before each round of readings"
            )
        for indices in by_clock.values():
            for order, index in enumerate(indices, 1):
                name = f"{port}, output {order} of {len(indices)}"
                separated[index] = replace(snapshots[index], port=name)
    return separated


def _grows(snapshots: list[CounterSnapshot]) -> bool:
    """Return whether snapshots can be one port's: two, or counters that never fall."""
    if len(snapshots) < 3:
        return True
    return all(
        after.values.get(name, value) >= value
        for before, after in pairwise(snapshots)
        for name, value in before.values.items()
    )


def snapshot_pairs(log: CounterLog) -> Iterator[tuple[CounterSnapshot, CounterSnapshot]]:
    """Yield the first and the last snapshot of every port that was read twice."""
    ports: dict[tuple[str, str], list[CounterSnapshot]] = {}
    for snapshot in log.snapshots:
        ports.setdefault((snapshot.kind, snapshot.port), []).append(snapshot)
    for seen in ports.values():
        if len(seen) > 1:
            yield seen[0], seen[-1]
