"""Case file 2: a step that is longer since last night, and four explanations that predict it."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, COUNT, RATIO, SECONDS, Bandwidth, Seconds, Share
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Challenge, Condition, Segment, Table
from engine.form.missing_range import SYNTHETIC_JOB
from engine.simulate.data_parallel.overnight_case import (
    EXPLANATIONS,
    Symptoms,
    healthy_symptoms,
    symptoms,
)

TITLE = "Case file 2: slower since last night"
QUESTION = "Which explanation predicts everything that was measured?"
HEADLINE = "step"
EQUATIONS = ()
TRUTH = "loss"
PRESETS = {"Losses that look like half a port": {"loss": 0.008, "explanation": "half"}}
_NEAR: Share = 0.03
_PLAYED = (
    "A made-up case. 1.5 billion parameters, plain data parallelism on 16 nodes of 8 H100, buckets "
    "of 180 MB; matrix kernels reach 60 % of the peak (assumed).",
    "Steps are simulated with the bus bandwidth that the test of all nodes reaches; losses are "
    "independent, and sent again by going back over a round trip of 10 µs.",
    SYNTHETIC_JOB,
)
_OPEN = {"none": "I do not know yet", **EXPLANATIONS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    explanation: Annotated[str, Choice(label="My explanation", options=_OPEN)] = "none"
    loss: Annotated[
        float,
        Number(
            label="Packets that node 11 loses",
            unit=PERCENT,
            low=1e-4,
            high=0.02,
            scale="log",
            help="What happened; the measurements follow from it.",
        ),
    ] = 5e-3


def _output(label: str, note: str = "", color: str = "ink") -> Output:
    return Output(label, "", note, color, _PLAYED, ("li2020", "leung1988"), "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The measurements, and the prediction of each explanation."""

    before: Symptoms
    now: Symptoms
    symptoms: dict[str, Symptoms]
    step: Annotated[Seconds, _output("Step now", "{step_before} before last night")]
    step_before: Seconds
    everyone: Annotated[
        Bandwidth, _output("Bus bandwidth, all nodes", "{best} before", "communication")
    ]
    best: Bandwidth
    lost: Annotated[float, COUNT, _output("Gaps per second", "packet_seq_err of the sender")]
    fits: Annotated[float, COUNT, _output("Measurements that fit", "of five")]


def solve(inputs: Inputs) -> Result:
    """Return the measurements and the predictions."""
    before, predicted = (
        healthy_symptoms(),
        {key: symptoms(key, inputs.loss) for key in EXPLANATIONS},
    )
    now = predicted[TRUTH]
    return Result(
        before=before,
        now=now,
        symptoms=predicted,
        step=now.step,
        step_before=before.step,
        everyone=now.everyone,
        best=before.everyone,
        lost=now.lost,
        fits=sum(_agreement(predicted[inputs.explanation], now))
        if inputs.explanation in predicted
        else 0,
    )


def _numbers(signs: Symptoms) -> tuple[float, ...]:
    return signs.step, signs.everyone, signs.others, signs.slower, signs.lost


