"""Uncertainty of a prediction as text: its range, and nearby measured runs."""

from dataclasses import replace
from typing import Any

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nearest_runs import NearbyRun
from engine.catalog.published_runs_sources import SOURCES
from engine.core.outputs import Presenter
from engine.core.text import Sentence, Text, escape_braces, say
from engine.core.units import COUNT, SECONDS, SHARE, TOKENS
from engine.core.views import Value
from engine.form.run.accuracy import ACCURACY
from engine.simulate.step.prediction_evidence import Evidence

_NO_RANGE = (
    "This is the length of a simulated order of operations, all layers alike. No published step "
    "was compared with it, so it has no range."
)


def evidence_assumptions(evidence: Evidence) -> tuple[Text, ...]:
    """Return the receipt texts of a predicted step: its range, and nearby measured runs."""
    return range_text(evidence), *_own_constants_text(evidence), *_nearby_runs_text(evidence)


def value_with_range(
    present: Presenter,
    name: str,
    evidence: Evidence,
    *,
    assumes: tuple[Text, ...] = (),
    **changes: Any,  # noqa: ANN401 (as of `Presenter.value`)
) -> Value:
    """Return a predicted step, or rate, with its range as a note."""
    value = present.value(name, assumes=(*assumes, *evidence_assumptions(evidence)), **changes)
    return replace(value, note=range_note(present, name, evidence, value.note))


def range_note(present: Presenter, name: str, evidence: Evidence, note: Text = "") -> Sentence:
    """Return a note extended by the range of a predicted step or rate."""
    number, quantity = present.number(name)
    spread = evidence().spread
    ends = (spread.low, spread.high) if quantity.second > 0 else (1 / spread.high, 1 / spread.low)
    before = note if isinstance(note, Sentence) else Sentence(escape_braces(note))
    words = "a range from {range_low} to {range_high}" + ", widened" * bool(spread.beyond)
    numbers = {
        name: (number * end, quantity)
        for name, end in zip(("range_low", "range_high"), ends, strict=True)
    }
    template = f"{before.template}; {words}" if before.template else words
    return Sentence(template, {**before.numbers, **numbers})


def _own_constants_text(evidence: Evidence) -> tuple[Text, ...]:
    """Return the effect of the reader's own constants; none on another GPU."""
    cluster = evidence().run.cluster
    if cluster.own_constants is None:
        return ()
    if not cluster.own_constants.of(cluster.gpu):
        name = ACCELERATORS[cluster.own_constants.gpu].name
        return (f"Your own constants are of {name}, and do not count here.",)
    words = "Your own constants stand for the catalog's, and explain {share} of the variance."
    return (say(words, share=(evidence().spread.explained, SHARE)),)


def no_range_assumptions(evidence: Evidence) -> tuple[Text, ...]:
    """Return the reasons for which a simulated step has no range, and nearby measured runs."""
    return _NO_RANGE, *_counted(evidence), *_nearby_runs_text(evidence)


def _counted(evidence: Evidence) -> tuple[Text, ...]:
    cluster = evidence().run.cluster
    if cluster.own_constants is None or not cluster.own_constants.of(cluster.gpu):
        return _own_constants_text(evidence)
    return ("Your own constants stand for the catalog's.",)


def memory_error_text() -> Sentence:
    """Return the error of predicted memory peaks against published ones."""
    rows, mean, tail = ACCURACY["memory"]
    words = "On {rows} published peaks of memory the mean error is {mean}; nine in ten are within "
    return say(words + "{tail}.", rows=(rows, COUNT), mean=(mean, SHARE), tail=(tail, SHARE))


def range_text(evidence: Evidence) -> Sentence:
    """Return the range of four in five such steps, its basis, and extrapolations."""
    spread = evidence().spread
    words = "Four in five unseen runs of this kind ({runs} of {name}) took between {less} less and "
    words += "{more} more than predicted."
    if spread.beyond:
        words = (
            f"The range is widened, from {spread.low:.2f} to {spread.high:.2f} times this step. "
        )
        words += " ".join(spread.beyond) + " The {runs} runs nearest in kind are of {name}."
        return say(words.replace("{name}", spread.name), runs=(spread.runs, COUNT))
    return say(
        words.replace("{name}", spread.name),
        runs=(spread.runs, COUNT),
        less=(1 - spread.low, SHARE),
        more=(spread.high - 1, SHARE),
    )


def _nearby_runs_text(evidence: Evidence) -> tuple[Sentence, ...]:
    """Return the measurements of the published runs nearest to a run."""
    return tuple(map(_nearby_run_text, evidence().nearest))


def _nearby_run_text(nearby: NearbyRun) -> Sentence:
    sizes = {
        "TP": nearby.tensor, "PP": nearby.pipeline, "CP": nearby.context, "EP": nearby.expert
    }  # fmt: skip
    plan = " ".join(f"{key}{size}" for key, size in sizes.items() if size > 1)
    plan += f"{' ' if plan else ''}ZeRO-{nearby.zero}" if nearby.zero else ""
    precision = {16: "16 bits", 8: "fp8", 4: "fp4"}[nearby.bits]
    source = tuple(SOURCES.values())[nearby.source][1]
    return say(
        f"Measured nearby: {nearby.name} on {{gpus}} {nearby.gpu} in {precision}, "
        f"{plan or 'no split'}, {{batch}} sequences of {{length}}: {{time}} ({source}).",
        gpus=(nearby.gpus, COUNT),
        batch=(nearby.batch, COUNT),
        length=(nearby.length, TOKENS),
        time=(nearby.time, SECONDS),
    )
