"""One product and one collective beside it: what the collective slows down, and what sticks out."""

from dataclasses import dataclass

from engine.core.units import Ratio, Seconds
from engine.simulate.streams.stream_account import account, cut
from engine.simulate.streams.streams import COMPUTE, NETWORK, Op, Span, run

Piece = tuple[Seconds, Seconds, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A product and a collective on two streams.

    Attributes:
        product, collective: as they ran.
        pieces: of the collective: (start, end, whether nothing is computed meanwhile).
        together: how long both run.
        done: of the product's time alone, what it does meanwhile.
        contention: what the product takes longer than alone.
        exposed: of the collective, after the product.
    """

    product: Span
    collective: Span
    pieces: tuple[Piece, ...]
    together: Seconds
    done: Seconds
    contention: Seconds
    exposed: Seconds


def beside(product: Seconds, collective: Seconds, start: Seconds, slow_down: Ratio) -> Beside:
    """Return both, simulated: times alone, the collective from `start` on.

    While both run, the product needs 1 + `slow_down` times as long for the same work.
    """
    spans = run(
        (
            Op(key="product", stream=COMPUTE, time=product, label="product"),
            Op(key="wait", stream=NETWORK, time=start, label="nothing"),
            Op(
                key="collective",
                stream=NETWORK,
                time=collective,
                label="collective",
                slows=slow_down,
            ),
        )
    )
    one, _, other = spans
    together = max(0.0, min(other.end, one.end) - other.start)
    return Beside(
        product=one,
        collective=other,
        pieces=tuple(cut((other.start, other.end), [(one.start, one.end)])),
        together=together,
        done=together / (1 + slow_down),
        contention=account(spans).contention,
        exposed=max(0.0, other.end - max(one.end, other.start)),
    )