def _agreement(predicted: Symptoms, measured: Symptoms) -> tuple[bool, ...]:
    """Return which of five measurements agree with an explanation, within three percent."""
    return tuple(
        abs(a - b) <= _NEAR * max(a, b)
        for a, b in zip(_numbers(predicted), _numbers(measured), strict=True)
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the symptom, the measurements, the explanations and the verdict."""
    present = Presenter(result, inputs)
    shown = ("step", "everyone", "lost") if inputs.explanation == "none" else (
        "step", "everyone", "lost", "fits")  # fmt: skip
    values = present.values(*shown)
    if inputs.explanation == "none":
        values["fits"] = present.value("fits", note="once you choose an explanation")
    return {
        "steps": partial(_step_bars, result),
        "verdict": _verdict(present, inputs, result),
        **values,
        "measured": partial(_measured, result),
        "explanations": partial(_explanations, inputs, result),
        "challenge": _challenge(inputs, result),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    key = inputs.explanation
    if key == "none":
        return Badge(
            text="Unsolved",
            sentence=present.say(
                "The step takes {step} since last night, and {step_before} before."
            ),
        )
    if key == TRUTH:
        return Badge(
            text="It predicts all of it",
            sentence=present.say(
                "Step, bandwidth, the healthy half and the gaps all follow from one number: the "
                "share of packets that node 11 loses."
            ),
            color="data",
        )
    wrong = [
        name
        for name, good in zip(_NAMES, _agreement(result.symptoms[key], result.now), strict=True)
        if not good
    ]
    return Badge(
        text="It does not predict this",
        sentence=present.say(
            f"{{fits}} of five measurements fit. Not predicted: {', '.join(wrong)}."
        ),
        color="communication",
    )


_NAMES = (
    "the step",
    "the bandwidth of all nodes",
    "that of the first eight nodes",
    "the slow rank",
    "the gaps",
)


def _step_bars(result: Result) -> Bars:
    rows = {"before": ("before last night", result.before), "now": ("measured now", result.now)}
    rows |= {key: (f"with {name}", result.symptoms[key]) for key, name in EXPLANATIONS.items()}
    most = max(signs.step for _, signs in rows.values())
    return Bars(
        title="The step, measured and as each explanation has it",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.1 * most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(
                    Segment(
                        key=key,
                        label=label,
                        value=signs.step,
                        color="communication" if key == "now" else "data",
                    ),
                ),
            )
            for key, (label, signs) in rows.items()
        ),
        caption="The slow GPU is made as slow as it must be for this step: a step alone accuses "
        "nobody.",
    )


def _measured(result: Result) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (f"{name[0].upper()}{name[1:]}", before, now)
        for name, before, now in zip(
            _NAMES, _sign_cells(result.before), _sign_cells(result.now), strict=True
        )
    ]
    return Table(
        title="Measured",
        columns=("What", "Before", "Now"),
        rows=tuple(rows),
        caption="Bandwidths are those of all_reduce_perf, one GPU per node. The slow rank computes "
        "so many times as long as the others. Gaps per second, while the test runs.",
    )


def _sign_cells(signs: Symptoms) -> tuple[Text, ...]:
    return (
        say("{t}", t=(signs.step, SECONDS)),
        say("{b}", b=(signs.everyone, BANDWIDTH)),
        say("{b}", b=(signs.others, BANDWIDTH)),
        say("{r}", r=(signs.slower, RATIO)),
        say("{n}", n=(signs.lost, COUNT)),
    )


def _explanations(inputs: Inputs, result: Result) -> Table:
    open_case = inputs.explanation == "none"
    rows: list[tuple[Cell, ...]] = [
        ("measured", *_sign_cells(result.now), ""),
        *(
            (
                name,
                *_sign_cells(signs),
                "?" if open_case else f"{sum(_agreement(signs, result.now))} of 5",
            )
            for key, name in EXPLANATIONS.items()
            for signs in (result.symptoms[key],)
        ),
    ]
    return Table(
        title="What each explanation predicts",
        columns=("Explanation", "Step", "All nodes", "First eight", "Slow rank", "Gaps", "Fits"),
        rows=tuple(rows),
        caption="A prediction fits if it is within 3 % of the measurement. How many do so is told "
        "when you choose one.",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    return Challenge(
        title="Challenge: an alibi that nearly holds",
        goal="Find a loss at which a port at half of its speed predicts every measurement but one, "
        "and accuse that port.",
        conditions=(
            Condition(text="a port at half of its speed accused", met=inputs.explanation == "half"),
            Condition(text="four of five measurements fit", met=result.fits == 4),
        ),
        hints=(
            "Which loss leaves half of a port, if the sender goes back?",
            "The figure of goodput against loss marks that place.",
        ),
        start={"explanation": "none", "loss": 5e-3},
        solution={"explanation": "half", "loss": 8e-3},
    )
