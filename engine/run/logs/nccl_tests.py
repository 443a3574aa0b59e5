"""The table that nccl-tests print: times and bandwidths of a collective by message size.

Columns have changed: before 2.13 an error stood where #wrong stands now, all-gather names no
operation, and newer versions print their version in the first line. A row is known by its numbers:
two sizes, then words, then two groups of time, algorithm bandwidth, bus bandwidth and wrong values.
"""

import re
from dataclasses import dataclass

from engine.basis.units import GB, MICRO, Bandwidth, Bytes, Count, Seconds
from engine.run.importers.told import TextError

LONGEST_TABLE = 1_000_000
_LONGEST_LINE = 600
# What a launcher puts before a line: "[1,0]<stdout>:", "0: ", "host: ".
_PREFIX = re.compile(r"^\s*(?:\[\d+,\d+\]\s?<std\w+>:|\[?[\w.-]{1,60}\]?:(?=\s))?\s*")
_TEST = re.compile(r"\b(\w{2,30})_perf\b")
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s.{0,200}?\bdevice\s+\d+\s+\[\S{1,30}\]\s+(\S.{0,60}?)\s*$")
_VERSION = re.compile(r"nccl-tests version (\S{1,20}).{0,60}?nccl-library=(\d{1,7})")
_NUMBERS = 4


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
    """

    line: Count
    size: Bytes
    time: Seconds
    algorithm_bandwidth: Bandwidth
    bus_bandwidth: Bandwidth
    wrong: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a run of nccl-tests printed.

    Attributes:
        operation: "all_reduce" and the like; empty where no line names it.
        ranks: GPUs; 0 where no line lists them.
        device: name of the first GPU; empty likewise.
        version: of NCCL, as 2.23.4; empty likewise.
        rows: in the order of the text.
    """

    operation: str
    ranks: Count
    device: str
    version: str
    rows: tuple[Row, ...]


def read_nccl_tests(text: str) -> Table:
    """Return the table of a text; raise `TextError` where there is none."""
    if len(text) > LONGEST_TABLE:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_TABLE:,}")
    rows: list[Row] = []
    ranks, device, version, operation = 0, "", "", ""
    for number, whole in enumerate(text.split("\n"), 1):
        line = _PREFIX.sub("", whole[:_LONGEST_LINE], count=1)
        row = _row(number, line)
        if row:
            rows.append(row)
            continue
        if found := _RANK.search(line):
            ranks, device = max(ranks, int(found[1]) + 1), device or found[2]
        version = version or _version(line)
        named = _TEST.search(line)
        operation = operation or (named[1] if named else "")
    if not rows:
        raise TextError(
            "line 1: no row of nccl-tests is recognized; allowed: its output with the columns "
            "size, count, type, redop, root, time, algbw, busbw"
        )
    return Table(operation=operation, ranks=ranks, device=device, version=version, rows=tuple(rows))


def _row(number: int, line: str) -> Row | None:
    words = line.split()
    if len(words) < 2 + _NUMBERS - 1 or not (_is_size(words[0]) and _is_size(words[1])):
        return None
    # Behind type, operation and root, of which some tests print fewer, stand only numbers.
    starts = [at for at in range(2, len(words)) if _is_measured(words[at:])]
    if not starts:
        return None
    # A root may look like a time: size over time is the bandwidth beside it.
    start = next((at for at in starts if _agrees(float(words[0]), words[at:])), starts[0])
    time, algorithm, bus = (float(word) for word in words[start : start + 3])
    rest = words[start + 3] if start + 3 < len(words) else "0"
    return Row(
        line=number,
        size=float(words[0]),
        time=time * MICRO,
        algorithm_bandwidth=algorithm * GB,
        bus_bandwidth=bus * GB,
        wrong=int(rest) if _is_size(rest) else 0,
    )


def _is_measured(words: list[str]) -> bool:
    """Return whether time, two bandwidths and no word but N/A follow; a root is whole and alone."""
    if len(words) < _NUMBERS - 1 or "." not in words[1] or "." not in words[2]:
        return False
    return all(map(_is_number, words[:3])) and float(words[0]) > 0


def _agrees(size: Bytes, words: list[str]) -> bool:
    bandwidth = size / (float(words[0]) * MICRO) / GB
    return abs(bandwidth - float(words[1])) <= 0.01 + 0.02 * bandwidth


def _is_number(word: str) -> bool:
    return re.fullmatch(r"\d{1,12}(\.\d{1,9})?(e[+-]?\d{1,2})?", word) is not None


def _is_size(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 16


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
