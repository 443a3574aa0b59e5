"""The buckets on two streams, and what sticks out against their size and the model's."""

from engine.calculators.data_parallelism.bucket_napkin.inputs import (
    Inputs,
    Result,
)
from engine.core.outputs import Teller
from engine.core.text import Text
from engine.core.units import SECONDS, Seconds
from engine.core.views import Axis, Lane, Lines, Point, Series, Span, Timeline

_SHOWN = 16


def timeline(inputs: Inputs, result: Result) -> Timeline:
    """Return the last buckets of the backward pass."""
    ran = result.pieces()
    first = max(0, len(ran) - _SHOWN)
    shown = ran[first:]
    begin = ran[first - 1].ready if first else 0.0
    spans: list[Span] = []
    previous = begin
    for number, piece in enumerate(shown, first + 1):
        links = (f"bucket:{number}",)
        spans.append(_span(f"B{number}", "compute", (previous, piece.ready), links))
        spans += _sent(number, (piece.start, piece.end), ran[-1].ready, inputs, links)
        previous = piece.end if not inputs.overlap else piece.ready
    end = ran[-1].end
    caption: Text = "Hatched: nothing is computed meanwhile."
    if first:
        caption = f"The last {_SHOWN} buckets. Hatched: nothing is computed meanwhile."
    return Timeline(
        title="The backward pass and its buckets",
        axis=Axis(label="time", quantity=SECONDS, low=begin, high=end + (end - begin) * 0.02),
        lanes=(Lane(key="compute", label="compute"), Lane(key="reduce", label="reduce")),
        spans=tuple(spans),
        caption=caption,
        player=True,
    )


def _span(
    key: str,
    lane: str,
    times: tuple[Seconds, Seconds],
    links: tuple[str, ...],
    *,
    exposed: bool = False,
) -> Span:
    number = key.split()[0].lstrip("BR")
    return Span(
        key=key,
        lane=lane,
        start=times[0],
        end=times[1],
        label=number,
        color="compute" if lane == "compute" else "communication",
        exposed=exposed,
        links=links,
        called=f"bucket {number}, " + ("backward" if lane == "compute" else "reduction"),
    )


def _sent(
    number: int,
    times: tuple[Seconds, Seconds],
    backward: Seconds,
    inputs: Inputs,
    links: tuple[str, ...],
) -> list[Span]:
    """Return a reduction in up to two parts: beside computation, and exposed."""
    start, end = times
    if not inputs.overlap or start >= backward:
        return [_span(f"R{number}", "reduce", times, links, exposed=True)]
    if end <= backward:
        return [_span(f"R{number}", "reduce", times, links)]
    return [
        _span(f"R{number} (1)", "reduce", (start, backward), links),
        _span(f"R{number}", "reduce", (backward, end), links, exposed=True),
    ]


def curve(tell: Teller, inputs: Inputs, result: Result, name: str) -> Lines:
    """Return what is exposed over the range of an input: the bucket or the parameters."""
    found = result.curves[name]()
    xs, exposed, whole = found.x, found.exposed, found.isolated
    return Lines(
        title="Exposed reduction against the size of a bucket"
        if name == "bucket"
        else "Exposed reduction against the size of the model",
        x=tell.axis(
            name,
            "elements of a bucket" if name == "bucket" else "parameters",
            low=xs[0],
            high=xs[-1],
            scale="log",
        ),
        y=tell.axis("exposed", "time", low=min(exposed) / 2, high=max(whole) * 2, scale="log"),
        series=(
            Series(key="exposed", label="exposed", x=xs, y=exposed, color="communication"),
            Series(key="whole", label="all reductions", x=xs, y=whole, color="ink", dashed=True),
        ),
        points=(
            Point(
                key="now",
                label=tell.say(
                    "{exposed}, {buckets} buckets" if result.buckets > 1 else "{exposed}, 1 bucket"
                ),
                x=getattr(inputs, name),
                y=result.exposed,
            ),
        ),
        handle=name,
        caption="The line is for a full last bucket; a partly filled one exposes less. Both axes "
        "are logarithmic. Drag the handle.",
    )
