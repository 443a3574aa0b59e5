"""Job time: when a run will be done, really, and what it costs."""

import math
from functools import partial

from engine.calculators.whole_runs.job_time import charts, values
from engine.calculators.whole_runs.job_time.result import Result as Result
from engine.calculators.whole_runs.job_time.solve import solve as solve
from engine.core.outputs import Teller, Views
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


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **values.outcome(tell, inputs, result),
        "verdict": _verdict(tell, result),
        "formula": tell.formula("All of it in one line", run.RUN_TIME),
        "waterfall": partial(charts.waterfall, tell, result),
        **values.speed(tell, inputs, result),
        "goodput_curve": partial(charts.goodput_curve, tell, inputs, result),
        **values.failing(tell, inputs, result),
        "life": partial(charts.one_life, tell, result),
        "straggler_curve": partial(charts.straggler_curve, tell, inputs, result),
        **values.slowest(tell, inputs, result),
        "waiting": partial(charts.waiting, tell, inputs, result),
        "slowest_curve": partial(charts.slowest_curve, tell, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    """Return what takes most of the time beyond the steps themselves."""
    if not math.isfinite(result.wall_time):
        return Badge(
            text="Never done",
            sentence=tell.say(
                "Something fails every {mtbf}, before the next checkpoint is reached."
            ),
            color="ink",
        )
    if result.short:
        return Badge(
            text="Short",
            sentence=tell.say(
                "The run is over before the first checkpoint is due; that anything fails in it has "
                "a chance of {chance}."
            ),
            color="ink",
        )
    parts = {
        "Waiting": ("waiting", "waiting for the slowest GPU"),
        "Checkpoints": ("checkpoints", "writing checkpoints"),
        "Lost work": ("redone", "work done again after failures"),
        "Restarts": ("restarts", "restarts"),
    }
    name = max(parts, key=lambda part: float(getattr(result, parts[part][0])))
    field, what = parts[name]
    return Badge(
        text=name,
        sentence=tell.say(
            f"Beyond its steps the run spends most on {what}: {{t}}, {{s}} of the whole.",
            t=field,
            s=(getattr(result, field) / result.wall_time, SHARE),
        ),
        color="ink",
    )
