"""Pictures of the five schedules: all stacked, one in full, the parts of a step, the residue."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from engine.basis.text import say
from engine.basis.units import COUNT, SECONDS
from engine.basis.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.overlap.inputs import SCHEDULES
from engine.simulate.overlap_job import Job, streams
from engine.simulate.overlap_step import Outcome
from engine.simulate.stream_account import COMMUNICATION, cut, joined
from engine.simulate.streams import COMPUTE, NETWORK, SCALE_UP
from engine.simulate.streams import Span as Ran

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
    busy = joined((span.start, span.end) for span in computing)
    sending = joined(
        (span.start, span.end) for span in one.spans if span.op.stream in COMMUNICATION
    )
    pieces = [piece for stretch in sending for piece in cut(stretch, busy)]
    for number, (start, end, exposed) in enumerate(pieces):
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
    lanes = streams(work)
    busy = joined((span.start, span.end) for span in one.spans if span.op.stream == COMPUTE)
    spans = [piece for ran in one.spans for piece in _pieces(ran, busy, work.layers)]
    return Timeline(
        title=f"{SCHEDULES[schedule]}, operation by operation",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=one.seen.length * 1.02),
        lanes=tuple(Lane(key=name, label=_NAMES[name]) for name in lanes),
        spans=tuple(spans),
        caption=say(
            "The first micro-batches of one stage, simulated layer by layer."
            if work.layers == 1
            else "The first micro-batches of one stage, simulated in units of {k} layers.",
            k=(work.layers, COUNT),
        ),
        player=True,
    )


def _pieces(ran: Ran, busy: list[tuple[float, float]], layers: int) -> list[Span]:
    """Return one operation, cut where it stops or starts to be hidden; the last has its key."""
    if ran.end <= ran.start:
        return []
    op = ran.op
    parts = (
        [(ran.start, ran.end, False)] if op.stream == COMPUTE else cut((ran.start, ran.end), busy)
    )
    whole = _touching(parts)
    waits = tuple(dict.fromkeys(key for key in (*op.after, ran.waited_for) if key))
    return [
        Span(
            key=op.key if number == len(whole) else f"{op.key} ({number})",
            lane=op.stream,
            start=start,
            end=end,
            label=_named(op.label, layers),
            color="compute" if op.stream == COMPUTE else "communication",
            exposed=exposed,
            links=op.links[:2],
            after=waits if number == 1 else (),
        )
        for number, (start, end, exposed) in enumerate(whole, start=1)
    ]


def _touching(parts: list[tuple[float, float, bool]]) -> list[tuple[float, float, bool]]:
    """Return the pieces without those that rounding makes, neighbors of one kind as one."""
    kept = [part for part in parts if part[1] - part[0] > 1e-9] or parts[:1]
    for one, two in pairwise(tuple(kept)):
        if one[2] == two[2] and two in kept and one in kept:
            kept[kept.index(one) : kept.index(two) + 1] = [(one[0], two[1], one[2])]
    return kept


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
