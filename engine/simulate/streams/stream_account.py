"""What the spans of one rank add up to: computation, communication behind it and not, waiting.

The words are those of Holistic Trace Analysis: communication is hidden while the rank computes and
exposed while it does not; what several streams do at once counts once. Sums are rounded once, for
Python's own sum rounds differently from version to version.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum

from engine.core.units import Bytes, Count, Seconds
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, Span

COMMUNICATION = (SCALE_UP, NETWORK)
Stretch = tuple[Seconds, Seconds]
# Start and end of a part of a span, and whether it is exposed.
Piece = tuple[Seconds, Seconds, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What one stream did.

    Attributes:
        busy: running something.
        idle: the rest of the step.
        hidden: busy while the rank computes.
        exposed: busy while it does not.
        sent: bytes.
    """

    busy: Seconds
    idle: Seconds
    hidden: Seconds
    exposed: Seconds
    sent: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One rank's step: `compute`, `contention`, `exposed` and `idle` together are `length`.

    Attributes:
        length: until the last operation of the rank has ended.
        compute: computation, had it been alone on the GPU.
        contention: what it took longer beside communication.
        communication: time in which the rank communicates.
        hidden: of that, while it computes.
        exposed: of that, while it does not.
        idle: neither.
        streams: the use of each stream that the program names.
    """

    length: Seconds
    compute: Seconds
    contention: Seconds
    communication: Seconds
    hidden: Seconds
    exposed: Seconds
    idle: Seconds
    streams: Mapping[str, Use]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """The account of a rank that computes and sends, of which no more is asked than this.

    Attributes:
        length: until the last operation has ended.
        compute: time in which it computes.
        exposed: time in which it communicates and does not compute.
    """

    length: Seconds
    compute: Seconds
    exposed: Seconds


def timed(computing: Iterable[Stretch], sending: Iterable[Stretch]) -> Timed:
    """Return the account of one rank from what it computes and sends."""
    lanes = _union(computing), _union(sending)
    compute, communication = map(_total, lanes)
    return Timed(
        length=max((lane[-1][1] for lane in lanes if lane), default=0.0),
        compute=compute,
        exposed=communication - _common(lanes[1], lanes[0]),
    )


def account(spans: Iterable[Span], rank: Count = 0) -> Account:
    """Return the account of one rank."""
    own = [span for span in spans if rank in span.op.ranks]
    length = max((span.end for span in own), default=0.0)
    lanes: dict[str, list[Span]] = {}
    for span in own:
        lanes.setdefault(span.op.stream, []).append(span)
    computing = _union((span.start, span.end) for span in lanes.get(COMPUTE, []))
    sending = _union(
        (span.start, span.end) for name in COMMUNICATION for span in lanes.get(name, [])
    )
    busy, communication = _total(computing), _total(sending)
    hidden = _common(sending, computing)
    alone = fsum(span.op.time for span in lanes.get(COMPUTE, []))
    return Account(
        length=length,
        compute=alone,
        contention=busy - alone if busy - alone > 1e-12 * length else 0.0,  # not of rounding
        communication=communication,
        hidden=hidden,
        exposed=communication - hidden,
        idle=max(0.0, length - busy - communication + hidden),
        streams={name: _use(found, computing, length) for name, found in lanes.items()},
    )


def exposed_pieces(span: Span, spans: Iterable[Span]) -> list[Piece]:
    """Return the span cut into (start, end, exposed): whether its first rank computes meanwhile."""
    rank = span.op.ranks[0]
    computing = _union(
        (one.start, one.end)
        for one in spans
        if one.op.stream == COMPUTE and rank in one.op.ranks and one.end > span.start
    )
    return cut((span.start, span.end), computing)


def joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return stretches in order, those that touch as one; none is without length."""
    found: list[Stretch] = []
    for start, end in sorted(stretches):
        if found and start - found[-1][1] < 1e-9:
            found[-1] = found[-1][0], max(found[-1][1], end)
        elif end > start:
            found.append((start, end))
    return found


def cut(stretch: Stretch, computing: list[Stretch]) -> list[Piece]:
    """Return the stretch in pieces (start, end, exposed), `computing` in order and apart."""
    at, end = stretch
    pieces = []
    for begin, stop in computing:
        if stop <= at or begin >= end:
            continue
        if begin > at:
            pieces.append((at, begin, True))
        pieces.append((max(at, begin), min(stop, end), False))
        at = min(stop, end)
    if end > at:
        pieces.append((at, end, True))
    return pieces


def _use(found: list[Span], computing: list[Stretch], length: Seconds) -> Use:
    stretches = [(span.start, span.end) for span in found]
    busy = _total(stretches)
    hidden = _common(_union(stretches), computing)
    return Use(
        busy=busy,
        idle=max(0.0, length - busy),
        hidden=hidden,
        exposed=busy - hidden,
        sent=fsum(span.op.size for span in found),
    )


def _union(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return the stretches joined where they touch, in order."""
    joined: list[Stretch] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        elif end > start:
            joined.append((start, end))
    return joined


def _total(stretches: Iterable[Stretch]) -> Seconds:
    return fsum(end - start for start, end in stretches)


def _common(first: list[Stretch], second: list[Stretch]) -> Seconds:
    """Return how long both of two lists are busy at once."""
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
