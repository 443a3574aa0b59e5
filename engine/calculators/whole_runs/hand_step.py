"""A training step by hand: prediction, log and trace."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import MILLISECONDS, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import MILLI, SECONDS, Count, Ratio, Seconds, TokenRate
from engine.core.views import Axis, Badge, Bar, Bars, Lane, Segment, Span, Timeline
from engine.simulate.streams.short_step import TOKENS, short_step
from engine.simulate.streams.stream_account import Piece, StepAccount, exposed_pieces
from engine.simulate.streams.streams import COMPUTE, LAUNCH, NETWORK
from engine.simulate.streams.streams import OpSpan as Ran

TITLE = "A step by hand"
QUESTION = "What do a prediction, a log and a trace say of one step?"
HEADLINE = "measured"
PRESETS = {
    "As predicted": {"network": 1.0},
    "Slow products": {"network": 1.0, "products": 0.8},
    "A late host": {"network": 1.0, "late": 3 * MILLI},
}
_STEP = (
    "Forward 4 ms, the backward pass of two layers 4 ms each, their reductions 3 ms each, the "
    "optimizer 2 ms; the reductions follow one another, and the optimizer waits for both.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    network: Annotated[
        float,
        Number(
            label="Your network over the predicted one",
            low=0.25,
            high=2.0,
            step=0.05,
            symbol="b",
        ),
    ] = 0.5
    products: Annotated[
        float,
        Number(
            label="Your products over the predicted ones",
            low=0.25,
            high=2.0,
            step=0.05,
        ),
    ] = 1.0
    late: Annotated[
        float,
        Number(label="The host is late by", unit=MILLISECONDS, low=0.0, high=0.01, step=5e-4),
    ] = 0.0


def _output(label: str, note: str = "", color: str = "ink") -> Output:
    return Output(label, "", note, color, _STEP, basis="simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The predicted and the simulated step; each span's pieces mark exposed time."""

    ran: tuple[Ran, ...]
    pieces: tuple[list[Piece], ...]
    parts: StepAccount
    as_predicted: StepAccount
    predicted: Annotated[
        Seconds, _output("The configuration predicts", "{predicted_exposed} of it exposed")
    ]
    predicted_exposed: Seconds
    measured: Annotated[Seconds, _output("The log says", "{rate} for {tokens} tokens a step")]
    longer: Annotated[Ratio, _output("Measured over predicted")]
    rate: Annotated[TokenRate, _output("Tokens per second, as the log prints them")]
    tokens: Annotated[Count, _output("Tokens of a step")]
    compute: Annotated[Seconds, _output("The trace: computation", color="compute")]
    exposed: Annotated[
        Seconds, _output("Exposed communication", "{hidden} more is hidden", "communication")
    ]
    hidden: Annotated[Seconds, _output("Hidden communication", color="communication")]
    idle: Annotated[Seconds, _output("Idle", "the GPU waits for the host", "idle")]


def solve(inputs: Inputs) -> Result:
    """Return the predicted and the simulated step."""
    plan = short_step().parts
    step = short_step(inputs.products, inputs.network, inputs.late)
    parts = step.parts
    return Result(
        ran=step.spans,
        pieces=tuple(_pieces(span, step.spans) for span in step.spans),
        parts=parts,
        as_predicted=plan,
        predicted=plan.length,
        predicted_exposed=plan.exposed,
        measured=parts.length,
        longer=parts.length / plan.length,
        rate=TOKENS / parts.length,
        tokens=TOKENS,
        compute=parts.compute,
        exposed=parts.exposed,
        hidden=parts.hidden,
        idle=parts.idle,
    )


def _pieces(span: Ran, spans: tuple[Ran, ...]) -> list[Piece]:
    if span.op.stream == NETWORK:
        return exposed_pieces(span, spans)
    return [(span.start, span.end, False)]


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        **present.values("measured", "longer"),
        "cause": _cause(present, result),
        "timeline": partial(_timeline, present, result),
        "bars": partial(_bars, result),
        **present.values("predicted", "rate", "tokens"),
        **present.values("compute", "exposed", "hidden", "idle"),
    }


def _cause(present: Presenter, result: Result) -> Badge:
    """Return the part that grew most over the prediction."""
    plan, parts = result.as_predicted, result.parts
    grown = {
        "Computation": parts.compute - plan.compute,
        "Exposed communication": parts.exposed - plan.exposed,
        "Idle time": parts.idle - plan.idle,
    }
    name = max(grown, key=lambda part: grown[part])
    if grown[name] < 1e-9:
        return Badge(
            text="As predicted, or faster",
            sentence=present.say("{measured} against {predicted}; no part is longer."),
            color="compute",
        )
    colors = {"Computation": "compute", "Idle time": "idle"}
    return Badge(
        text=f"{name} grew most",
        sentence=present.say("By {g}, in a step of {measured}.", g=(grown[name], SECONDS)),
        color=colors.get(name, "communication"),
    )


def _timeline(present: Presenter, result: Result) -> Timeline:
    spans = []
    for ran, pieces in zip(result.ran, result.pieces, strict=True):
        spans += [
            Span(
                key=f"{ran.op.key}, {number}",
                lane=ran.op.stream,
                start=start,
                end=end,
                label=ran.op.label,
                color=_COLORS[ran.op.stream],
                exposed=exposed,
            )
            for number, (start, end, exposed) in enumerate(pieces)
            if end > start
        ]
    end = result.measured * 1.02
    return Timeline(
        title="The step as a trace shows it",
        axis=present.axis("measured", "time", low=0.0, high=end),
        lanes=(
            Lane(key=LAUNCH, label="host"),
            Lane(key=COMPUTE, label="compute"),
            Lane(key=NETWORK, label="network"),
        ),
        spans=tuple(spans),
    )


_COLORS = {LAUNCH: "muted", COMPUTE: "compute", NETWORK: "communication"}


def _bars(result: Result) -> Bars:
    pairs = (("predicted", result.as_predicted), ("measured", result.parts))
    return Bars(
        title="Part by part",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=1.05 * max(parts.length for _, parts in pairs),
        ),
        bars=tuple(Bar(key=key, label=key, segments=_segments(parts)) for key, parts in pairs),
    )


def _segments(parts: StepAccount) -> tuple[Segment, ...]:
    return (
        Segment(key="compute", label="computation", value=parts.compute, color="compute"),
        Segment(
            key="exposed", label="exposed communication", value=parts.exposed, color="communication"
        ),
        Segment(key="idle", label="idle", value=parts.idle, color="idle"),
    )
