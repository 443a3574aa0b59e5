"""What the calibration script prints: one JSON object of timed kernels and collectives.

It may stand among other lines, as `torchrun` prints them. A row that is no measurement is counted
and left out; an object that is none of the script's is refused with line and reason.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeVar

from engine.core.units import Bytes, Count, Seconds, Tokens
from engine.run.importers.import_report import TextError

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
    """Everything that was timed.

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
    """Return what the script timed; raise `TextError` where the text holds no output of it."""
    line, found = _object(text)
    if found.get("version") != VERSION:
        shown = str(found.get("version"))[:_WIDTH]
        raise TextError(f"line {line}: version {shown}; allowed: {VERSION}")
    missed: list[object] = []
    return Timings(
        device=str(found.get("device", ""))[:_WIDTH],
        products=_rows(found, "products", _product, missed),
        attention=_rows(found, "attention", _attention, missed),
        copies=_rows(found, "copies", _copy, missed),
        collectives=_rows(found, "collectives", _collective, missed),
        unread=len(missed),
    )


def holds_calibration(text: str) -> bool:
    """Return whether a text holds the output of the script, whole or not."""
    return FORMAT in text


def _object(text: str) -> tuple[int, Mapping[str, Any]]:
    place = text.find(FORMAT)
    start = text.rfind("{", 0, place) if place >= 0 else -1
    if start < 0:
        raise TextError(f"line 1: no output of the script; allowed: an object with {FORMAT!r}")
    line = text.count("\n", 0, start) + 1
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise TextError(
            f"line {error.lineno}, column {error.colno}: the JSON of the script is damaged or cut "
            f"off ({error.msg}); allowed: the one line that it prints, whole"
        ) from None
    except RecursionError:
        raise TextError(f"line {line}: nested too deeply") from None
    except ValueError:
        raise TextError(f"line {line}: a number is too long") from None
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        raise TextError(f"line {line}: the object has another format than {FORMAT!r}")
    return line, found


_Row = TypeVar("_Row")


def _rows(
    found: Mapping[str, Any], key: str, read: Callable[[list[Any]], _Row], missed: list[object]
) -> tuple[_Row, ...]:
    given = found.get(key, [])
    rows: list[_Row] = []
    for one in given[:MOST_ROWS] if isinstance(given, list) else ():
        try:
            rows.append(read(one))
        except (TypeError, ValueError, OverflowError):
            missed.append(one)
    return tuple(rows)


def _product(row: list[Any]) -> TimedProduct:
    precision, rows, columns, inner, time = row
    return TimedProduct(
        precision=_word(precision),
        rows=_count(rows),
        columns=_count(columns),
        inner=_count(inner),
        time=_time(time),
    )


def _attention(row: list[Any]) -> TimedAttention:
    kernel, batch, heads, length, size, forward, backward = row
    return TimedAttention(
        kernel=_word(kernel),
        batch=_count(batch),
        heads=_count(heads),
        length=_count(length),
        head_size=_count(size),
        forward=_time(forward),
        backward=_time(backward),
    )


def _copy(row: list[Any]) -> TimedCopy:
    size, time = row
    return TimedCopy(size=_count(size), time=_time(time))


def _collective(row: list[Any]) -> TimedCollective:
    operation, size, ranks, nodes, time = row
    if operation not in _KINDS or not 1 <= _count(nodes) <= _count(ranks):
        raise ValueError(operation)
    return TimedCollective(
        operation=operation,
        size=_count(size),
        ranks=_count(ranks),
        nodes=_count(nodes),
        time=_time(time),
    )


def _word(given: object) -> str:
    if not isinstance(given, str) or len(given) > _WIDTH:
        raise ValueError("no name")
    return given


def _count(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        raise ValueError("no count")
    if not 1 <= given <= _LARGEST:
        raise ValueError("no count")
    return int(given)


def _time(given: object) -> Seconds:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise ValueError("no time")
    if not 1e-9 <= given <= _LONGEST_TIME:
        raise ValueError("no time")
    return float(given)
