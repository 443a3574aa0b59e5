"""Reader of nccl-tests tables: times and bandwidths of a collective by message size.

Columns have changed: before 2.13 an error stood where #wrong stands now, all-gather names no
operation, and newer versions print their version in the first line. A row is known by its numbers:
two sizes, then words, then two groups of time, algorithm bandwidth, bus bandwidth and wrong values.
A row that was cut down to size, time and bandwidths is read where size over time is the bandwidth.
How a line is taken apart is in `nccl_words`.
"""

import re
from dataclasses import dataclass, replace

from engine.core.units import GB, MICRO, Bandwidth, Bytes, Count, Seconds
from engine.run.importers.text_error import TextError
from engine.run.logs.nccl_words import (
    is_data_type,
    is_decimal,
    is_size,
    parse_decimal,
    parse_size,
    quote_word,
    split_words,
    strip_decoration,
)

LONGEST_TABLE = 1_000_000
_TEST = re.compile(r"\b(\w{2,30})_perf\b")
_RANK = re.compile(
    r"\bRank\s+(\d{1,7})\s.{0,120}?\bon\s+(\S.{0,79}?)\s+device\s+\d+\s+\[\S{1,30}\]"
    r"\s+(\S.{0,60}?)\s*$"
)
_VERSION = re.compile(r"nccl-tests version (\S{1,20}).{0,60}?nccl-library=(\d{1,7})")
# Size, count, type, operation, root: words before the first number of a row, at most.
_LEADING = 5
_NUMBERS = 4
# Printed digits of a bandwidth, and what rounding of a time may add.
_PRINTED, _ROUNDED = 0.01, 0.02
_MOST_NOTES = 200
# What stands in the column redop of a test that sums.
_SUMS = frozenset({"sum", "prod", "max", "min", "avg", "mulsum"})
# Reasons that a row can be one and yet say nothing.
_ENDS = "the line ends before its bandwidths"
_NO_NUMBER = "{word} stands where a number should"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRow:
    """One row of the table: an out-of-place message size.

    Attributes:
        line: of the text, from 1.
        size: of the message.
        time: of the collective.
        algorithm_bandwidth: size over time.
        bus_bandwidth: as printed.
        wrong: values that were not what they should be, of both tests the more; 0 where it was not
            checked.
        operation: of its part of the text; empty where nothing names it.
        adds: whether it sums, by its column redop; None where the row has none.
        doubtful: whether its bandwidth contradicts its size and time.
    """

    line: Count
    size: Bytes
    time: Seconds
    algorithm_bandwidth: Bandwidth
    bus_bandwidth: Bandwidth
    wrong: Count = 0
    operation: str = ""
    adds: bool | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineNote:
    """A line that is unreadable or contradicts itself, and the reason."""

    line: Count
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkTable:
    """The table of an nccl-tests run.

    Attributes:
        operation: "all_reduce" and the like, the first named; empty where no line names it.
        ranks: GPUs; 0 where no line lists them.
        hosts: that the GPUs are in; 0 likewise.
        devices: names of the GPUs, each once; empty likewise.
        version: of NCCL, as 2.23.4; empty likewise.
        rows: in the order of the text.
        notes: what of it could not be read, by line.
    """

    operation: str
    ranks: Count
    hosts: Count
    devices: tuple[str, ...]
    version: str
    rows: tuple[BenchmarkRow, ...]
    notes: tuple[LineNote, ...]


class _TableHeader:
    """Header information read from the lines above a table."""

    def __init__(self) -> None:
        self.operation = self.first = self.version = ""
        self.devices: dict[str, None] = {}
        self.ranks = 0
        self.hosts: set[str] = set()

    def take(self, line: str) -> None:
        """Read a header line."""
        if match := _RANK.search(line):
            self.ranks = max(self.ranks, int(match[1]) + 1)
            self.hosts.add(match[2])
            self.devices.setdefault(match[3])
        self.version = self.version or _version(line)
        if match := _TEST.search(line):
            self.operation = match[1]
            self.first = self.first or match[1]


