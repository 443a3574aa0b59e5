"""Trace hunt: simulated traces with a planted fault; the reader says which, and sees the cost."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import Choice, Switch
from engine.basis.text import Text, say
from engine.basis.units import SECONDS, SHARE
from engine.basis.views import Badge, Challenge, Condition, Receipt, Value, View
from engine.calculators.whole_runs.trace_hunt.signs import SIGNS, signs
from engine.form.hunt.model import CASES, FAULTS, Played, play
from engine.form.hunt.timeline import exposed, ranks, timeline, utilization

TITLE = "Trace hunt"
QUESTION = "Which fault is in this trace, and what does it cost?"
_TARGET = 0.5
_OPEN = {"none": "I do not know yet", **FAULTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    case: Annotated[
        str,
        Choice(label="Trace", options={key: f"trace {key}" for key in CASES}),
    ] = "1"
    diagnosis: Annotated[str, Choice(label="My diagnosis", options=_OPEN)] = "none"
    second: Annotated[
        str,
        Choice(label="A second fault", options={**_OPEN, "none": "none"}, advanced=True),
    ] = "none"
    repair: Annotated[
        bool, Switch(label="Repair what I named", help="Show the step without these faults.")
    ] = False
    everyone: Annotated[
        bool, Switch(label="Traces of all ranks", help="Off: rank 0 alone, as most people record.")
    ] = True


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    named = frozenset({inputs.diagnosis, inputs.second} - {"none"})
    sick, without = play(inputs.case), play(inputs.case, named)
    healthy = play(inputs.case, frozenset(CASES[inputs.case]))
    seen = without if inputs.repair else sick
    return {
        "timeline": timeline(seen, everyone=inputs.everyone, high=sick.step),
        "verdict": _verdict(inputs, named, sick, without, healthy),
        **_values(seen, sick, without, named),
        "ranks": ranks(seen, everyone=inputs.everyone),
        "signs": signs(),
        "challenge": _challenge(inputs, seen),
    }


def _verdict(
    inputs: Inputs, named: frozenset[str], sick: Played, without: Played, healthy: Played
) -> Badge:
    guilty = frozenset(CASES[inputs.case])
    numbers = {
        "a": (sick.step, SECONDS),
        "b": (without.step, SECONDS),
        "h": (healthy.step, SECONDS),
    }
    if not named:
        words = "This step takes {a}. The same job without a fault takes {h}."
        return Badge(text="Unsolved", sentence=say(words, **numbers))
    names = " and ".join(FAULTS[key].lower() for key in FAULTS if key in named)
    if not named & guilty:
        looks = " ".join(SIGNS[key].looks for key in FAULTS if key in named)
        words = f"Without {names} the step still takes {{b}}. That would look different: {looks}"
        return Badge(text="Not guilty", sentence=say(words, **numbers))
    change = f"Without {names} the step takes {{b}} instead of {{a}}."
    if guilty - named:
        words = f"{change} A healthy one takes {{h}}: another fault is left."
        return Badge(text="Half of it", sentence=say(words, **numbers), color="communication")
    extra = " One of them was not there." if named - guilty else ""
    return Badge(text="Right", sentence=say(change + extra, **numbers), color="compute")


def _receipt(*assumptions: Text) -> Receipt:
    return Receipt(
        basis="simulated",
        assumptions=(
            *assumptions,
            "1.5 billion parameters, 16,384 tokens per GPU, 128 H100; four ranks are played, each "
            "collective is timed as a ring of 128 over one 400 Gb/s port each.",
            "Matrix kernels reach 60 % of the peak (assumed); recomputing nothing.",
        ),
        sources=("hta", "li2020"),
    )


def _values(seen: Played, sick: Played, without: Played, named: frozenset[str]) -> dict[str, View]:
    return {
        "step": Value(
            label="Step",
            value=seen.step,
            quantity=SECONDS,
            receipt=_receipt("Until the last rank has ended."),
        ),
        "mfu": Value(
            label="MFU",
            value=seen.mfu,
            quantity=SHARE,
            receipt=_receipt("Six operations per parameter and token, over peak and step."),
            color="compute",
        ),
        "cost": Value(
            label="Cost of what you named",
            value=sick.step - without.step,
            quantity=SECONDS,
            receipt=_receipt("The step with all faults minus the step without the named ones."),
            note="of every step" if named else "nothing named yet",
        ),
        "exposed": Value(
            label="Exposed on rank 0",
            value=exposed(seen, 0),
            quantity=SECONDS,
            receipt=_receipt("A collective runs or spins on rank 0 and nothing is computed there."),
            color="communication",
        ),
        "utilization": Value(
            label="Any kernel on rank 0",
            value=utilization(seen, 0),
            quantity=SHARE,
            receipt=_receipt("What nvidia-smi would call GPU utilization, over this step."),
        ),
    }


def _challenge(inputs: Inputs, seen: Played) -> Challenge:
    return Challenge(
        title="Challenge: two faults in one trace",
        goal="Trace 8 has two faults. Name both, repair them, and bring the MFU above 50 percent.",
        conditions=(
            Condition(text="trace 8", met=inputs.case == "8"),
            Condition(text="two faults named, and repaired", met=_both(inputs)),
            Condition(text=say("MFU above {q}", q=(_TARGET, SHARE)), met=seen.mfu > _TARGET),
        ),
        hints=(
            "Is there a time at which no rank has anything to do?",
            "Compare the ranks: who spins least?",
            "The field for a second fault is among the folded inputs.",
        ),
        start={"case": "8"},
        solution={"case": "8", "diagnosis": "loader", "second": "straggler", "repair": True},
    )


def _both(inputs: Inputs) -> bool:
    return "none" not in (inputs.diagnosis, inputs.second) and inputs.repair
