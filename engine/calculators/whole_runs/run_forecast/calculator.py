"""Run forecast: from a plan to days, GPU hours, money and energy, with their ranges."""

import math
from collections.abc import Mapping
from functools import partial

from engine.calculators.whole_runs.run_forecast import charts
from engine.calculators.whole_runs.run_forecast.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.run_forecast.inputs import Inputs as Inputs
from engine.calculators.whole_runs.run_forecast.result import STEP
from engine.calculators.whole_runs.run_forecast.result import Result as Result
from engine.calculators.whole_runs.run_forecast.solve import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.text import say
from engine.core.units import DAY, SECONDS, as_given
from engine.core.views import Badge, Challenge, Condition
from engine.form.forecast_jobs import JOBS
from engine.form.run.prediction_text import ranged
from engine.form.saving_inputs import LLAMA3_MTBF, NO_END, NOTHING_FAILS, segment
from engine.formulas import goodput, run

TITLE = "Forecast of a job"
QUESTION = "When is this job done, and what does it cost: from where to where?"
EQUATIONS = (
    run.RUN_TIME,
    run.GPU_HOURS,
    run.COST,
    run.ENERGY,
    run.WORK_TIME,
    goodput.GOODPUT,
    goodput.JOB_MTBF,
)
_NEVER = "it fails before it gets anywhere"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    ends = math.isfinite(result.wall_time)
    return {
        **_told(tell, result),
        "verdict": _verdict(tell, inputs, result),
        "waterfall": partial(charts.waterfall, tell, result),
        "formula": tell.formula("All of it in one line", run.RUN_TIME if ends else run.WORK_TIME),
        "versions": partial(charts.versions, tell, result),
        "beside": partial(charts.beside, inputs, result),
        "more_gpus": partial(charts.more_gpus, tell, inputs, result),
        "work_time": ranged(tell, "work_time", result.evidence, assumes=(STEP,)),
        **tell.values("ideal", "ideal_share", "mtbf", "slow_gpu"),
        "goodput": tell.value("goodput", receipt=NOTHING_FAILS if ends else NO_END)
        if result.found.run.short or not ends
        else tell.value(
            "goodput",
            symbols=segment(inputs.interval, inputs.checkpoint, result.found.run.steps),
        ),
        "challenge": partial(_challenge, inputs, result),
    }


def _told(tell: Teller, result: Result) -> Views:
    """Return what the job takes; a job without an end has no ranges."""
    names = ("wall_time", "gpu_hours", "cost", "energy")
    if math.isfinite(result.wall_time) and math.isfinite(result.late):
        return tell.values(*names)
    if math.isfinite(result.wall_time):
        note = "at least; with a slower step it never gets through"
        return {name: tell.value(name, note=note) for name in names}
    return {name: tell.value(name, note=_NEVER, receipt=NO_END) for name in names}


def _verdict(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if not result.fits:
        sentence = tell.say("On {num_gpus} GPUs this plan does not fit into their memory.")
        return Badge(text="Does not fit", sentence=sentence, color="communication")
    if result.grown:
        sentence = tell.say(
            "{num_gpus} GPUs need at least {grown} sequences in a step, more than the job has. "
            "These numbers are of a job with that larger batch, which learns differently."
        )
        return Badge(text="The batch is too small", sentence=sentence, color="communication")
    if math.isinf(result.wall_time):
        sentence = tell.say("Something fails every {mtbf}, before the next checkpoint is reached.")
        return Badge(text="Never done", sentence=sentence)
    beyond = "".join(f" {one}" for one in result.found.spread.beyond)
    return Badge(
        text="Ideal over real",
        sentence=tell.say("At their peak, the GPUs would need {ideal_share} of the time." + beyond),
        color="compute",
    )


_DEADLINE = 75 * DAY
_START: Mapping[str, Scalar] = {"job": "405b", "tokens": JOBS["405b"].tokens, "more": 2.0}
_SOLUTION: Mapping[str, Scalar] = {
    **_START,
    "interval": 600.0,
    "checkpoint": 30.0,
    "restart": 300.0,
}


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = (inputs.job, inputs.tokens, inputs.more) == tuple(_START.values())
    as_found = inputs.gpu_mtbf == LLAMA3_MTBF and not inputs.slower
    possible = inputs.checkpoint >= 30 and inputs.restart >= 300
    return Challenge(
        title="Twice the GPUs, and later",
        goal="Llama 3 405B on 32,768 H100 takes longer than on half as many. Change how it saves "
        "and restarts until the second half of the GPUs is worth having.",
        conditions=(
            Condition(text="the job, its tokens, twice the GPUs", met=same),
            Condition(text="GPUs that fail as Llama 3's did", met=as_found),
            Condition(
                text="a checkpoint of 30 s or more, a restart of 5 min or more", met=possible
            ),
            Condition(
                text=say("done within {d}, at the late end too", d=(_DEADLINE, as_given(SECONDS))),
                met=same and result.late <= _DEADLINE,
            ),
        ),
        hints=(
            "Which of the three bars before the last one of the waterfall is the longest?",
            "Set checkpoint and restart as short as the conditions allow; then the best interval "
            "is shorter, too.",
            "Young's interval is the square root of twice the checkpoint times the time between "
            "failures.",
        ),
        start=_START,
        solution=_SOLUTION,
    )
