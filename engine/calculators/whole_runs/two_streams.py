"""Two streams: a matrix product and a concurrent collective, as simulated."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import MILLISECONDS, PERCENT, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import MILLI, Seconds
from engine.core.views import Grip, Lane, Span, Timeline
from engine.simulate.overlap.overlap_contention import Piece, simulate_overlapped_pair
from engine.simulate.streams.streams import COMPUTE, NETWORK

TITLE = "One product, one collective"
QUESTION = "When does a product end that a collective slows down for a while?"
HEADLINE = "end"
_STEP = 1 * MILLI  # of the times, in the form and where they are dragged
_BESIDE = (
    "Beside the collective the product does {done} of its work in {together}; the rest at full "
    "speed.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    product: Annotated[
        float,
        Number(label="Product, alone", unit=MILLISECONDS, low=1e-3, high=0.05, step=_STEP),
    ] = 10 * MILLI
    collective: Annotated[
        float,
        Number(label="Collective, alone", unit=MILLISECONDS, low=0.0, high=0.05, step=_STEP),
    ] = 6 * MILLI
    start: Annotated[
        float,
        Number(
            label="The collective starts after", unit=MILLISECONDS, low=0.0, high=0.05, step=_STEP
        ),
    ] = 0.0
    slow_down: Annotated[
        float, Number(label="Contention", unit=PERCENT, low=0.0, high=1.0, step=0.01, symbol="c")
    ] = 0.5


def _output(label: str, note: str, color: str = "ink") -> Output:
    return Output(label, note=note, color=color, assumes=_BESIDE, basis="simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """End times of both operations, and their mutual slowdown."""

    end: Annotated[
        Seconds, _output("The product ends after", "{slow_down} contention", color="compute")
    ]
    done: Annotated[
        Seconds,
        _output("Done beside the collective", "of the product's time alone", color="compute"),
    ]
    contention: Annotated[Seconds, _output("Contention", "longer than alone")]
    exposed: Annotated[
        Seconds,
        _output("Exposed", "of the collective, after the product", color="communication"),
    ]
    together: Seconds
    last: Seconds
    product: tuple[Seconds, Seconds]
    pieces: tuple[Piece, ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    overlap = simulate_overlapped_pair(
        inputs.product, inputs.collective, inputs.start, inputs.slow_down
    )
    return Result(
        end=overlap.product.end,
        done=overlap.done,
        contention=overlap.contention,
        exposed=overlap.exposed,
        together=overlap.together,
        last=max(overlap.product.end, overlap.collective.end),
        product=(overlap.product.start, overlap.product.end),
        pieces=overlap.pieces,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("end", "done", "contention", "exposed"),
        "timeline": partial(_timeline, present, inputs, result),
    }


def _timeline(present: Presenter, inputs: Inputs, result: Result) -> Timeline:
    given = Presenter(inputs)
    start, end = result.product
    until = max((stop for _, stop, _ in result.pieces), default=inputs.start)
    product = Span(
        key="product", lane=COMPUTE, start=start, end=end, label="product", color="compute"
    )
    network = [
        Span(
            key=f"collective {number}",
            lane=NETWORK,
            start=start,
            end=stop,
            label="exposed" if exposed else "collective",
            color="communication",
            exposed=exposed,
        )
        for number, (start, stop, exposed) in enumerate(result.pieces)
    ]
    return Timeline(
        title="A product and a collective",
        axis=present.axis("last", "time", low=0.0, high=result.last * 1.02),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=NETWORK, label="network")),
        spans=(product, *network),
        caption="Drag where the collective begins and where either ends.",
        grips=tuple(
            Grip(input=name, lane=lane, at=at, notch=_STEP, label=label, text=given.say(text))
            for name, lane, at, label, text in (
                ("product", COMPUTE, end, "End of the product", "{product} alone"),
                ("start", NETWORK, inputs.start, "Begin of the collective", "after {start}"),
                ("collective", NETWORK, until, "End of the collective", "{collective} alone"),
            )
        ),
    )
