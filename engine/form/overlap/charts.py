"""Charts of overlap schedules: timelines, step bars, residue bars."""

from collections.abc import Iterable, Mapping

from engine.core.text import say
from engine.core.units import COUNT, SECONDS
from engine.core.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.overlap.inputs import SCHEDULES
from engine.simulate.overlap.overlap_job import OverlapJob
from engine.simulate.overlap.overlap_step import ScheduleOutcome
from engine.simulate.streams.exposed_time import SpanPart
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP
from engine.simulate.streams.streams import OpSpan as Ran

_NAMES = {COMPUTE: "compute", SCALE_UP: "NVLink", NETWORK: "network"}
_RESIDUE = (
    ("first", "first gather", "parameters"),
    ("between", "exposed in between", "communication"),
    ("last", "last reduction", "data"),
    ("contention", "contention", "memory"),
    ("bubble", "bubble", "pipeline"),
    ("slowest", "slowest GPU", "muted"),
)


def schedules_timeline(outcomes: Mapping[str, ScheduleOutcome]) -> Timeline:
    """Return the first two micro-batches under every schedule, two lanes each."""
    end = max(outcome.account.length for outcome in outcomes.values())
    spans = [span for name, outcome in outcomes.items() for span in _merged_spans(name, outcome)]
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


def _merged_spans(name: str, outcome: ScheduleOutcome) -> Iterable[Span]:
    """Yield passes of whole micro-batches, and communication of all wires together."""
    computing = [span for span in outcome.spans if span.op.stream == COMPUTE]
    for number, (start, end, label) in enumerate(_merge_passes(computing)):
        yield Span(
            key=f"{name} {number}",
            lane=f"{name}:compute",
            start=start,
            end=end,
            label=label,
            color="compute",
        )
    for number, (start, end, exposed) in enumerate(outcome.communicating):
        yield Span(
            key=f"{name} c{number}",
            lane=f"{name}:communication",
            start=start,
            end=end,
            label="exposed" if exposed else "hidden",
            color="communication",
            exposed=exposed,
        )


def _merge_passes(computing: list[Ran]) -> list[tuple[float, float, str]]:
    """Return contiguous stretches of the same kind of pass."""
    stretches: list[tuple[float, float, str]] = []
    for span in computing:
        label = "forward" if span.op.key.startswith("F") else "backward"
        if stretches and stretches[-1][2] == label and span.start - stretches[-1][1] < 1e-9:
            stretches[-1] = stretches[-1][0], span.end, label
        else:
            stretches.append((span.start, span.end, label))
    return stretches


def schedule_timeline(schedule: str, work: OverlapJob, outcome: ScheduleOutcome) -> Timeline:
    """Return one schedule, operation by operation."""
    return Timeline(
        title=f"{SCHEDULES[schedule]}, operation by operation",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=outcome.account.length * 1.02),
        lanes=tuple(Lane(key=name, label=_NAMES[name]) for name in work.streams),
        spans=tuple(_drawn(part, work.layers) for part in outcome.parts),
        caption=say(
            "The first micro-batches of one stage, simulated layer by layer."
            if work.layers == 1
            else "The first micro-batches of one stage, simulated in units of {k} layers.",
            k=(work.layers, COUNT),
        ),
        player=True,
    )


def _drawn(part: SpanPart, layers: int) -> Span:
    op = part.ran.op
    waits = tuple(dict.fromkeys(key for key in (*op.after, part.ran.waited_for) if key))
    return Span(
        key=part.key,
        lane=op.stream,
        start=part.start,
        end=part.end,
        label=_unit_label(op.label, layers),
        color="compute" if op.stream == COMPUTE else "communication",
        exposed=part.exposed,
        links=op.links[:2],
        after=waits if part.number == 1 else (),
    )


def _unit_label(label: str, layers: int) -> str:
    """Return the label with the layers of a unit."""
    head, separator, number = label.rpartition("layer ")
    if layers == 1 or not separator or not number.isdigit():
        return label
    last = int(number) * layers
    return f"{head}layers {last - layers + 1}\N{EN DASH}{last}"


def step_bars(outcomes: Mapping[str, ScheduleOutcome]) -> Bars:
    """Return the step of every schedule, split into its parts."""
    parts = (
        ("compute", "compute", "compute"),
        ("exposed", "exposed", "communication"),
        ("contention", "contention", "memory"),
        ("bubble", "bubble", "pipeline"),
        ("slowest", "slowest GPU", "muted"),
    )
    high = max(outcome.step for outcome in outcomes.values())
    return Bars(
        title="A whole step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(name, outcome, parts) for name, outcome in outcomes.items()),
    )


def residue_bars(outcomes: Mapping[str, ScheduleOutcome]) -> Bars:
    """Return the exposed communication of every schedule."""
    high = max(outcome.residue for outcome in outcomes.values())
    return Bars(
        title="What no schedule hides",
        axis=Axis(label="time beyond computing", quantity=SECONDS, low=0.0, high=high * 1.05),
        bars=tuple(_bar(name, outcome, _RESIDUE) for name, outcome in outcomes.items()),
    )


def _bar(name: str, outcome: ScheduleOutcome, parts: tuple[tuple[str, str, str], ...]) -> Bar:
    return Bar(
        key=name,
        label=SCHEDULES[name],
        segments=tuple(
            Segment(key=key, label=label, value=float(getattr(outcome, key)), color=color)
            for key, label, color in parts
        ),
    )
