"""A matrix product overlapped with a collective: contention and exposed time."""

from dataclasses import dataclass

from engine.core.units import Ratio, Seconds
from engine.simulate.streams.stream_account import split_interval, step_account
from engine.simulate.streams.streams import COMPUTE, NETWORK, OpSpan, StreamOp, run_program

Piece = tuple[Seconds, Seconds, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlappedPair:
    """A matrix product and a collective on two streams.

    Attributes:
        product, collective: as they ran.
        pieces: of the collective: (start, end, whether nothing is computed meanwhile).
        together: how long both run.
        done: of the product's time alone, what it does meanwhile.
        contention: what the product takes longer than alone.
        exposed: of the collective, after the product.
    """

    product: OpSpan
    collective: OpSpan
    pieces: tuple[Piece, ...]
    together: Seconds
    done: Seconds
    contention: Seconds
    exposed: Seconds


def simulate_overlapped_pair(
    product: Seconds, collective: Seconds, start: Seconds, slow_down: Ratio
) -> OverlappedPair:
    """Return the simulated pair; times are isolated, the collective begins at `start`.

    While both run, the product needs 1 + `slow_down` times as long for the same work.
    """
    spans = run_program(
        (
            StreamOp(key="product", stream=COMPUTE, time=product, label="product"),
            StreamOp(key="wait", stream=NETWORK, time=start, label="nothing"),
            StreamOp(
                key="collective",
                stream=NETWORK,
                time=collective,
                label="collective",
                slowdown=slow_down,
            ),
        )
    )
    product_span, _, collective_span = spans
    together = max(0.0, min(collective_span.end, product_span.end) - collective_span.start)
    return OverlappedPair(
        product=product_span,
        collective=collective_span,
        pieces=tuple(
            split_interval(
                (collective_span.start, collective_span.end),
                [(product_span.start, product_span.end)],
            )
        ),
        together=together,
        done=together / (1 + slow_down),
        contention=step_account(spans).contention,
        exposed=max(0.0, collective_span.end - max(product_span.end, collective_span.start)),
    )
