"""Local steps: sites that train independently and rarely synchronize, on a tiny model."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import BILLIONS, GBITS, Choice, Number, Unit
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.slices import Slices, partial_progress, run_to_end
from engine.core.units import COUNT, SECONDS, SHARE, Bytes, Count, Gbit, Seconds, Share
from engine.core.views import Axis, Badge, Line, Lines, Point, Rule, Scale, Series
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.compression import LOCAL_BYTES, local_bytes_per_token
from engine.tiny.compressed import RANKS, STEPS
from engine.tiny.local_steps import SEEN, LocalStepsTraining, start_training

TITLE = "Steps without a meeting"
QUESTION = "How rarely can sites meet, and what does it cost?"
HEADLINE = "waiting"
EQUATIONS = (LOCAL_BYTES,)
PRESETS_CITE = False
PRESETS = {
    "A meeting every step": {"inner_steps": 1},
    "DiLoCo: 500 steps, eight sites": {"inner_steps": 500, "sites": 8, "outer": "nesterov"},
    "Two buildings, one 400 Gb/s line": {"sites": 2, "link": 400 * Gbit, "inner_steps": 16},
}
_MOST_STEPS = 1024
Plain = Annotated[float, COUNT]
_TIME = Unit(" s", 1.0, {"ms": 1e-3, "min": 60.0}, quantity=SECONDS)
_SHOWN = tuple(2**i for i in range(11))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    inner_steps: Annotated[
        int,
        Number(
            label="Steps between meetings",
            low=1,
            high=_MOST_STEPS,
            scale="log2",
            whole=True,
            symbol="H",
        ),
    ] = 4
    outer: Annotated[
        str,
        Choice(
            label="At a meeting",
            cites=False,
            options={
                "mean": "take the mean",
                "nesterov": "step with momentum (DiLoCo)",
            },
        ),
    ] = "mean"
    sites: Annotated[
        int, Number(label="Sites", low=2, high=64, scale="log2", whole=True, symbol="n")
    ] = 4
    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e8, high=1e12, scale="log", symbol="P"),
    ] = 8e9
    tokens: Annotated[
        int,
        Number(
            label="Tokens of a step, per site", low=1 << 14, high=1 << 24, scale="log2", whole=True
        ),
        Symbol("t"),
    ] = 1 << 20
    step: Annotated[
        float, Number(label="Time of a step", unit=_TIME, low=0.1, high=100.0, scale="log")
    ] = 10.0
    link: Annotated[
        float,
        Number(
            label="Link of a site",
            unit=GBITS,
            low=0.1 * Gbit,
            high=3200 * Gbit,
            scale="log",
            help="All of it, one way.",
        ),
    ] = 10 * Gbit


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Synchronization cost at real size, and two tiny trainings."""

    per_token: Annotated[
        Bytes,
        Output(
            "Sent for each token",
            "b",
            "by a site; {every} with a meeting every step",
            "communication",
            assumes=("Four bytes for each parameter, as DiLoCo sends them; a ring of sites.",),
        ),
    ]
    meeting: Annotated[
        Seconds,
        Output(
            "A meeting takes",
            note="{sent} over the link of a site",
            color="communication",
            assumes=("The line rate of the slowest link, nothing beside it.",),
            sources=("douillard2023", "patarasuk2009"),
        ),
    ]
    waiting: Annotated[
        Share,
        Output(
            "Time in meetings",
            note="{always} with a meeting every step",
            color="communication",
            assumes=("No step runs during a meeting.",),
            sources=("douillard2023",),
        ),
    ]
    last: Annotated[
        Plain,
        Output(
            "Loss of the tiny training",
            note="{last_every} with a mean after every step",
            color="parameters",
            basis="simulated",
            assumes=(
                "{ranks} GPUs with a sequence each, {steps} steps of Adam by each of them; at the "
                "end they meet in any case.",
            ),
        ),
    ]
    last_every: Plain
    apart: Annotated[
        Plain,
        Output(
            "Furthest apart",
            note="a parameter of two GPUs, just before a meeting",
            color="data",
            basis="simulated",
            assumes=("The largest distance over all steps and parameters.",),
        ),
    ]
    tiny: LocalStepsTraining
    tiny_every: LocalStepsTraining
    sent: Bytes
    every: Bytes
    always: Share
    curve: tuple[Share, ...]
    value: Annotated[Bytes, Symbol("e")] = 4.0
    ranks: Count = RANKS
    steps: Count = STEPS


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Find every number of the page."""
    tiny_every = yield from partial_progress(start_training(1, "mean").rest(), 0, 2)
    training = start_training(min(inputs.inner_steps, STEPS), inputs.outer)
    return _make_result(inputs, (yield from partial_progress(training.rest(), 1, 2)), tiny_every)


def _make_result(
    inputs: Inputs, tiny: LocalStepsTraining, tiny_every: LocalStepsTraining
) -> Result:
    value = 4.0
    job = inputs.parameters, value, inputs.sites
    sent = ring_bytes_sent(inputs.parameters * value, inputs.sites)
    meeting = sent / inputs.link

    def waiting(steps: int) -> Share:
        return meeting / (steps * inputs.step + meeting)

    return Result(
        per_token=local_bytes_per_token(*job, inputs.inner_steps, inputs.tokens),
        meeting=meeting,
        waiting=waiting(inputs.inner_steps),
        last=tiny.last,
        last_every=tiny_every.last,
        apart=max(tiny.apart),
        tiny=tiny,
        tiny_every=tiny_every,
        sent=sent,
        every=local_bytes_per_token(*job, 1, inputs.tokens),
        always=waiting(1),
        curve=tuple(waiting(steps) for steps in _SHOWN),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("waiting"),
        "verdict": _verdict(present, inputs, result),
        "losses": partial(_losses, inputs, result),
        **present.values("last", "apart"),
        "curve": partial(_curve, present, inputs, result),
        **present.values("per_token", "meeting"),
    }


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.inner_steps >= STEPS:
        return Badge(
            text="One meeting, at the end",
            sentence=present.say(
                "The tiny training has {steps} steps, so its GPUs meet only once. Each has learned "
                "its own sequence, and the mean of four such models knows none of them."
            ),
            color="data",
        )
    better = result.last <= result.last_every
    words = "The loss ends at {last}, where a mean after every step ends at {last_every}. "
    words += "Meetings take {waiting} of the time at the real size."
    return Badge(
        text=("No worse" if better else "Worse")
        if inputs.inner_steps == 1
        else ("Rarer, and no worse" if better else "Rarer, and worse"),
        sentence=present.say(words),
        color="parameters" if better else "communication",
    )


def _losses(inputs: Inputs, result: Result) -> Lines:
    steps = tuple(float(SEEN * i) for i in range(STEPS // SEEN + 1))
    mine = "a meeting every step" if inputs.inner_steps == 1 else "with your meetings"
    most = max(*result.tiny.losses, *result.tiny_every.losses)
    drawn = len(result.tiny.meetings) <= STEPS // 4
    return Lines(
        title="The tiny training, by its steps",
        x=Axis(label="step", quantity=COUNT, low=0.0, high=float(STEPS)),
        y=Axis(label="loss", quantity=COUNT, low=0.0, high=1.05 * most),
        series=(
            Series(
                key="every",
                label="mean after every step",
                x=steps,
                y=result.tiny_every.losses,
                color="muted",
                dashed=True,
            ),
            Series(key="mine", label=mine, x=steps, y=result.tiny.losses, color="parameters"),
        ),
        rules=tuple(
            Rule(key=f"meeting{at}", label="", axis="x", at=float(at), color="data")
            for at in result.tiny.meetings
            if drawn
        ),
        caption="The loss of all four sequences, for the mean of the four GPUs' parameters."
        + (" Dotted: a meeting." if drawn else ""),
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Time in meetings, at the real size",
        over=Scale(COUNT, "steps between meetings", 1.0, float(_MOST_STEPS), log=True),
        shows=Scale(SHARE, "of the time", 0.0, 1.0),
        x=_SHOWN,
        lines=(Line("waiting", "in meetings", result.curve, "communication"),),
        handle="inner_steps",
        marked=False,
        points=(Point(key="you", label="you", x=inputs.inner_steps, y=result.waiting),),
    )
