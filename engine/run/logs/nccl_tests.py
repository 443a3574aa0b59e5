"""The table that nccl-tests print: times and bandwidths of a collective by message size.

Columns have changed: before 2.13 an error stood where #wrong stands now, all-gather names no
operation, and newer versions print their version in the first line. A row is known by its numbers:
two sizes, then words, then two groups of time, algorithm bandwidth, bus bandwidth and wrong values.
A row that was cut down to size, time and bandwidths is read where size over time is the bandwidth.
How a line is taken apart is in `nccl_words`.
"""

import re
from dataclasses import dataclass

from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, Seconds
from engine.run.importers.import_report import TextError
from engine.run.logs.nccl_words import (
    bare,
    decimal,
    is_decimal,
    is_size,
    is_type,
    quoted,
    whole,
    words_of,
)

LONGEST_TABLE = 1_000_000
_TEST = re.compile(r"\b(\w{2,30})_perf\b")
_RANK = re.compile(
    r"\bRank\s+(\d{1,7})\s.{0,120}?\bon\s+(\S{1,80})\s+device\s+\d+\s+\[\S{1,30}\]"
    r"\s+(\S.{0,60}?)\s*$"
)
_VERSION = re.compile(r"nccl-tests version (\S{1,20}).{0,60}?nccl-library=(\d{1,7})")
_THREADS = re.compile(r"nThread (\d{1,4}) nGpus (\d{1,4})")
# Size, count, type, operation, root: words before the first number of a row, at most.
_LEADING = 5
_NUMBERS = 4
# Printed digits of a bandwidth, and what rounding of a time may add.
_PRINTED, _ROUNDED = 0.01, 0.02
_MOST_NOTES = 200
# Reasons that a row can be one and yet say nothing.
_ENDS = "the line ends before its bandwidths"
_NO_NUMBER = "{word} stands where a number should"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message size, out of place.

    Attributes:
        line: of the text, from 1.
        size: of the message.
        time: of the collective.
        algorithm_bandwidth: size over time.
        bus_bandwidth: as printed.
        wrong: values that were not what they should be; 0 where it was not checked.
        operation: of its part of the text; empty where nothing names it.
    """

    line: Count
    size: Bytes
    time: Seconds
    algorithm_bandwidth: Bandwidth
    bus_bandwidth: Bandwidth
    wrong: Count = 0
    operation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A line that could not be read, or that contradicts itself, and why."""

    line: Count
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a run of nccl-tests printed.

    Attributes:
        operation: "all_reduce" and the like, the first named; empty where no line names it.
        ranks: GPUs; 0 where no line lists them.
        nodes: hosts; 0 likewise.
        device: name of the first GPU; empty likewise.
        version: of NCCL, as 2.23.4; empty likewise.
        rows: in the order of the text.
        notes: what of it could not be read, by line.
    """

    operation: str
    ranks: Count
    nodes: Count
    device: str
    version: str
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]


class _Head:
    """What the lines above a table say, as they come."""

    def __init__(self) -> None:
        self.operation = self.first = self.device = self.version = ""
        self.ranks = self.threads = 0
        self.hosts: set[str] = set()

    def take(self, line: str) -> None:
        """Take what a line says that is no row."""
        if found := _RANK.search(line):
            self.ranks = max(self.ranks, int(found[1]) + 1)
            self.hosts.add(found[2])
            self.device = self.device or found[3]
        elif found := _THREADS.search(line):
            self.threads = int(found[1]) * int(found[2])
        self.version = self.version or _version(line)
        if found := _TEST.search(line):
            self.operation = found[1]
            self.first = self.first or found[1]


def read_nccl_tests(text: str) -> Table:
    """Return the table of a text; raise `TextError` where there is none."""
    if len(text) > LONGEST_TABLE:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_TABLE:,}")
    rows: list[Row] = []
    notes: list[Note] = []
    head = _Head()
    for number, line in enumerate(text.split("\n"), 1):
        line = bare(line)
        words = words_of(line)
        found = _row(number, words, head.operation)
        if isinstance(found, Row):
            rows.append(found)
            found = _doubt(found)
        if found is None:
            head.take(line)
        elif isinstance(found, Note) and len(notes) < _MOST_NOTES:
            notes.append(found)
    if not rows:
        first = f"line {notes[0].line}: {notes[0].reason}; " if notes else "line 1: "
        raise TextError(
            f"{first}no row of nccl-tests is recognized; allowed: its output with the columns "
            "size, count, type, redop, root, time, algbw, busbw"
        )
    return Table(
        operation=head.first,
        ranks=head.ranks,
        nodes=len(head.hosts),
        device=head.device,
        version=head.version,
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _row(number: int, words: list[str], operation: str) -> Row | Note | None:
    """Return the row that a line is, why it is none though it begins like one, or nothing."""
    if len(words) < 2 or not is_size(words[0]):
        return None
    size = float(whole(words[0]))
    if _is_measured(words[1:]) and _agrees(size, words[1:]):
        return _of(number, size, words[1:], operation)
    if not is_size(words[1]):
        return None
    # Behind type, operation and root, of which some tests print fewer, stand only numbers.
    last = min(len(words), _LEADING + 1)
    starts = [at for at in range(2, last) if _is_measured(words[at:])]
    if not starts:
        # Two whole numbers may begin any line; with a type of data behind them it is a row.
        return Note(line=number, reason=_fault(words)) if any(map(is_type, words)) else None
    # A root may look like a time: size over time is the bandwidth beside it.
    start = next((at for at in starts if _agrees(size, words[at:])), starts[0])
    return _of(number, size, words[start:], operation)


def _of(number: int, size: Bytes, words: list[str], operation: str) -> Row:
    """Return the row whose time, bandwidths and wrong values these are."""
    time, algorithm, bus = (decimal(word) for word in words[:3])
    rest = words[3] if len(words) > 3 else "0"
    return Row(
        line=number,
        size=size,
        time=time * MICRO,
        algorithm_bandwidth=algorithm * GB,
        bus_bandwidth=bus * GB,
        wrong=whole(rest) if is_size(rest) else 0,
        operation=operation,
    )


def _doubt(row: Row) -> Note | None:
    """Return why a row contradicts itself, if it does."""
    said, is_so = row.algorithm_bandwidth / GB, row.size / row.time / GB
    if abs(said - is_so) <= _PRINTED + _ROUNDED * is_so:
        return None
    return Note(
        line=row.line,
        reason=f"size over time is {is_so:.4g} GB/s, and algbw says {said:.4g}",
    )


def _fault(words: list[str]) -> str:
    """Return why a line that begins like a row is none."""
    behind = next(at for at, word in enumerate(words) if is_type(word)) + 1
    odd = [word for word in words[behind + 2 : behind + 5] if not is_decimal(word)]
    return _NO_NUMBER.format(word=quoted(odd[0])) if odd else _ENDS


def _is_measured(words: list[str]) -> bool:
    """Return whether time and two bandwidths follow; a root is whole and alone."""
    if len(words) < _NUMBERS - 1 or not all(any(c in word for c in ".,") for word in words[1:3]):
        return False
    return all(map(is_decimal, words[:3])) and decimal(words[0]) > 0


def _agrees(size: Bytes, words: list[str]) -> bool:
    bandwidth = size / (decimal(words[0]) * MICRO) / GB
    return abs(bandwidth - decimal(words[1])) <= _PRINTED + _ROUNDED * bandwidth


def _version(line: str) -> str:
    found = re.search(r"NCCL version (\d{1,3}(?:\.\d{1,3}){1,2})", line)
    if found:
        return found[1]
    header = _VERSION.search(line)
    if not header:
        return ""
    # 22304 is 2.23.4; before 2.9 a version had one digit less.
    code = int(header[2])
    return f"{code // 10_000}.{code // 100 % 100}.{code % 100}"
