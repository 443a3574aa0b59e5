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
from engine.calculators.whole_runs.run_forecast.solve import steps_alone, terms
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import DAY, SECONDS, with_digits
from engine.core.views import Badge, Challenge, Condition
from engine.form.forecast_jobs import JOBS
from engine.form.run.prediction_text import value_with_range
from engine.form.saving_inputs import (
    LLAMA3_MTBF,
    NO_END_RECEIPT,
    NO_FAILURE_RECEIPT,
    goodput_symbols,
)
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

RUNS = {"wall_time": terms, "gpu_hours": terms, "work_time": steps_alone}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    ends = math.isfinite(result.wall_time)
    return {
        **_job_values(present, result),
        "verdict": _verdict(present, inputs, result),
        "waterfall": partial(charts.waterfall, present, result),
        "formula": present.formula(
            "All of it in one line", run.RUN_TIME if ends else run.WORK_TIME
        ),
        "versions": partial(charts.forecast_formulas, present, result),
        "beside": partial(charts.published_comparison, inputs, result),
        "more_gpus": partial(charts.more_gpus, present, inputs, result),
        "work_time": value_with_range(present, "work_time", result.evidence, assumes=(STEP,)),
        **present.values("ideal", "ideal_share", "mtbf", "slow_gpu"),
        "goodput": present.value("goodput", receipt=NO_FAILURE_RECEIPT if ends else NO_END_RECEIPT)
        if result.found.run.short or not ends
        else present.value(
            "goodput",
            symbols=goodput_symbols(inputs.interval, inputs.checkpoint, result.found.run.steps),
        ),
        "challenge": partial(_challenge, inputs, result),
    }


def _job_values(present: Presenter, result: Result) -> Views:
    """Return the job's time, GPU hours, cost and energy; no ranges without an end."""
    names = ("wall_time", "gpu_hours", "cost", "energy")
    if math.isfinite(result.wall_time) and math.isfinite(result.late):
        return present.values(*names)
    if math.isfinite(result.wall_time):
        note = "at least; with a slower step it never gets through"
        return {name: present.value(name, note=note) for name in names}
    return {name: present.value(name, note=_NEVER, receipt=NO_END_RECEIPT) for name in names}


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if not result.fit.runs:
        sentence = present.say("On {num_gpus} GPUs this plan does not fit into their memory.")
        return Badge(text="Does not fit", sentence=sentence, color="communication")
    if result.grown:
        sentence = present.say(
            "{num_gpus} GPUs need at least {grown} sequences in a step, more than the job has. "
            "These numbers are of a job with that larger batch, which learns differently."
        )
        return Badge(text="The batch is too small", sentence=sentence, color="communication")
    if math.isinf(result.wall_time):
        sentence = present.say(
            "Something fails every {mtbf}, before the next checkpoint is reached."
        )
        return Badge(text="Never done", sentence=sentence)
    beyond = "".join(f" {remark}" for remark in result.found.spread.beyond)
    return Badge(
        text="Ideal over real",
        sentence=present.say(
            "At their peak, the GPUs would need {ideal_share} of the time." + beyond
        ),
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
                text=say(
                    "done within {d}, at the late end too", d=(_DEADLINE, with_digits(SECONDS))
                ),
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
