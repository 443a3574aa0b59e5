"""What the sandbox shows of two plans: verdicts, bars, the way between them, configurations."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.calculators.reference.sandbox.inputs import MARKS
from engine.calculators.reference.sandbox.way import Station
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Seconds
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Code, Rule, Table
from engine.form.imported.exports import EXPORTS
from engine.form.memory_bar import parts_of
from engine.form.planner.pictures import step_bar
from engine.form.planner.plan_text import differing, name
from engine.form.run import verdicts
from engine.form.run.inputs import Inputs
from engine.run.doubts import Doubts
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.step.prediction_evidence import Evidence

# The export that suits a family of software.
_FORMATS = {"megatron": "megatron", "fsdp": "torchtitan-toml", "deepspeed": "deepspeed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A plan: the run nearest to its inputs, what had to change for it, memory and step."""

    run: Run
    doubts: Doubts
    evidence: Evidence
    changes: tuple[Text, ...]
    plan: Candidate


def verdict(first: Side, second: Side, parts: Mapping[str, Seconds], *, tied: bool) -> Badge:
    """Return which plan to take, and which parts of the step make the difference."""
    full = [letter for letter, one in (("A", first), ("B", second)) if not one.plan.fits]
    if full:
        sentence = _too_full(full, first, second)
        return Badge(text=f"{' and '.join(full)} too large", sentence=sentence, color="buffers")
    words, numbers = differing(parts, first.plan.step)
    share = (abs(second.plan.step / first.plan.step - 1), SHARE)
    if tied:
        said = "The predicted steps differ by {share}, and their ranges overlap"
        return Badge(
            text="A tie", sentence=_said(said, words, share=share, **numbers), color="muted"
        )
    longer = second.plan.step > first.plan.step
    said = f"B's step is {{share}} {'longer' if longer else 'shorter'}"
    return Badge(
        text="A is faster" if longer else "B is faster",
        sentence=_said(said, words, share=share, **numbers),
        color="compute",
    )


def _said(said: str, words: str, **numbers: tuple[float, object]) -> Text:
    told = words.replace("Per step:", "B compared with A, per step:")
    return say(f"{said}. {told}".strip(), **numbers)  # type: ignore[arg-type]


def _too_full(full: list[str], first: Side, second: Side) -> Text:
    sides = {"A": first, "B": second}
    over = {
        letter: (sides[letter].plan.held.total - sides[letter].plan.room, BYTES) for letter in full
    }
    words = " ".join(
        f"{letter} needs {{{letter}}} more than its GPUs have room for." for letter in full
    )
    return say(words, **over)


def possible(letter: str, side: Side) -> Badge:
    """Return whether software would run a plan as it is."""
    found = verdicts.possible(side.run, side.doubts, side.changes)
    return Badge(text=f"{letter}: {found.text}", sentence=found.sentence, color=found.color)


def _label(letter: str, side: Side) -> str:
    return letter if side.plan.fits else f"{letter}, which does not fit"


def steps(first: Side, second: Side) -> Bars:
    """Return both steps by what takes the time."""
    most = max(first.plan.step, second.plan.step)
    return Bars(
        title="Where both steps go",
        axis=Axis(label="one step", quantity=SECONDS, low=0.0, high=1.08 * most),
        bars=(
            step_bar("first", _label("A", first), first.plan),
            step_bar("second", _label("B", second), second.plan),
        ),
        caption=f"A: {name(first.run.plan, first.run.training)}. "
        f"B: {name(second.run.plan, second.run.training)}.",
    )


def memory(first: Side, second: Side) -> Bars:
    """Return what the fullest GPU of both holds, beside the room there is."""
    rooms = {first.plan.room: "may be filled"}
    if second.plan.room != first.plan.room:
        rooms = {first.plan.room: "room of A", second.plan.room: "room of B"}
    most = max(first.plan.held.total, second.plan.held.total, *rooms)
    return Bars(
        title="Memory of the fullest GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.08 * most),
        bars=(
            Bar(key="first", label="A", segments=parts_of(first.plan.held)),
            Bar(key="second", label="B", segments=parts_of(second.plan.held)),
        ),
        rules=tuple(
            Rule(key=f"room-{at}", label=words, axis="x", at=room)
            for at, (room, words) in enumerate(rooms.items())
        ),
    )


def changes(pair: tuple[Inputs, Inputs], first: Side, stations: tuple[Station, ...]) -> Table:
    """Return the way from A to B, one change after another."""
    rows: list[tuple[Cell, ...]] = [("Plan A", *_numbers(first.plan))]
    rows += [
        ("; ".join(_change(name, *pair) for name in one.changed), *_numbers(one.plan))
        for one in stations
    ]
    return Table(
        title="From A to B, one change after another",
        columns=("Change", "Step then", "Fullest GPU then", "Fits"),
        rows=tuple(rows),
        caption="In another order the single changes weigh differently; the end is the same. "
        "A change that makes no plan by itself is listed with the next one.",
    )


def _numbers(plan: Candidate) -> tuple[Cell, ...]:
    return (
        say("{t}", t=(plan.step, SECONDS)),
        say("{m}", m=(plan.held.total, BYTES)),
        "yes" if plan.fits else "no",
    )


def _change(name: str, before: Inputs, after: Inputs) -> str:
    mark = MARKS[name]
    old, new = (mark.show(getattr(one, name)) for one in (before, after))
    return f"{mark.label}: {old} → {new}"


def export(letter: str, side: Side) -> Code:
    """Return a plan as the configuration of its software."""
    one = EXPORTS[_FORMATS[side.run.training.framework]]
    return Code(title=f"{letter} for {one.title}", language=one.language, text=one.write(side.run))
