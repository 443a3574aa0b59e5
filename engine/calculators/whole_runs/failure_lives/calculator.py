"""Failure lives: how often a job fails, how often to save, and which date to promise."""

import math
from dataclasses import replace
from functools import partial

from engine.calculators.whole_runs.failure_lives import charts, curves
from engine.calculators.whole_runs.failure_lives.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.failure_lives.inputs import Inputs as Inputs
from engine.calculators.whole_runs.failure_lives.result import Result as Result
from engine.core.lazy import Later
from engine.core.outputs import Teller, Views
from engine.core.units import DAY, Seconds, Share
from engine.core.views import Badge
from engine.form.saving_inputs import NO_END, NOTHING_FAILS, segment
from engine.formulas import goodput as saving
from engine.simulate.job.failure_monte_carlo import lives
from engine.simulate.job.failure_process import Habits, simulated_goodput
from engine.simulate.job.whole_run import whole_run

TITLE = "The lives of a job"
QUESTION = "How often does it fail, how often should it save, and which date can be promised?"
EQUATIONS = (
    saving.JOB_MTBF,
    saving.GOODPUT,
    saving.YOUNG_INTERVAL,
    saving.DALY_INTERVAL,
)
PROMISED: Share = 0.9
_BETWEEN = 12  # intervals at which a long life is played
_STRUCK = 400  # failures in each


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    mtbf = saving.job_mtbf(inputs.gpu_mtbf, inputs.num_gpus)
    habits = Habits(
        interval=inputs.interval, checkpoint=inputs.checkpoint, restart=inputs.restart, mtbf=mtbf
    )
    rest = inputs.checkpoint, inputs.restart, mtbf
    daly = saving.daly_interval(inputs.checkpoint, mtbf)
    whole, best = whole_run(inputs.work, habits), saving.goodput(daly, *rest)
    played = lives(habits, inputs.work, whole.failures, inputs.seed)
    return Result(
        mtbf=mtbf,
        wall=whole.wall,
        # Nine tenths of a normal distribution lie below 1.2816 deviations over its mean.
        promised=played.by(PROMISED) if played else whole.wall + 1.2816 * whole.spread,
        goodput=whole.goodput,
        young=saving.young_interval(inputs.checkpoint, mtbf),
        daly=daly,
        best=best,
        failures=_counted(whole.failures),
        spread=whole.spread,
        count=len(played.ends) if played else 0,
        whole=whole,
        played=played,
        tried=tuple(_tried(habits, inputs.seed)),
        ended=Later(
            partial(curves.ended, whole.wall, whole.spread, played.ends[-1] if played else 0.0)
        ),
        saving=Later(partial(curves.saving, *rest)),
        required=Later(partial(curves.required, mtbf)),
        scale=curves.scale(inputs.gpu_mtbf),
        reports=curves.reports(inputs),
    )


def _tried(habits: Habits, seed: int) -> list[tuple[Seconds, Share]]:
    """Return the goodput of long lives at intervals from half a minute to a day."""
    found = []
    for place in range(_BETWEEN + 1):
        interval = 30.0 * (DAY / 30.0) ** (place / _BETWEEN)
        share = simulated_goodput(replace(habits, interval=interval), _STRUCK, seed)
        found.append((interval, share))
    return found


def _counted(number: float) -> float:
    return float(round(number)) if number >= 10 and math.isfinite(number) else number


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    ends = math.isfinite(result.wall)
    return {
        **tell.values("mtbf", "wall"),
        "promised": tell.value("promised")
        if result.played
        else tell.value("promised", note="by the formula: too many failures to play them all"),
        "spread": tell.value("spread"),
        "verdict": _verdict(tell, result),
        "ends": partial(charts.ends, tell, result),
        "saving": partial(charts.saving_curve, tell, inputs, result),
        "goodput": tell.value("goodput", receipt=NOTHING_FAILS if ends else NO_END)
        if result.whole.short or not ends
        else tell.value(
            "goodput", symbols=segment(inputs.interval, inputs.checkpoint, inputs.work)
        ),
        "young": tell.value("young", equation=saving.YOUNG_INTERVAL),
        "daly": tell.value("daly", equation=saving.DALY_INTERVAL),
        "best": tell.value("best", symbols={"t": "daly", "d": "checkpoint"}),
        "required": partial(charts.required, result),
        "scale": partial(charts.scale, tell, inputs, result),
        "reports": partial(charts.reports, result),
    }


def _verdict(tell: Teller, result: Result) -> Badge:
    if math.isinf(result.wall):
        sentence = tell.say("Something fails every {mtbf}, before the next checkpoint is reached.")
        return Badge(text="Never done", sentence=sentence)
    if result.played is None:
        sentence = tell.say(
            "With {failures} failures, luck averages out: the run takes {wall} ± {spread}."
        )
        return Badge(text="Luck averages out", sentence=sentence)
    half = ", and about half of all lives are longer" if result.failures > 5 else ""
    return Badge(
        text="Promise the ninth of ten",
        sentence=tell.say(
            f"The mean life takes {{wall}}{half}. Nine in ten end within {{promised}}."
        ),
        color="compute",
    )
