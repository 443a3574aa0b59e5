"""Views of two plans in the sandbox: verdicts, bars, changes between them, configurations."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.calculators.reference.sandbox.inputs import MARKS
from engine.calculators.reference.sandbox.way import ChangedPlan
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Seconds
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Code, Rule, Table
from engine.form.imported.exports import EXPORTS
from engine.form.memory_bar import memory_segments
from engine.form.planner.pictures import step_bar
from engine.form.planner.plan_text import differing_parts, plan_name
from engine.form.run import verdicts
from engine.form.run.inputs import Inputs
from engine.run.doubts import RunWarnings
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.step.prediction_evidence import Evidence

# The export that suits a family of software.
_FORMATS = {"megatron": "megatron", "fsdp": "torchtitan-toml", "deepspeed": "deepspeed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A plan: its nearest valid run, the adjusted inputs, memory and step."""

    run: Run
    doubts: RunWarnings
    evidence: Evidence
    changes: tuple[Text, ...]
    plan: Candidate


def verdict(first: Side, second: Side, parts: Mapping[str, Seconds], *, tied: bool) -> Badge:
    """Return the badge on the faster plan and the parts of the step that differ."""
    full = [letter for letter, side in (("A", first), ("B", second)) if not side.plan.fits]
    if full:
        sentence = _memory_sentence(full, first, second)
        return Badge(text=f"{' and '.join(full)} too large", sentence=sentence, color="buffers")
    words, numbers = differing_parts(parts, first.plan.step)
    share = (abs(second.plan.step / first.plan.step - 1), SHARE)
    if tied:
        said = "The predicted steps differ by {share}, and their ranges overlap"
        return Badge(
            text="A tie",
            sentence=_joined_sentence(said, words, share=share, **numbers),
            color="muted",
        )
    longer = second.plan.step > first.plan.step
    said = f"B's step is {{share}} {'longer' if longer else 'shorter'}"
    return Badge(
        text="A is faster" if longer else "B is faster",
        sentence=_joined_sentence(said, words, share=share, **numbers),
        color="compute",
    )


def _joined_sentence(said: str, words: str, **numbers: tuple[float, object]) -> Text:
    sentence = words.replace("Per step:", "B compared with A, per step:")
    return say(f"{said}. {sentence}".strip(), **numbers)  # type: ignore[arg-type]


def _memory_sentence(full: list[str], first: Side, second: Side) -> Text:
    sides = {"A": first, "B": second}
    over = {
        letter: (sides[letter].plan.memory.total - sides[letter].plan.capacity, BYTES)
        for letter in full
    }
    words = " ".join(
        f"{letter} needs {{{letter}}} more than its GPUs have room for." for letter in full
    )
    return say(words, **over)


def feasibility_badge(letter: str, side: Side) -> Badge:
    """Return whether software would run a plan as it is."""
    verdict = verdicts.possible_badge(side.run, side.doubts, side.changes)
    return Badge(text=f"{letter}: {verdict.text}", sentence=verdict.sentence, color=verdict.color)


def _label(letter: str, side: Side) -> str:
    return letter if side.plan.fits else f"{letter}, which does not fit"


def step_bars(first: Side, second: Side) -> Bars:
    """Return the bars of both steps by part."""
    most = max(first.plan.step, second.plan.step)
    return Bars(
        title="Where both steps go",
        axis=Axis(label="one step", quantity=SECONDS, low=0.0, high=1.08 * most),
        bars=(
            step_bar("first", _label("A", first), first.plan),
            step_bar("second", _label("B", second), second.plan),
        ),
        caption=f"A: {plan_name(first.run.plan, first.run.training)}. "
        f"B: {plan_name(second.run.plan, second.run.training)}.",
    )


def memory_bars(first: Side, second: Side) -> Bars:
    """Return the memory bars of the fullest GPU of both plans, beside the capacity."""
    rooms = {first.plan.capacity: "may be filled"}
    if second.plan.capacity != first.plan.capacity:
        rooms = {first.plan.capacity: "room of A", second.plan.capacity: "room of B"}
    most = max(first.plan.memory.total, second.plan.memory.total, *rooms)
    return Bars(
        title="Memory of the fullest GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.08 * most),
        bars=(
            Bar(key="first", label="A", segments=memory_segments(first.plan.memory)),
            Bar(key="second", label="B", segments=memory_segments(second.plan.memory)),
        ),
        rules=tuple(
            Rule(key=f"room-{at}", label=words, axis="x", at=room)
            for at, (room, words) in enumerate(rooms.items())
        ),
    )


def change_table(
    pair: tuple[Inputs, Inputs], first: Side, stations: tuple[ChangedPlan, ...]
) -> Table:
    """Return the table of changes from plan A to plan B."""
    rows: list[tuple[Cell, ...]] = [("Plan A", *_numbers(first.plan))]
    rows += [
        ("; ".join(_change(name, *pair) for name in station.changed), *_numbers(station.plan))
        for station in stations
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
        say("{m}", m=(plan.memory.total, BYTES)),
        "yes" if plan.fits else "no",
    )


def _change(name: str, before: Inputs, after: Inputs) -> str:
    mark = MARKS[name]
    old, new = (mark.show(getattr(plan, name)) for plan in (before, after))
    return f"{mark.label}: {old} → {new}"


def config_code(letter: str, side: Side) -> Code:
    """Return a plan as the configuration of its software."""
    exporter = EXPORTS[_FORMATS[side.run.training.framework]]
    return Code(
        title=f"{letter} for {exporter.title}",
        language=exporter.language,
        text=exporter.write(side.run),
    )
