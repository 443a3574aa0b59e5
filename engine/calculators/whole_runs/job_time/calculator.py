"""Job time: real completion time and cost of a run."""

import math
from functools import partial

from engine.calculators.whole_runs.job_time import charts, values
from engine.calculators.whole_runs.job_time.result import Result as Result
from engine.calculators.whole_runs.job_time.solve import solve as solve
from engine.calculators.whole_runs.job_time.solve import steps_alone, terms
from engine.core.outputs import Presenter, Views
from engine.core.units import SHARE
from engine.core.views import Badge
from engine.form.job_inputs import PRESETS as PRESETS
from engine.form.job_inputs import Inputs as Inputs
from engine.formulas import goodput, run, stragglers

TITLE = "Job time"
QUESTION = "When will it be done, really, and what does it cost?"
EQUATIONS = (
    run.RUN_TIME,
    goodput.GOODPUT,
    run.GPU_HOURS,
    run.COST,
    run.ENERGY,
    run.WORK_TIME,
    run.TOKEN_RATE,
    run.UTILIZATION,
    goodput.JOB_MTBF,
    goodput.FIRST_ORDER_GOODPUT,
    goodput.YOUNG_INTERVAL,
    goodput.DALY_INTERVAL,
    stragglers.SLOWEST_WITH_SLOW,
    stragglers.LARGEST_POSSIBLE,
    stragglers.ALL_BELOW,
    stragglers.SLOW_DOWN_COST,
)

RUNS = {"wall_time": terms, "gpu_hours": terms, "work_time": steps_alone}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **values.outcome_values(present, inputs, result),
        "verdict": _verdict(present, result),
        "formula": present.formula("All of it in one line", run.RUN_TIME, m="slow_factor"),
        "waterfall": partial(charts.waterfall, present, result),
        **values.speed_value(present, inputs, result),
        "goodput_curve": partial(charts.goodput_curve, present, inputs, result),
        **values.failure_values(present, inputs, result),
        "life": partial(charts.one_life, present, result),
        "straggler_curve": partial(charts.straggler_curve, present, inputs, result),
        **values.straggler_values(present, inputs, result),
        "waiting": partial(charts.waiting, present, inputs, result),
        "slowest_curve": partial(charts.slowest_curve, present, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    """Return the largest loss of time beyond the steps themselves."""
    if not math.isfinite(result.wall_time):
        return Badge(
            text="Never done",
            sentence=present.say(
                "Something fails every {mtbf}, before the next checkpoint is reached."
            ),
            color="ink",
        )
    if result.short:
        return Badge(
            text="Short",
            sentence=present.say(
                "The run is over before the first checkpoint is due; that anything fails in it has "
                "a chance of {chance}."
            ),
            color="ink",
        )
    parts = {
        "Waiting": ("waiting", "waiting for the slow GPU"),
        "Checkpoints": ("checkpoints", "writing checkpoints"),
        "Lost work": ("redone", "work done again after failures"),
        "Restarts": ("restarts", "restarts"),
    }
    name = max(parts, key=lambda part: float(getattr(result, parts[part][0])))
    field, cause = parts[name]
    return Badge(
        text=name,
        sentence=present.say(
            f"Beyond its steps the run spends most on {cause}: {{t}}, {{s}} of the whole.",
            t=field,
            s=(getattr(result, field) / result.wall_time, SHARE),
        ),
        color="ink",
    )
