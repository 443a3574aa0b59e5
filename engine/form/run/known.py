"""What is known of a prediction: its range, and what was measured of the runs nearest to it."""

from dataclasses import replace
from typing import Any

from engine.basis.text import Sentence, Text, literal, say
from engine.basis.told import Teller
from engine.basis.units import COUNT, SECONDS, SHARE, TOKENS
from engine.basis.views import Value
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.nearby import Nearby
from engine.catalog.published_runs_sources import SOURCES
from engine.form.run.accuracy import ACCURACY
from engine.run.run import Run
from engine.simulate.nearest_runs import nearest
from engine.simulate.step_range import spread

_NO_RANGE = (
    "This is the length of a simulated order of operations, all layers alike. No published step "
    "was compared with it, so it has no range."
)


def known(run: Run) -> tuple[Text, ...]:
    """Return what every predicted step says of itself: its range, and runs measured nearby."""
    return near(run), *_own(run), *measured_nearby(run)


def ranged(
    tell: Teller,
    name: str,
    run: Run,
    *,
    assumes: tuple[Text, ...] = (),
    **changes: Any,  # noqa: ANN401 (as of `Teller.value`)
) -> Value:
    """Return a predicted step, or a rate, with its range under it and what is known behind it."""
    value = tell.value(name, assumes=(*assumes, *known(run)), **changes)
    return replace(value, note=in_range(tell, name, run, value.note))


def in_range(tell: Teller, name: str, run: Run, note: Text = "") -> Sentence:
    """Return a note with the range of a predicted step, or of a rate, behind it."""
    number, quantity = tell.number(name)
    found = spread(run)
    ends = (found.low, found.high) if quantity.second > 0 else (1 / found.high, 1 / found.low)
    before = note if isinstance(note, Sentence) else Sentence(literal(note))
    words = "a range from {range_low} to {range_high}" + ", widened" * bool(found.beyond)
    numbers = {
        name: (number * end, quantity)
        for name, end in zip(("range_low", "range_high"), ends, strict=True)
    }
    template = f"{before.template}; {words}" if before.template else words
    return Sentence(template, {**before.numbers, **numbers})


def _own(run: Run) -> tuple[Text, ...]:
    """Return what constants of the reader's own did: nothing on another GPU."""
    own = run.cluster.own
    if own is None:
        return ()
    if not own.of(run.cluster.gpu):
        return (f"Your own constants are of {ACCELERATORS[own.gpu].name}, and do not count here.",)
    words = "Your own constants stand for the catalog's, and explain {share} of the variance."
    return (say(words, share=(spread(run).explained, SHARE)),)


def unranged(run: Run) -> tuple[Text, ...]:
    """Return why a step that a simulator played has no range, and the runs measured nearby."""
    return _NO_RANGE, *_counted(run), *measured_nearby(run)


def _counted(run: Run) -> tuple[Text, ...]:
    own = run.cluster.own
    if own is None or not own.of(run.cluster.gpu):
        return _own(run)
    return ("Your own constants stand for the catalog's.",)


def memory_error() -> Sentence:
    """Return how far predicted peaks of memory are from published ones."""
    rows, mean, tail = ACCURACY["memory"]
    words = "On {rows} published peaks of memory the mean error is {mean}; nine in ten are within "
    return say(words + "{tail}.", rows=(rows, COUNT), mean=(mean, SHARE), tail=(tail, SHARE))


def near(run: Run) -> Sentence:
    """Return in what range four in five such steps lie, on what it rests, and what lies beyond."""
    found = spread(run)
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


def measured_nearby(run: Run) -> tuple[Sentence, ...]:
    """Return what was measured of the published runs nearest to a run."""
    return tuple(_measured(one) for one in nearest(run))


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
