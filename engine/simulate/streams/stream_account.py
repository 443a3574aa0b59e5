"""Time account of one rank's spans: computation, hidden and exposed communication, idle time.

The words are those of Holistic Trace Analysis: communication is hidden while the rank computes and
exposed while it does not; what several streams do at once counts once. Sums are rounded once, for
Python's own sum rounds differently from version to version.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum

from engine.core.units import Bytes, Count, Seconds
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, OpSpan

COMMUNICATION = (SCALE_UP, NETWORK)
Interval = tuple[Seconds, Seconds]
# Start and end of a part of a span, and whether it is exposed communication.
Piece = tuple[Seconds, Seconds, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamUse:
    """Time totals of one stream.

    Attributes:
        busy: time with an operation running.
        idle: rest of the step.
        hidden: busy time while the rank computes.
        exposed: busy time while the rank does not compute.
        sent: bytes sent.
    """

    busy: Seconds
    idle: Seconds
    hidden: Seconds
    exposed: Seconds
    sent: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAccount:
    """Time totals of one rank's step: `compute`, `contention`, `exposed`, `idle` sum to `length`.

    Attributes:
        length: end of the last operation of the rank.
        compute: computation, if it were alone on the GPU.
        contention: additional computation time beside communication.
        communication: time in which the rank communicates.
        hidden: communication while the rank computes.
        exposed: communication while the rank does not compute.
        idle: time without either.
        streams: totals of each stream of the program.
    """

    length: Seconds
    compute: Seconds
    contention: Seconds
    communication: Seconds
    hidden: Seconds
    exposed: Seconds
    idle: Seconds
    streams: Mapping[str, StreamUse]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedAccount:
    """Length, computation and exposed communication of a rank's step.

    Attributes:
        length: end of the last operation.
        compute: time in which the rank computes.
        exposed: time in which the rank communicates without computing.
    """

    length: Seconds
    compute: Seconds
    exposed: Seconds


def exposed_account(computing: Iterable[Interval], sending: Iterable[Interval]) -> ExposedAccount:
    """Return the account of one rank from its compute and communication intervals."""
    lanes = _merge_overlaps(computing), _merge_overlaps(sending)
    compute, communication = map(_total_time, lanes)
    return ExposedAccount(
        length=max((lane[-1][1] for lane in lanes if lane), default=0.0),
        compute=compute,
        exposed=communication - _common_time(lanes[1], lanes[0]),
    )


def step_account(spans: Iterable[OpSpan], rank: Count = 0) -> StepAccount:
    """Return the time account of one rank."""
    rank_spans = [span for span in spans if rank in span.op.ranks]
    length = max((span.end for span in rank_spans), default=0.0)
    lanes: dict[str, list[OpSpan]] = {}
    for span in rank_spans:
        lanes.setdefault(span.op.stream, []).append(span)
    computing = _merge_overlaps((span.start, span.end) for span in lanes.get(COMPUTE, []))
    sending = _merge_overlaps(
        (span.start, span.end) for name in COMMUNICATION for span in lanes.get(name, [])
    )
    busy, communication = _total_time(computing), _total_time(sending)
    hidden = _common_time(sending, computing)
    alone = fsum(span.op.time for span in lanes.get(COMPUTE, []))
    return StepAccount(
        length=length,
        compute=alone,
        contention=busy - alone if busy - alone > 1e-12 * length else 0.0,  # not of rounding
        communication=communication,
        hidden=hidden,
        exposed=communication - hidden,
        idle=max(0.0, length - busy - communication + hidden),
        streams={
            name: _stream_use(spans_of_stream, computing, length)
            for name, spans_of_stream in lanes.items()
        },
    )


def exposed_pieces(span: OpSpan, spans: Iterable[OpSpan]) -> list[Piece]:
    """Return the span in pieces (start, end, exposed), by the computation of its first rank."""
    rank = span.op.ranks[0]
    computing = _merge_overlaps(
        (other.start, other.end)
        for other in spans
        if other.op.stream == COMPUTE and rank in other.op.ranks and other.end > span.start
    )
    return split_interval((span.start, span.end), computing)


def merge_intervals(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the intervals in order, merged where they touch; empty ones are dropped."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start - merged[-1][1] < 1e-9:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        elif end > start:
            merged.append((start, end))
    return merged


def split_interval(interval: Interval, computing: list[Interval]) -> list[Piece]:
    """Return the interval in pieces (start, end, exposed); `computing` is sorted and disjoint."""
    position, end = interval
    pieces = []
    for busy_start, busy_end in computing:
        if busy_end <= position or busy_start >= end:
            continue
        if busy_start > position:
            pieces.append((position, busy_start, True))
        pieces.append((max(position, busy_start), min(busy_end, end), False))
        position = min(busy_end, end)
    if end > position:
        pieces.append((position, end, True))
    return pieces


def _stream_use(spans: list[OpSpan], computing: list[Interval], length: Seconds) -> StreamUse:
    intervals = [(span.start, span.end) for span in spans]
    busy = _total_time(intervals)
    hidden = _common_time(_merge_overlaps(intervals), computing)
    return StreamUse(
        busy=busy,
        idle=max(0.0, length - busy),
        hidden=hidden,
        exposed=busy - hidden,
        sent=fsum(span.op.size for span in spans),
    )


def _merge_overlaps(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the intervals in order, merged where they overlap or touch exactly."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        elif end > start:
            merged.append((start, end))
    return merged


def _total_time(intervals: Iterable[Interval]) -> Seconds:
    return fsum(end - start for start, end in intervals)


def _common_time(first: list[Interval], second: list[Interval]) -> Seconds:
    """Return the time in which intervals of both lists overlap."""
    shared, i, j = 0.0, 0, 0
    while i < len(first) and j < len(second):
        low = max(first[i][0], second[j][0])
        high = min(first[i][1], second[j][1])
        shared += max(0.0, high - low)
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return shared
