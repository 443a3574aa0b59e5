"""Spans of one rank in parts: communication that computation hides, and that which is exposed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.core.units import Count, Seconds
from engine.simulate.streams.stream_account import COMMUNICATION, Piece, Stretch, cut, joined
from engine.simulate.streams.streams import COMPUTE, Span

_SHORTEST: Seconds = 1e-9  # shorter pieces come of rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a span that is hidden, exposed, or computation, from one end to the other.

    Attributes:
        ran: the span.
        number: of the part, from 1.
        start, end: of the part.
        exposed: it is communication, and nothing is computed meanwhile.
        last: of the span.
    """

    ran: Span
    number: Count
    start: Seconds
    end: Seconds
    exposed: bool
    last: bool

    @property
    def key(self) -> str:
        """That of the operation for the last part, which others wait for."""
        return self.ran.op.key if self.last else f"{self.ran.op.key} ({self.number})"


def parts(spans: Sequence[Span]) -> tuple[Part, ...]:
    """Return every span, communication cut where it stops or starts to be hidden."""
    busy = _computing(spans)
    return tuple(
        Part(
            ran=ran,
            number=number,
            start=start,
            end=end,
            exposed=exposed,
            last=number == len(pieces),
        )
        for ran in spans
        if ran.end > ran.start
        for pieces in [_pieces(ran, busy)]
        for number, (start, end, exposed) in enumerate(pieces, start=1)
    )


def all_wires(spans: Sequence[Span]) -> tuple[Piece, ...]:
    """Return the communication of all streams as one, in pieces (start, end, exposed)."""
    busy = _computing(spans)
    sending = joined((one.start, one.end) for one in spans if one.op.stream in COMMUNICATION)
    return tuple(piece for stretch in sending for piece in cut(stretch, busy))


def _computing(spans: Iterable[Span]) -> list[Stretch]:
    return joined((one.start, one.end) for one in spans if one.op.stream == COMPUTE)


def _pieces(ran: Span, busy: list[Stretch]) -> list[Piece]:
    """Return the pieces without those that rounding makes, neighbors of one kind as one."""
    if ran.op.stream == COMPUTE:
        return [(ran.start, ran.end, False)]
    found = cut((ran.start, ran.end), busy)
    kept = [piece for piece in found if piece[1] - piece[0] > _SHORTEST] or found[:1]
    for one, two in pairwise(tuple(kept)):
        if one[2] == two[2] and two in kept and one in kept:
            kept[kept.index(one) : kept.index(two) + 1] = [(one[0], two[1], one[2])]
    return kept
