"""Pictures of the five schedules: all stacked, one in full, the parts of a step, the residue."""

from collections.abc import Iterable, Mapping

from engine.core.text import say
from engine.core.units import COUNT, SECONDS
from engine.core.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.overlap.inputs import SCHEDULES
from engine.simulate.overlap.overlap_job import Job
from engine.simulate.overlap.overlap_step import Outcome
from engine.simulate.streams.exposed_time import Part
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP
from engine.simulate.streams.streams import Span as Ran

_NAMES = {COMPUTE: "compute", SCALE_UP: "NVLink", NETWORK: "network"}
_RESIDUE = (
    ("first", "first gather", "parameters"),
    ("between", "exposed in between", "communication"),
    ("last", "last reduction", "data"),
    ("contention", "contention", "memory"),
    ("bubble", "bubble", "pipeline"),
    ("slowest", "slowest GPU", "muted"),
)


def stacked(found: Mapping[str, Outcome]) -> Timeline:
    """Return the first two micro-batches under all schedules, two lanes each, on one axis."""
    end = max(one.seen.length for one in found.values())
    spans = [span for name, one in found.items() for span in _merged(name, one)]
    return Timeline(
        title="The same two micro-batches under five schedules",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=tuple(
            Lane(key=f"{name}:{kind}", label=text)
            for name, label in SCHEDULES.items()
            for kind, text in (("compute", label), ("communication", "network"))
        ),
        spans=tuple(spans),
        caption="One stage of the pipeline. Hatched: communication that it waits for.",
    )


def _merged(name: str, one: Outcome) -> Iterable[Span]:
    """Yield passes of whole micro-batches, and communication of all wires together."""
    computing = [span for span in one.spans if span.op.stream == COMPUTE]
    for number, (start, end, label) in enumerate(_passes(computing)):
        yield Span(
            key=f"{name} {number}",
            lane=f"{name}:compute",
            start=start,
            end=end,
            label=label,
            color="compute",
        )
    for number, (start, end, exposed) in enumerate(one.communicating):
        yield Span(
            key=f"{name} c{number}",
            lane=f"{name}:communication",
            start=start,
            end=end,
            label="exposed" if exposed else "hidden",
            color="communication",
            exposed=exposed,
        )


def _passes(computing: list[Ran]) -> list[tuple[float, float, str]]:
    """Return stretches of one kind of pass without a pause in between."""
    found: list[tuple[float, float, str]] = []
    for span in computing:
        label = "forward" if span.op.key.startswith("F") else "backward"
        if found and found[-1][2] == label and span.start - found[-1][1] < 1e-9:
            found[-1] = found[-1][0], span.end, label
        else:
            found.append((span.start, span.end, label))
    return found


def chosen(schedule: str, work: Job, one: Outcome) -> Timeline:
    """Return the schedule that the reader chose, operation by operation."""
    return Timeline(
        title=f"{SCHEDULES[schedule]}, operation by operation",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=one.seen.length * 1.02),
        lanes=tuple(Lane(key=name, label=_NAMES[name]) for name in work.streams),
        spans=tuple(_drawn(part, work.layers) for part in one.parts),
        caption=say(
            "The first micro-batches of one stage, simulated layer by layer."
            if work.layers == 1
            else "The first micro-batches of one stage, simulated in units of {k} layers.",
            k=(work.layers, COUNT),
        ),
        player=True,
    )


def _drawn(part: Part, layers: int) -> Span:
    op = part.ran.op
    waits = tuple(dict.fromkeys(key for key in (*op.after, part.ran.waited_for) if key))
    return Span(
        key=part.key,
        lane=op.stream,
        start=part.start,
        end=part.end,
        label=_named(op.label, layers),
        color="compute" if op.stream == COMPUTE else "communication",
        exposed=part.exposed,
        links=op.links[:2],
        after=waits if part.number == 1 else (),
    )


def _named(label: str, layers: int) -> str:
    """Return the label with the layers that a unit stands for."""
    head, found, number = label.rpartition("layer ")
    if layers == 1 or not found or not number.isdigit():
        return label
    last = int(number) * layers
    return f"{head}layers {last - layers + 1}\N{EN DASH}{last}"


def comparison(found: Mapping[str, Outcome]) -> Bars:
    """Return the whole step of every schedule, by what it is spent on."""
    parts = (
        ("compute", "compute", "compute"),
        ("exposed", "exposed", "communication"),
        ("contention", "contention", "memory"),
        ("bubble", "bubble", "pipeline"),
        ("slowest", "slowest GPU", "muted"),
    )
    high = max(one.step for one in found.values())
    return Bars(
        title="A whole step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(name, one, parts) for name, one in found.items()),
    )


def residue(found: Mapping[str, Outcome]) -> Bars:
    """Return what every schedule leaves, beside the computation itself."""
    high = max(one.residue for one in found.values())
    return Bars(
        title="What no schedule hides",
        axis=Axis(label="time beyond computing", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(name, one, _RESIDUE) for name, one in found.items()),
    )


def _bar(name: str, one: Outcome, parts: tuple[tuple[str, str, str], ...]) -> Bar:
    return Bar(
        key=name,
        label=SCHEDULES[name],
        segments=tuple(
            Segment(key=key, label=label, value=float(getattr(one, key)), color=color)
            for key, label, color in parts
        ),
    )
