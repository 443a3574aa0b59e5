"""Job time: when a run will be done, really, and what it costs."""

import math

from engine.basis.text import say
from engine.basis.units import SECONDS, SHARE
from engine.basis.views import Badge, Formula, View
from engine.calculators.whole_runs.job_time import charts, values
from engine.calculators.whole_runs.job_time.model import Job, job
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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    found = job(inputs)
    return {
        **values.result(inputs, found),
        "verdict": _verdict(found),
        "formula": Formula(
            title="All of it in one line",
            equation=run.RUN_TIME,
            symbols=values.symbols(inputs, found),
            inputs=values.FROM,
        ),
        "waterfall": charts.waterfall(found),
        **values.speed(inputs, found),
        "goodput_curve": charts.goodput_curve(inputs, found),
        **values.failing(inputs, found),
        "life": charts.one_life(inputs, found),
        "straggler_curve": charts.straggler_curve(inputs, found),
        **values.slowest(inputs, found),
        "waiting": charts.waiting(inputs),
        "slowest_curve": charts.slowest_curve(inputs, found),
    }


def _verdict(found: Job) -> Badge:
    """Return what takes most of the time beyond the steps themselves."""
    if not math.isfinite(found.wall):
        return Badge(
            text="Never done",
            sentence=say(
                "Something fails every {m}, before the next checkpoint is reached.",
                m=(found.mtbf, SECONDS),
            ),
            color="ink",
        )
    parts = {
        "Waiting": (found.steps - found.work, "waiting for the slowest GPU"),
        "Checkpoints": (found.checkpoints, "writing checkpoints"),
        "Lost work": (found.redone, "work done again after failures"),
        "Restarts": (found.restarts, "restarts"),
    }
    name = max(parts, key=lambda part: parts[part][0])
    time, what = parts[name]
    return Badge(
        text=name,
        sentence=say(
            f"Beyond its steps the run spends most on {what}: {{t}}, {{s}} of the whole.",
            t=(time, SECONDS),
            s=(time / found.wall, SHARE),
        ),
        color="ink",
    )
