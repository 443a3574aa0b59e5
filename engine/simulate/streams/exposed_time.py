"""Spans of one rank, split into computation, hidden and exposed communication."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.core.units import Count, Seconds
from engine.simulate.streams.stream_account import (
    Interval,
    Piece,
    merge_intervals,
    split_interval,
)
from engine.simulate.streams.streams import COMPUTE, OpSpan

_SHORTEST: Seconds = 1e-9  # shorter pieces come of rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPart:
    """A part of a span that is entirely hidden, exposed, or computation.

    Attributes:
        ran: span of the part.
        number: number of the part, from 1.
        start, end: start and end of the part.
        exposed: whether it is communication without concurrent computation.
        last: whether it is the last part of the span.
    """

    ran: OpSpan
    number: Count
    start: Seconds
    end: Seconds
    exposed: bool
    last: bool

    @property
    def key(self) -> str:
        """Unique key; the last part, for which others wait, has that of the operation."""
        return self.ran.op.key if self.last else f"{self.ran.op.key} ({self.number})"


def split_spans(spans: Sequence[OpSpan]) -> tuple[SpanPart, ...]:
    """Return the parts of every span; communication is cut where its overlap starts or stops."""
    busy = _compute_intervals(spans)
    return tuple(
        SpanPart(
            ran=span,
            number=number,
            start=start,
            end=end,
            exposed=exposed,
            last=number == len(pieces),
        )
        for span in spans
        if span.end > span.start
        for pieces in [_span_pieces(span, busy)]
        for number, (start, end, exposed) in enumerate(pieces, start=1)
    )


def _compute_intervals(spans: Iterable[OpSpan]) -> list[Interval]:
    return merge_intervals((span.start, span.end) for span in spans if span.op.stream == COMPUTE)


def _span_pieces(span: OpSpan, busy: list[Interval]) -> list[Piece]:
    """Return the pieces of a span, without rounding artifacts and with equal neighbors merged."""
    if span.op.stream == COMPUTE:
        return [(span.start, span.end, False)]
    pieces = split_interval((span.start, span.end), busy)
    kept = [piece for piece in pieces if piece[1] - piece[0] > _SHORTEST] or pieces[:1]
    for left, right in pairwise(tuple(kept)):
        if left[2] == right[2] and right in kept and left in kept:
            kept[kept.index(left) : kept.index(right) + 1] = [(left[0], right[1], left[2])]
    return kept