def read_nccl_tests(text: str) -> BenchmarkTable:
    """Return the table of a text; raise `TextError` where there is none."""
    if len(text) > LONGEST_TABLE:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_TABLE:,}")
    rows: list[BenchmarkRow] = []
    notes: list[LineNote] = []
    head = _TableHeader()
    for number, line in enumerate(text.split("\n"), 1):
        line = strip_decoration(line)
        words = split_words(line)
        entry = _read_row(number, words, head.operation)
        if isinstance(entry, BenchmarkRow):
            doubt = _contradiction(entry)
            rows.append(replace(entry, doubtful=doubt is not None))
            entry = doubt
        if entry is None:
            head.take(line)
        elif isinstance(entry, LineNote) and len(notes) < _MOST_NOTES:
            notes.append(entry)
    if not rows:
        first = f"line {notes[0].line}: {notes[0].reason}; " if notes else "line 1: "
        raise TextError(
            f"{first}no row of nccl-tests is recognized; allowed: its output with the columns "
            "size, count, type, redop, root, time, algbw, busbw"
        )
    return BenchmarkTable(
        operation=head.first,
        ranks=head.ranks,
        hosts=len(head.hosts),
        devices=tuple(head.devices),
        version=head.version,
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _read_row(number: int, words: list[str], operation: str) -> BenchmarkRow | LineNote | None:
    """Return the row of a line, a note if it is a damaged row, or None."""
    if len(words) < 2 or not is_size(words[0]):
        return None
    size = float(parse_size(words[0]))
    if _is_measured(words[1:]) and _agrees(size, words[1:]):
        return _make_row(number, size, words[1:], operation)
    if not is_size(words[1]):
        return None
    # Behind type, operation and root, of which some tests print fewer, stand only numbers.
    last = min(len(words), _LEADING + 1)
    starts = [at for at in range(2, last) if _is_measured(words[at:])]
    if not starts:
        # Two whole numbers may begin any line; with a type of data behind them it is a row.
        return (
            LineNote(line=number, reason=_row_problem(words))
            if any(map(is_data_type, words))
            else None
        )
    # A root may look like a time: size over time is the bandwidth beside it.
    start = next((at for at in starts if _agrees(size, words[at:])), starts[0])
    row = _make_row(number, size, words[start:], operation)
    return replace(row, adds=_adds(words[2:start]))


def _make_row(number: int, size: Bytes, words: list[str], operation: str) -> BenchmarkRow:
    """Return the row with these time, bandwidth and error columns."""
    time, algorithm, bus = (parse_decimal(word) for word in words[:3])
    # Behind the bandwidths, in the second group those of the test in place; some leave both out.
    unchecked = _is_measured(words[3:]) and _agrees(size, words[3:])
    places = () if unchecked else (3, 7)
    checked = [int(parse_size(words[at])) for at in places if is_size("".join(words[at : at + 1]))]
    return BenchmarkRow(
        line=number,
        size=size,
        time=time * MICRO,
        algorithm_bandwidth=algorithm * GB,
        bus_bandwidth=bus * GB,
        wrong=max(checked, default=0),
        operation=operation,
    )


def _adds(words: list[str]) -> bool | None:
    """Return whether the words between count and time name an operation that sums."""
    named = next((word for word in words if word in _SUMS or word == "none"), "")
    return named in _SUMS if named else None


def _contradiction(row: BenchmarkRow) -> LineNote | None:
    """Return a note if the row's bandwidth contradicts its size and time."""
    printed, computed = row.algorithm_bandwidth / GB, row.size / row.time / GB
    if abs(printed - computed) <= _PRINTED + _ROUNDED * computed:
        return None
    return LineNote(
        line=row.line,
        reason=f"size over time is {computed:.4g} GB/s, and algbw says {printed:.4g}",
    )


def _row_problem(words: list[str]) -> str:
    """Return the reason why a line that begins like a row is unreadable."""
    behind = next(at for at, word in enumerate(words) if is_data_type(word)) + 1
    odd = [word for word in words[behind + 2 : behind + 5] if not is_decimal(word)]
    return _NO_NUMBER.format(word=quote_word(odd[0])) if odd else _ENDS


def _is_measured(words: list[str]) -> bool:
    """Return whether time and two bandwidths follow; a root is whole and alone."""
    if len(words) < _NUMBERS - 1 or not all(any(c in word for c in ".,") for word in words[1:3]):
        return False
    return all(map(is_decimal, words[:3])) and parse_decimal(words[0]) > 0


def _agrees(size: Bytes, words: list[str]) -> bool:
    bandwidth = size / (parse_decimal(words[0]) * MICRO) / GB
    return abs(bandwidth - parse_decimal(words[1])) <= _PRINTED + _ROUNDED * bandwidth


def _version(line: str) -> str:
    match = re.search(r"NCCL version (\d{1,3}(?:\.\d{1,3}){1,2})", line)
    if match:
        return match[1]
    header = _VERSION.search(line)
    if not header:
        return ""
    # 22304 is 2.23.4; before 2.9 a version had one digit less.
    code = int(header[2])
    return f"{code // 10_000}.{code // 100 % 100}.{code % 100}"
