"""What is known of a prediction: its range, and what was measured of the runs nearest to it."""

from dataclasses import replace
from typing import Any

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nearest_runs import Nearby
from engine.catalog.published_runs_sources import SOURCES
from engine.core.outputs import Teller
from engine.core.text import Sentence, Text, literal, say
from engine.core.units import COUNT, SECONDS, SHARE, TOKENS
from engine.core.views import Value
from engine.form.run.accuracy import ACCURACY
from engine.simulate.step.prediction_evidence import Evidence

_NO_RANGE = (
    "This is the length of a simulated order of operations, all layers alike. No published step "
    "was compared with it, so it has no range."
)


def known(evidence: Evidence) -> tuple[Text, ...]:
    """Return what every predicted step says of itself: its range, and runs measured nearby."""
    return near(evidence), *_own(evidence), *_measured_nearby(evidence)


def ranged(
    tell: Teller,
    name: str,
    evidence: Evidence,
    *,
    assumes: tuple[Text, ...] = (),
    **changes: Any,  # noqa: ANN401 (as of `Teller.value`)
) -> Value:
    """Return a predicted step, or a rate, with its range under it and what is known behind it."""
    value = tell.value(name, assumes=(*assumes, *known(evidence)), **changes)
    return replace(value, note=in_range(tell, name, evidence, value.note))


def in_range(tell: Teller, name: str, evidence: Evidence, note: Text = "") -> Sentence:
    """Return a note with the range of a predicted step, or of a rate, behind it."""
    number, quantity = tell.number(name)
    found = evidence().spread
    ends = (found.low, found.high) if quantity.second > 0 else (1 / found.high, 1 / found.low)
    before = note if isinstance(note, Sentence) else Sentence(literal(note))
    words = "a range from {range_low} to {range_high}" + ", widened" * bool(found.beyond)
    numbers = {
        name: (number * end, quantity)
        for name, end in zip(("range_low", "range_high"), ends, strict=True)
    }
    template = f"{before.template}; {words}" if before.template else words
    return Sentence(template, {**before.numbers, **numbers})


def _own(evidence: Evidence) -> tuple[Text, ...]:
    """Return what constants of the reader's own did: nothing on another GPU."""
    cluster = evidence().run.cluster
    if cluster.own is None:
        return ()
    if not cluster.own.of(cluster.gpu):
        name = ACCELERATORS[cluster.own.gpu].name
        return (f"Your own constants are of {name}, and do not count here.",)
    words = "Your own constants stand for the catalog's, and explain {share} of the variance."
    return (say(words, share=(evidence().spread.explained, SHARE)),)


def unranged(evidence: Evidence) -> tuple[Text, ...]:
    """Return why a step that a simulator played has no range, and the runs measured nearby."""
    return _NO_RANGE, *_counted(evidence), *_measured_nearby(evidence)


def _counted(evidence: Evidence) -> tuple[Text, ...]:
    cluster = evidence().run.cluster
    if cluster.own is None or not cluster.own.of(cluster.gpu):
        return _own(evidence)
    return ("Your own constants stand for the catalog's.",)


def memory_error() -> Sentence:
    """Return how far predicted peaks of memory are from published ones."""
    rows, mean, tail = ACCURACY["memory"]
    words = "On {rows} published peaks of memory the mean error is {mean}; nine in ten are within "
    return say(words + "{tail}.", rows=(rows, COUNT), mean=(mean, SHARE), tail=(tail, SHARE))


def near(evidence: Evidence) -> Sentence:
    """Return in what range four in five such steps lie, on what it rests, and what lies beyond."""
    found = evidence().spread
    words = "Four in five unseen runs of this kind ({runs} of {name}) took between {less} less and "
    words += "{more} more than predicted."
    if found.beyond:
        words = f"The range is widened, from {found.low:.2f} to {found.high:.2f} times this step. "
        words += " ".join(found.beyond) + " The {runs} runs nearest in kind are of {name}."
        return say(words.replace("{name}", found.name), runs=(found.runs, COUNT))
    return say(
        words.replace("{name}", found.name),
        runs=(found.runs, COUNT),
        less=(1 - found.low, SHARE),
        more=(found.high - 1, SHARE),
    )


def _measured_nearby(evidence: Evidence) -> tuple[Sentence, ...]:
    """Return what was measured of the published runs nearest to a run."""
    return tuple(map(_measured, evidence().nearest))


def _measured(one: Nearby) -> Sentence:
    sizes = {
        "TP": one.tensor, "PP": one.pipeline, "CP": one.context, "EP": one.expert
    }  # fmt: skip
    plan = " ".join(f"{key}{size}" for key, size in sizes.items() if size > 1)
    plan += f"{' ' if plan else ''}ZeRO-{one.zero}" if one.zero else ""
    precision = {16: "16 bits", 8: "fp8", 4: "fp4"}[one.bits]
    source = tuple(SOURCES.values())[one.source][1]
    return say(
        f"Measured nearby: {one.name} on {{gpus}} {one.gpu} in {precision}, {plan or 'no split'}, "
        f"{{batch}} sequences of {{length}}: {{time}} ({source}).",
        gpus=(one.gpus, COUNT),
        batch=(one.batch, COUNT),
        length=(one.length, TOKENS),
        time=(one.time, SECONDS),
    )
