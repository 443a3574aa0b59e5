"""What the step composer shows: every number of the composed step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.calculators.whole_runs.step_composer.inputs import Inputs
from engine.core.outputs import Told
from engine.core.units import Count, Seconds, Share
from engine.form.missing_range import UNRANGED
from engine.simulate.streams.composed_step import Composed, Times, composed, time_of, waits
from engine.simulate.streams.stream_account import Piece, exposed_pieces
from engine.simulate.streams.stream_orders import LAYERS, plan
from engine.simulate.streams.streams import COMPUTE

RULES: tuple[str, ...] = (
    "Each stream works in order, one operation at a time. A forward pass waits for its gather and "
    "the layer before, a backward pass for its gather and the layer behind, a reduction for its "
    "backward pass.",
    "The top layer is kept from its forward to its backward pass. Collectives slow nothing down.",
    UNRANGED,
)
_ROOM = "A layer takes its room from the start of its gather to the end of its last use."
_BOUND = "A lower bound: with little room even the best order may stay above it."
_SHARDED = ("rajbhandari2020", "zhao2023")


def _simulated(label: str, note: str, color: str = "ink") -> Told:
    return Told(label, note=note, color=color, assumes=RULES, sources=_SHARDED, basis="simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The composed step.

    Attributes:
        computing: share of the step.
        last_layers, wire, update, first, passes: parts of the bound (`LEAST_STEP`).
        causes: what is waited for on the longest chain, by cause, and how long.
        step: all of it.
        pieces: of each operation that takes time, exposed or not.
    """

    step_time: Annotated[Seconds, _simulated("Step", "{computing} of it computing")]
    exposed: Annotated[
        Seconds,
        _simulated(
            "Exposed communication", "a collective runs and nothing is computed", "communication"
        ),
    ]
    peak: Annotated[
        Count,
        Told(
            "Gathered layers, at most",
            note=f"of {LAYERS}, at one time",
            color="parameters",
            assumes=(_ROOM, *RULES),
            sources=("zhao2023",),
            basis="simulated",
        ),
    ]
    least: Annotated[
        Seconds,
        Told(
            "No order is faster than",
            "T",
            "with these times",
            assumes=(_BOUND,),
            sources=("rajbhandari2020",),
        ),
    ]
    computing: Share
    last_layers: Annotated[Seconds, Told(symbol="a")]
    wire: Annotated[Seconds, Told(symbol="m")]
    update: Annotated[Seconds, Told(symbol="u")]
    first: Annotated[Seconds, Told(symbol="g")]
    passes: Annotated[Seconds, Told(symbol="c")]
    causes: dict[str, tuple[tuple[str, ...], Seconds]]
    step: Composed
    pieces: Mapping[str, list[Piece]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page; an order that cannot run is repaired."""
    clipped = inputs.clipped
    times = Times(
        gather=inputs.gather,
        reduction=inputs.reduction,
        forward=inputs.forward,
        backward=inputs.backward,
        optimizer=inputs.optimizer,
    )
    orders = plan(inputs.compute, inputs.communication, inputs.room, clipped=clipped)
    step = composed(orders, times, inputs.room, clipped=clipped)
    return Result(
        step_time=step.length,
        exposed=step.seen.exposed,
        peak=max(count for _, count in step.held),
        least=step.least,
        computing=step.seen.compute / step.length,
        last_layers=step.parts["a"],
        wire=step.parts["m"],
        update=step.parts["u"],
        first=step.parts["g"],
        passes=step.parts["c"],
        causes={cause: (names, time_of(step, names)) for cause, names in waits(step).items()},
        step=step,
        pieces={name: _pieces(step, name) for name in step.spans},
    )


def _pieces(step: Composed, name: str) -> list[Piece]:
    ran = step.spans[name]
    pieces = [(ran.start, ran.end, False)]
    if ran.op.stream != COMPUTE and ran.end > ran.start:
        pieces = exposed_pieces(ran, step.spans.values())
    return [piece for piece in pieces if piece[1] - piece[0] > 1e-9]
