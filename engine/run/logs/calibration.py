"""Reader of the calibration script's output: a JSON object of timed kernels and collectives.

It may stand among other lines, as `torchrun` prints them. A row that is no measurement is counted
and left out; an object that is none of the script's is refused with line and reason.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeVar

from engine.core.units import Bytes, Count, Seconds, Tokens
from engine.run.importers.text_error import TextError

FORMAT, VERSION = "wallclock-calibration", 1
MOST_ROWS = 2000
_LARGEST, _LONGEST_TIME = 1e15, 1e4
_KINDS = ("all_reduce", "all_gather", "reduce_scatter")
_WIDTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedProduct:
    """A matrix product [rows, inner] x [inner, columns]."""

    precision: str
    rows: Count
    columns: Count
    inner: Count
    time: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedAttention:
    """A causal attention by one kernel library, forward and backward."""

    kernel: str
    batch: Count
    heads: Count
    length: Tokens
    head_size: Count
    forward: Seconds
    backward: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCopy:
    """A copy inside the memory: bytes read and written together."""

    size: Bytes
    time: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCollective:
    """A collective; `size` is the whole buffer of a rank."""

    operation: str
    size: Bytes
    ranks: Count
    nodes: Count
    time: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """All timings of a calibration run.

    Attributes:
        device: as it calls itself; "CPU" where there is no GPU.
        unread: rows that are no measurement.
    """

    device: str
    products: tuple[TimedProduct, ...] = ()
    attention: tuple[TimedAttention, ...] = ()
    copies: tuple[TimedCopy, ...] = ()
    collectives: tuple[TimedCollective, ...] = ()
    unread: Count = 0


def read_calibration(text: str) -> Timings:
    """Return the script's timings; raise `TextError` if the text contains none."""
    line, report = _parse_report(text)
    if report.get("version") != VERSION:
        shown = str(report.get("version"))[:_WIDTH]
        raise TextError(f"line {line}: version {shown}; allowed: {VERSION}")
    missed: list[object] = []
    return Timings(
        device=str(report.get("device", ""))[:_WIDTH],
        products=_read_rows(report, "products", _read_product, missed),
        attention=_read_rows(report, "attention", _read_attention, missed),
        copies=_read_rows(report, "copies", _read_copy, missed),
        collectives=_read_rows(report, "collectives", _read_collective, missed),
        unread=len(missed),
    )


def has_calibration(text: str) -> bool:
    """Return whether a text holds the output of the script, whole or not."""
    return FORMAT in text


def _parse_report(text: str) -> tuple[int, Mapping[str, Any]]:
    offset = text.find(FORMAT)
    start = text.rfind("{", 0, offset) if offset >= 0 else -1
    if start < 0:
        raise TextError(f"line 1: no output of the script; allowed: an object with {FORMAT!r}")
    line = text.count("\n", 0, start) + 1
    try:
        report, _ = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise TextError(
            f"line {error.lineno}, column {error.colno}: the JSON of the script is damaged or cut "
            f"off ({error.msg}); allowed: the one line that it prints, whole"
        ) from None
    except RecursionError:
        raise TextError(f"line {line}: nested too deeply") from None
    except ValueError:
        raise TextError(f"line {line}: a number is too long") from None
    if not isinstance(report, Mapping) or report.get("format") != FORMAT:
        raise TextError(f"line {line}: the object has another format than {FORMAT!r}")
    return line, report


_Row = TypeVar("_Row")


def _read_rows(
    report: Mapping[str, Any], key: str, read: Callable[[list[Any]], _Row], missed: list[object]
) -> tuple[_Row, ...]:
    entries = report.get(key, [])
    rows: list[_Row] = []
    for entry in entries[:MOST_ROWS] if isinstance(entries, list) else ():
        try:
            rows.append(read(entry))
        except (TypeError, ValueError, OverflowError):
            missed.append(entry)
    return tuple(rows)


def _read_product(row: list[Any]) -> TimedProduct:
    precision, rows, columns, inner, time = row
    return TimedProduct(
        precision=_read_word(precision),
        rows=_read_count(rows),
        columns=_read_count(columns),
        inner=_read_count(inner),
        time=_read_time(time),
    )


def _read_attention(row: list[Any]) -> TimedAttention:
    kernel, batch, heads, length, size, forward, backward = row
    return TimedAttention(
        kernel=_read_word(kernel),
        batch=_read_count(batch),
        heads=_read_count(heads),
        length=_read_count(length),
        head_size=_read_count(size),
        forward=_read_time(forward),
        backward=_read_time(backward),
    )


def _read_copy(row: list[Any]) -> TimedCopy:
    size, time = row
    return TimedCopy(size=_read_count(size), time=_read_time(time))


def _read_collective(row: list[Any]) -> TimedCollective:
    operation, size, ranks, nodes, time = row
    if operation not in _KINDS or not 1 <= _read_count(nodes) <= _read_count(ranks):
        raise ValueError(operation)
    return TimedCollective(
        operation=operation,
        size=_read_count(size),
        ranks=_read_count(ranks),
        nodes=_read_count(nodes),
        time=_read_time(time),
    )


def _read_word(value: object) -> str:
    if not isinstance(value, str) or len(value) > _WIDTH:
        raise ValueError("no name")
    return value


def _read_count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError("no count")
    if not 1 <= value <= _LARGEST:
        raise ValueError("no count")
    return int(value)


def _read_time(value: object) -> Seconds:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no time")
    if not 1e-9 <= value <= _LONGEST_TIME:
        raise ValueError("no time")
    return float(value)
