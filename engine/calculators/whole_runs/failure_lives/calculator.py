"""Failure lives: how often a job fails, how often to save, and which date to promise."""

import math
from dataclasses import replace
from functools import partial

from engine.calculators.whole_runs.failure_lives import charts, curves
from engine.calculators.whole_runs.failure_lives.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.failure_lives.inputs import Inputs as Inputs
from engine.calculators.whole_runs.failure_lives.result import Result as Result
from engine.core.lazy import Lazy
from engine.core.outputs import Presenter, Views
from engine.core.units import DAY, Seconds, Share
from engine.core.views import Badge
from engine.form.saving_inputs import NO_END_RECEIPT, NO_FAILURE_RECEIPT, goodput_symbols
from engine.formulas import goodput as saving
from engine.simulate.job.failure_monte_carlo import simulate_runs
from engine.simulate.job.failure_process import CheckpointPolicy, simulated_goodput
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
    habits = CheckpointPolicy(
        interval=inputs.interval, checkpoint=inputs.checkpoint, restart=inputs.restart, mtbf=mtbf
    )
    rest = inputs.checkpoint, inputs.restart, mtbf
    daly = saving.daly_interval(inputs.checkpoint, mtbf)
    whole, best = whole_run(inputs.work, habits), saving.goodput(daly, *rest)
    played = simulate_runs(habits, inputs.work, whole.failures, inputs.seed)
    return Result(
        mtbf=mtbf,
        wall=whole.wall,
        # Nine tenths of a normal distribution lie below 1.2816 deviations over its mean.
        promised=played.quantile(PROMISED) if played else whole.wall + 1.2816 * whole.spread,
        goodput=whole.goodput,
        young=saving.young_interval(inputs.checkpoint, mtbf),
        daly=daly,
        best=best,
        failures=_whole_failures(whole.failures),
        spread=whole.spread,
        count=len(played.ends) if played else 0,
        whole=whole,
        played=played,
        tried=tuple(_goodput_curve(habits, inputs.seed)),
        ended=Lazy(
            partial(
                curves.finished_share, whole.wall, whole.spread, played.ends[-1] if played else 0.0
            )
        ),
        saving=Lazy(partial(curves.saving, *rest)),
        required=Lazy(partial(curves.required, mtbf)),
        scale=curves.scale(inputs.gpu_mtbf),
        reports=curves.reports(inputs),
    )


def _goodput_curve(habits: CheckpointPolicy, seed: int) -> list[tuple[Seconds, Share]]:
    """Return simulated goodput at checkpoint intervals from half a minute to a day."""
    points = []
    for place in range(_BETWEEN + 1):
        interval = 30.0 * (DAY / 30.0) ** (place / _BETWEEN)
        share = simulated_goodput(replace(habits, interval=interval), _STRUCK, seed)
        points.append((interval, share))
    return points


def _whole_failures(number: float) -> float:
    return float(round(number)) if number >= 10 and math.isfinite(number) else number


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    ends = math.isfinite(result.wall)
    return {
        **present.values("mtbf", "wall"),
        "promised": present.value("promised")
        if result.played
        else present.value("promised", note="by the formula: too many failures to play them all"),
        "spread": present.value("spread"),
        "verdict": _verdict(present, result),
        "ends": partial(charts.finish_curve, present, result),
        "saving": partial(charts.saving_curve, present, inputs, result),
        "goodput": present.value("goodput", receipt=NO_FAILURE_RECEIPT if ends else NO_END_RECEIPT)
        if result.whole.short or not ends
        else present.value(
            "goodput", symbols=goodput_symbols(inputs.interval, inputs.checkpoint, inputs.work)
        ),
        "young": present.value("young", equation=saving.YOUNG_INTERVAL),
        "daly": present.value("daly", equation=saving.DALY_INTERVAL),
        "best": present.value("best", symbols={"t": "daly", "d": "checkpoint"}),
        "required": partial(charts.required, result),
        "scale": partial(charts.scale, present, inputs, result),
        "reports": partial(charts.reports, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    if math.isinf(result.wall):
        sentence = present.say(
            "Something fails every {mtbf}, before the next checkpoint is reached."
        )
        return Badge(text="Never done", sentence=sentence)
    if result.played is None:
        sentence = present.say(
            "With {failures} failures, luck averages out: the run takes {wall} ± {spread}."
        )
        return Badge(text="Luck averages out", sentence=sentence)
    half = ", and about half of all lives are longer" if result.failures > 5 else ""
    return Badge(
        text="Promise the ninth of ten",
        sentence=present.say(
            f"The mean life takes {{wall}}{half}. Nine in ten end within {{promised}}."
        ),
        color="compute",
    )
