"""Trace hunt: simulated traces with a planted fault; the reader says which, and sees the cost."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.trace_hunt.signs import SIGNS, signs
from engine.calculators.whole_runs.trace_hunt.timeline import ranks, timeline
from engine.core.inputs import Choice, Switch
from engine.core.outputs import Teller, Told, Views
from engine.core.text import say
from engine.core.units import SHARE, Seconds, Share, as_given
from engine.core.views import Badge, Challenge, Condition
from engine.form.missing_range import MADE_UP
from engine.simulate.data_parallel.trace_hunt import CASES, FAULTS, Played, play

TITLE = "Trace hunt"
QUESTION = "Which fault is in this trace, and what does it cost?"
_TARGET: Share = 0.5
_JOB = (
    "1.5 billion parameters, 16,384 tokens per GPU, 128 H100; four ranks are played, each "
    "collective is timed as a ring of 128 over one 400 Gb/s port each.",
    "Matrix kernels reach 60 % of the peak (assumed); recomputing nothing.",
    MADE_UP,
)
_OPEN = {"none": "I do not know yet", **FAULTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    case: Annotated[
        str,
        Choice(label="Trace", cites=False, options={key: f"trace {key}" for key in CASES}),
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


def _told(label: str, meaning: str, *, note: str = "", color: str = "ink") -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=(meaning, *_JOB),
        sources=("hta", "li2020"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step with its faults, without those that the reader named, and without any."""

    named: frozenset[str]
    guilty: frozenset[str]
    seen: Played
    sick: Annotated[Seconds, Told()]
    without: Annotated[Seconds, Told()]
    healthy: Annotated[Seconds, Told()]
    step: Annotated[Seconds, _told("Step", "Until the last rank has ended.")]
    mfu: Annotated[
        Share,
        _told(
            "MFU",
            "Six operations per parameter and token, over peak and step.",
            color="compute",
        ),
    ]
    cost: Annotated[
        Seconds,
        _told(
            "Cost of what you named",
            "The step with all faults minus the step without the named ones.",
        ),
    ]
    exposed: Annotated[
        Seconds,
        _told(
            "Exposed on rank 0",
            "A collective runs or spins on rank 0 and nothing is computed there.",
            color="communication",
        ),
    ]
    utilization: Annotated[
        Share,
        _told(
            "Any kernel on rank 0", "What nvidia-smi would call GPU utilization, over this step."
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the case as it is, and as the reader repairs it."""
    named = frozenset({inputs.diagnosis, inputs.second} - {"none"})
    guilty = frozenset(CASES[inputs.case])
    sick, without = play(inputs.case), play(inputs.case, named)
    seen = without if inputs.repair else sick
    return Result(
        named=named,
        guilty=guilty,
        seen=seen,
        sick=sick.step,
        without=without.step,
        healthy=play(inputs.case, guilty).step,
        step=seen.step,
        mfu=seen.mfu,
        cost=sick.step - without.step,
        exposed=seen.ranks[0].exposed,
        utilization=seen.ranks[0].utilization,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result)
    seen, everyone = result.seen, inputs.everyone
    note = "of every step" if result.named else "nothing named yet"
    return {
        "timeline": partial(timeline, seen, everyone=everyone, high=result.sick),
        "verdict": _verdict(tell, result),
        **tell.values("step", "mfu"),
        "cost": tell.value("cost", note=note),
        **tell.values("exposed", "utilization"),
        "ranks": partial(ranks, seen, everyone=everyone),
        "signs": signs,
        "challenge": _challenge(inputs, seen),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    named, guilty = result.named, result.guilty
    if not named:
        words = "This step takes {sick}. The same job without a fault takes {healthy}."
        return Badge(text="Unsolved", sentence=tell.say(words))
    names = " and ".join(FAULTS[key].lower() for key in FAULTS if key in named)
    if not named & guilty:
        looks = " ".join(SIGNS[key].looks for key in FAULTS if key in named)
        words = f"Without {names} the step still takes {{without}}. That would look different: "
        return Badge(text="Not guilty", sentence=tell.say(words + looks))
    change = f"Without {names} the step takes {{without}} instead of {{sick}}."
    if guilty - named:
        words = f"{change} A healthy one takes {{healthy}}: another fault is left."
        return Badge(text="Half of it", sentence=tell.say(words), color="communication")
    extra = " One of them was not there." if named - guilty else ""
    return Badge(text="Right", sentence=tell.say(change + extra), color="compute")


def _challenge(inputs: Inputs, seen: Played) -> Challenge:
    return Challenge(
        title="Challenge: two faults in one trace",
        goal="Trace 8 has two faults. Name both, repair them, and bring the MFU above 50 percent.",
        conditions=(
            Condition(text="trace 8", met=inputs.case == "8"),
            Condition(text="two faults named, and repaired", met=_both(inputs)),
            Condition(
                text=say("MFU above {q}", q=(_TARGET, as_given(SHARE))), met=seen.mfu > _TARGET
            ),
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
