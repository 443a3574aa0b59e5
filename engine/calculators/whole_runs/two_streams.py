"""Two streams: one product, one collective beside it, computed as the simulator computes all."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import MILLISECONDS, PERCENT, Number
from engine.basis.text import say
from engine.basis.units import MILLI, SECONDS, SHARE
from engine.basis.views import Axis, Lane, Receipt, Timeline, Value, View
from engine.basis.views import Span as Drawn
from engine.simulate.stream_account import account, cut
from engine.simulate.streams import COMPUTE, NETWORK, Op, Span, run

TITLE = "One product, one collective"
QUESTION = "When does a product end that a collective slows down for a while?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    product: Annotated[
        float,
        Number(label="Product, alone", unit=MILLISECONDS, low=1e-3, high=0.05, step=1e-3),
    ] = 10 * MILLI
    collective: Annotated[
        float,
        Number(label="Collective, alone", unit=MILLISECONDS, low=0.0, high=0.05, step=1e-3),
    ] = 6 * MILLI
    start: Annotated[
        float,
        Number(
            label="The collective starts after", unit=MILLISECONDS, low=0.0, high=0.05, step=1e-3
        ),
    ] = 0.0
    slow_down: Annotated[
        float, Number(label="Contention", unit=PERCENT, low=0.0, high=1.0, step=0.01, symbol="c")
    ] = 0.5


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    spans = run(
        (
            Op(key="product", stream=COMPUTE, time=inputs.product, label="product"),
            Op(key="wait", stream=NETWORK, time=inputs.start, label="nothing"),
            Op(
                key="collective",
                stream=NETWORK,
                time=inputs.collective,
                label="collective",
                slows=inputs.slow_down,
            ),
        )
    )
    product, _, collective = spans
    beside = max(0.0, min(collective.end, product.end) - collective.start)
    done = beside / (1 + inputs.slow_down)
    found = account(spans)
    receipt = Receipt(
        basis="simulated",
        assumptions=(
            say(
                "Beside the collective the product does {d} of its work in {b}; the rest at full "
                "speed.",
                d=(done, SECONDS),
                b=(beside, SECONDS),
            ),
        ),
    )
    return {
        "end": Value(
            label="The product ends after",
            value=product.end,
            quantity=SECONDS,
            receipt=receipt,
            note=say("{c} contention", c=(inputs.slow_down, SHARE)),
            color="compute",
        ),
        "done": Value(
            label="Done beside the collective",
            value=done,
            quantity=SECONDS,
            receipt=receipt,
            note="of the product's time alone",
            color="compute",
        ),
        "contention": Value(
            label="Contention",
            value=found.contention,
            quantity=SECONDS,
            receipt=receipt,
            note="longer than alone",
        ),
        "exposed": Value(
            label="Exposed",
            value=max(0.0, collective.end - max(product.end, collective.start)),
            quantity=SECONDS,
            receipt=receipt,
            note="of the collective, after the product",
            color="communication",
        ),
        "timeline": _timeline(product, collective),
    }


def _timeline(product: Span, collective: Span) -> Timeline:
    end = max(product.end, collective.end)
    pieces = cut((collective.start, collective.end), [(product.start, product.end)])
    network = [
        Drawn(
            key=f"collective {number}",
            lane=NETWORK,
            start=start,
            end=stop,
            label="exposed" if exposed else "collective",
            color="communication",
            exposed=exposed,
        )
        for number, (start, stop, exposed) in enumerate(pieces)
    ]
    drawn = Drawn(
        key="product",
        lane=COMPUTE,
        start=product.start,
        end=product.end,
        label="product",
        color="compute",
    )
    return Timeline(
        title="A product and a collective",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=NETWORK, label="network")),
        spans=(drawn, *network),
    )
