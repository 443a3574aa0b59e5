"""Levers: what each thing that could be changed would give, for the reader's own job."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.levers.challenge import challenge, start_rate
from engine.core.outputs import Teller, Told, Views
from engine.core.units import SHARE, Ratio, Share
from engine.core.views import Lines, Point, Series
from engine.form.what_if import views as shared
from engine.form.what_if.inputs import PRESETS as PRESETS
from engine.form.what_if.inputs import Inputs as Inputs
from engine.form.what_if.model import Job, job
from engine.formulas.amdahl import AMDAHL, amdahl

TITLE = "What to change first"
QUESTION = "Which change would make my job faster, by how much, and how sure is that?"
EQUATIONS = (AMDAHL,)
_SHARES = tuple(i / 50 for i in range(46))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The job with all gains, and Amdahl's law beside it.

    Attributes:
        job: with its gains.
        five, fifteen: by how much the step gets faster if so many percent of it wait.
        here: speed with faster communication, as fast as now.
        slow, fast: the same by the share that waits, 1.5 times as fast and as the reader says.
        start_rate: sequences per second from which the challenge starts.
    """

    job: Job
    five: Annotated[Share, Told("Step faster, if 5 % waits", "g")]
    fifteen: Annotated[Share, Told("Step faster, if 15 % waits", "g")]
    here: Ratio
    slow: tuple[Ratio, ...]
    fast: tuple[Ratio, ...]
    start_rate: Ratio


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    found, gain = job(inputs), inputs.kernel_gain
    return Result(
        job=found,
        five=amdahl(0.05, gain) - 1,
        fifteen=amdahl(0.15, gain) - 1,
        here=amdahl(found.exposed_share, gain),
        slow=tuple(amdahl(share, 1.5) for share in _SHARES),
        fast=tuple(amdahl(share, gain) for share in _SHARES),
        start_rate=start_rate(),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    found = result.job
    tell = Teller(result, found, inputs, equations=EQUATIONS)
    return {
        "step_time": shared.step_value(tell, found),
        "first": shared.first(found),
        "tornado": partial(shared.tornado, found),
        **tell.values("exposed_share"),
        "advice": partial(shared.advice, found),
        "amdahl": partial(_curve, tell, inputs, result),
        "five": tell.value("five", symbols={"e": (0.05, SHARE), "k": "kernel_gain"}),
        "fifteen": tell.value("fifteen", symbols={"e": (0.15, SHARE), "k": "kernel_gain"}),
        "levers": partial(shared.table, found),
        "challenge": partial(challenge, found, result.start_rate),
    }


def _curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return what faster communication gives, by the share of the step that waits for it."""
    curves = ((1.5, result.slow, "muted"), (inputs.kernel_gain, result.fast, "communication"))
    here = min(result.job.exposed_share, 0.9)
    return Lines(
        title="A faster part, and a barely faster step",
        x=tell.axis("exposed_share", "share that gets faster", low=0.0, high=0.9),
        y=tell.axis("here", "speed of the step", low=1.0, high=4.0),
        series=tuple(
            Series(key=f"k{factor:g}", label=f"{factor:g}× as fast", x=_SHARES, y=y, color=color)
            for factor, y, color in curves
        ),
        points=(Point(key="you", label="your job", x=here, y=min(4.0, result.here)),),
        caption="The part that does not get faster remains, however fast the rest becomes.",
    )
