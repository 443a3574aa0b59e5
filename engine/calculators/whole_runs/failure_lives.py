"""Failure lives: how often a job fails, how often to save, and which date to promise."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.failure_reports import FAILURE_REPORTS
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.record import record
from engine.core.text import say
from engine.core.units import COUNT, DAY, HOUR, SECONDS, SHARE, Count, Seconds, Share
from engine.core.views import (
    Axis,
    Badge,
    Cell,
    Citation,
    Heatmap,
    Line,
    Lines,
    Point,
    Rule,
    Scale,
    Series,
    Table,
)
from engine.form.lives_inputs import FEWEST, FORECAST, MOST, work_of
from engine.form.lives_inputs import PRESETS as PRESETS
from engine.form.lives_inputs import Inputs as Inputs
from engine.form.saving_inputs import (
    LONG_CHECKPOINT_RECEIPT,
    NO_END_RECEIPT,
    NO_FAILURE_RECEIPT,
    checkpoint_policy,
    goodput_symbols,
    rounded_failures,
)
from engine.formulas.goodput import (
    DALY_INTERVAL,
    GOODPUT,
    JOB_MTBF,
    YOUNG_INTERVAL,
    daly_interval,
    first_order_goodput,
    goodput,
    job_mtbf,
    young_interval,
)
from engine.formulas.stragglers import normal
from engine.simulate.job.failure_monte_carlo import SimulatedRuns, simulate_runs
from engine.simulate.job.failure_process import CheckpointPolicy, simulated_goodput
from engine.simulate.job.forecast import JobTerms, WholeRun, job_run

SHORTEST, LONGEST = 30.0, DAY
INTERVALS = tuple(SHORTEST * (LONGEST / SHORTEST) ** (i / 48) for i in range(49))
CHECKPOINTS = (2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
RESTARTS = (60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0)
SIZES = tuple(float(2**i) for i in range(round(math.log2(FEWEST)), round(math.log2(MOST)) + 1))


@record
class Saving:
    """Goodput at each of `INTERVALS`: by Daly's model, and to first order."""

    daly: tuple[Share, ...]
    first: tuple[Share, ...]


@record
class PublishedRate:
    """Effect of a published failure rate on the job, saving at Daly's interval."""

    mtbf: Seconds
    best: Share


def finished_share(
    wall: Seconds, spread: Seconds, last: Seconds
) -> tuple[tuple[Seconds, ...], tuple[Share, ...]]:
    """Return times around the mean, and the share of lives finished by each, by formula."""
    wide = max(3 * spread, last - wall, 600.0)
    low, high = max(0.0, wall - wide), wall + wide
    grid = tuple(low + (high - low) * i / 80 for i in range(81))
    return grid, tuple(normal((time - wall) / max(spread, 1e-9)) for time in grid)


def goodput_over_intervals(checkpoint: Seconds, restart: Seconds, mtbf: Seconds) -> Saving:
    """Return the goodput over the interval."""
    terms_of_goodput = checkpoint, restart, mtbf
    return Saving(
        daly=tuple(goodput(t, *terms_of_goodput) for t in INTERVALS),
        first=tuple(first_order_goodput(t, *terms_of_goodput) for t in INTERVALS),
    )


def best_goodputs(mtbf: Seconds) -> tuple[tuple[Share, ...], ...]:
    """Return the best goodput for each of `RESTARTS`, by `CHECKPOINTS`."""
    return tuple(
        tuple(_best_goodput(checkpoint, restart, mtbf) for checkpoint in CHECKPOINTS)
        for restart in RESTARTS
    )


def job_mtbfs(gpu_mtbf: Seconds) -> tuple[Seconds, ...]:
    """Return the time between failures of a job of each of `SIZES`."""
    return tuple(job_mtbf(gpu_mtbf, round(size)) for size in SIZES)


def published_rates(inputs: Inputs) -> tuple[PublishedRate, ...]:
    """Return the effect of each published failure rate on the job."""
    rates = []
    for report in FAILURE_REPORTS:
        here = job_mtbf(report.gpu_mtbf, inputs.num_gpus)
        rates.append(
            PublishedRate(mtbf=here, best=_best_goodput(inputs.checkpoint, inputs.restart, here))
        )
    return tuple(rates)


def _best_goodput(checkpoint: Seconds, restart: Seconds, mtbf: Seconds) -> Share:
    """Return the goodput of saving at Daly's interval."""
    return goodput(daly_interval(checkpoint, mtbf), checkpoint, restart, mtbf)


_POISSON = "Failures strike at random and independently, at a constant rate."
_PLAYED = "Every life has its own failures, by a seeded sequence."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A job.

    Attributes:
        whole: the run by the formula.
        played: many lives; None where they would hold too many failures to play.
        tried: goodput of long lives, at some intervals.
        ended, saving, required, scale, reports: what the charts draw.
    """

    mtbf: Annotated[
        Seconds, Output("Something fails every", "M", "{failures} times", assumes=(_POISSON,))
    ]
    steps: Annotated[
        Seconds,
        Output("Without losses", "T", "all that is trained", "compute", assumes=(FORECAST,)),
    ]
    wall: Annotated[
        Seconds, Output("Mean of all lives", "", "± {spread} by luck alone", assumes=(_POISSON,))
    ]
    promised: Annotated[
        Seconds,
        Output(
            "Nine lives in ten end within",
            note="of {count} lives that were played",
            assumes=(_PLAYED, _POISSON),
            basis="simulated",
        ),
    ]
    goodput: Annotated[
        Share, Output("Goodput", "g", "share of the time spent on work that lasts", "compute")
    ]
    young: Annotated[Seconds, Output("Save every (Young)", "t", "first order", assumes=(_POISSON,))]
    daly: Annotated[Seconds, Output("Save every (Daly)", "t", "higher order", assumes=(_POISSON,))]
    best: Annotated[
        Share,
        Output("Goodput at Daly's interval", "g", "instead of {goodput}", assumes=(_POISSON,)),
    ]
    failures: Annotated[float, COUNT]
    spread: Annotated[
        Seconds,
        Output(
            "Luck alone, one standard deviation",
            assumes=(_POISSON, "The variances of all intervals in the model of goodput, added up."),
        ),
    ]
    count: Count
    whole: WholeRun
    played: SimulatedRuns | None
    tried: tuple[tuple[Seconds, Share], ...]
    ended: Lazy[tuple[tuple[Seconds, ...], tuple[Share, ...]]]
    saving: Lazy[Saving]
    required: Lazy[tuple[tuple[Share, ...], ...]]
    scale: tuple[Seconds, ...]
    reports: tuple[PublishedRate, ...]


_NO_ENDS = "No life is drawn: too many failures to play them all, or a job that never ends."


def finish_curve(present: Presenter, result: Result) -> Lines:
    """Return the share of finished lives over time, simulated and by formula."""
    played = result.played
    if played is None:
        now = Axis(label="time", quantity=SECONDS, low=0.0, high=DAY)
        done = Axis(label="lives that have ended", quantity=SHARE, low=0.0, high=1.0)
        return Lines(title="When the lives end", x=now, y=done, series=(), caption=_NO_ENDS)
    count = len(played.ends)
    grid, ended = result.ended()
    return Lines(
        title="When the lives of the job end",
        x=present.axis("wall", "time", low=grid[0], high=grid[-1]),
        y=Axis(label="lives that have ended", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="played",
                label=f"{count} lives",
                x=played.ends,
                y=tuple((i + 1) / count for i in range(count)),
                color="compute",
            ),
            Series(
                key="formula",
                label="by formula",
                x=grid,
                y=ended,
                color="muted",
                dashed=True,
            ),
        ),
        rules=(
            Rule(key="mean", label=present.say("mean: {wall}"), axis="x", at=result.wall),
            Rule(
                key="nine", label=present.say("9 in 10: {promised}"), axis="x", at=result.promised
            ),
        ),
        caption="Luck alone. The error of the predicted step comes on top, and is often larger. "
        "Dashed: a normal curve with the mean and the spread that formulas give.",
    )


def saving_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return goodput over the interval: by formula, to first order, and simulated."""
    saved = result.saving()
    best = Rule(key="best", label=present.say("Daly: {daly}"), axis="x", at=result.daly)
    tried, shares = zip(*result.tried, strict=True)
    return present.curve(
        "Goodput against the work between two checkpoints",
        over=Scale("daly", "work between checkpoints", SHORTEST, LONGEST, log=True),
        shows=Scale("goodput", "goodput", 0.0, 1.0),
        x=INTERVALS,
        lines=(
            Line("daly", "Daly\u2019s model", saved.daly, "compute"),
            Line("first", "first order", saved.first, "muted", dashed=True),
            Line("tried", "played", shares, "accent", x=tried),
        ),
        handle="interval",
        rules=(best,) if SHORTEST <= result.daly <= LONGEST else (),
        caption="Left of the best interval, the job spends its time saving; right of it, it loses "
        "too much with every failure.",
    )


def required(result: Result) -> Heatmap:
    """Return the best goodput for short and long checkpoints and restarts, at this failure rate."""
    return Heatmap(
        title="Best goodput, by checkpoint and restart",
        x_label="time of a checkpoint",
        y_label="restart",
        x=tuple(_duration_text(checkpoint) for checkpoint in CHECKPOINTS),
        y=tuple(_duration_text(restart) for restart in RESTARTS),
        values=result.required(),
        quantity=SHARE,
        caption=say(
            "Each cell saves at its own best interval. Something fails every {m}.",
            m=(result.mtbf, SECONDS),
        ),
    )


def _duration_text(time: Seconds) -> str:
    return f"{time:g} s" if time < 60 else f"{time / 60:g} min"


def scale(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the time between failures over the number of GPUs, with published rates."""
    ours = result.scale
    published = tuple(
        Point(
            key=report.source,
            label=report.name.rsplit(",", 1)[0],
            x=float(report.world_size),
            y=report.mtbf,
            color="communication",
        )
        for report in FAILURE_REPORTS
    )
    now = Point(key="now", label=present.say("{mtbf}"), x=float(inputs.num_gpus), y=result.mtbf)
    theirs = [report.mtbf for report in FAILURE_REPORTS]
    return Lines(
        title="Time between two failures of a job, by its size",
        x=present.axis("num_gpus", "GPUs", low=SIZES[0], high=SIZES[-1], scale="log"),
        y=present.axis(
            "mtbf",
            "time between failures",
            low=min(*ours, *theirs) / 2,
            high=max(*ours, *theirs) * 2,
            scale="log",
        ),
        series=(Series(key="ours", label="GPUs as above", x=SIZES, y=ours, color="compute"),),
        points=(now, *published),  # the handle is the first one's
        handle="num_gpus",
        caption="Twice the GPUs, half the time. The line is for the failure rate set above.",
    )


def reports(result: Result) -> Table:
    """Return published failure rates per GPU, and their effect on the job."""
    rows: list[tuple[Cell, ...]] = []
    for report, here in zip(FAILURE_REPORTS, result.reports, strict=True):
        rows.append(
            (
                report.name,
                say("{n}", n=(report.world_size, COUNT)),
                report.said,
                say("{h} h", h=(float(round(report.gpu_mtbf / HOUR, -2)), COUNT)),
                say("{m}", m=(here.mtbf, SECONDS)),
                say("{g}", g=(here.best, SHARE)),
                Citation((report.source,)),
            )
        )
    return Table(
        title="Published rates of failure, and your job with them",
        columns=(
            "Run",
            "GPUs",
            "As published",
            "Per GPU",
            "Your job would fail every",
            "Best goodput",
            "Source",
        ),
        rows=tuple(rows),
        caption="Best goodput: with your checkpoint and restart, saving at Daly\u2019s interval.",
    )


TITLE = "The lives of a job"
QUESTION = "How often does it fail, how often should it save, and which date can be promised?"
HEADLINE = "wall"
EQUATIONS = (
    JOB_MTBF,
    GOODPUT,
    YOUNG_INTERVAL,
    DALY_INTERVAL,
)
PROMISED: Share = 0.9
_BETWEEN = 12  # intervals at which a long life is played
_STRUCK = 400  # failures in each


def terms(inputs: Inputs) -> JobTerms:
    """Return the job of the page: its steps are those of a forecast, or days that are typed."""
    return JobTerms(work=work_of(inputs), policy=checkpoint_policy(inputs, inputs.num_gpus))


RUNS = {"wall": terms}


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    habits = checkpoint_policy(inputs, inputs.num_gpus)
    terms_of_goodput = inputs.checkpoint, inputs.restart, (mtbf := habits.mtbf)
    daly = daly_interval(inputs.checkpoint, mtbf)
    whole, best = job_run(terms(inputs)), goodput(daly, *terms_of_goodput)
    played = simulate_runs(habits, work_of(inputs), whole.failures, inputs.seed)
    return Result(
        steps=work_of(inputs),
        mtbf=mtbf,
        wall=whole.wall,
        # Nine tenths of a normal distribution lie below 1.2816 deviations over its mean.
        promised=played.quantile(PROMISED) if played else whole.wall + 1.2816 * whole.spread,
        goodput=whole.goodput,
        young=young_interval(inputs.checkpoint, mtbf),
        daly=daly,
        best=best,
        failures=rounded_failures(whole.failures),
        spread=whole.spread,
        count=len(played.ends) if played else 0,
        whole=whole,
        played=played,
        tried=tuple(_goodput_curve(habits, inputs.seed)),
        ended=Lazy(
            partial(finished_share, whole.wall, whole.spread, played.ends[-1] if played else 0.0)
        ),
        saving=Lazy(partial(goodput_over_intervals, *terms_of_goodput)),
        required=Lazy(partial(best_goodputs, mtbf)),
        scale=job_mtbfs(inputs.gpu_mtbf),
        reports=published_rates(inputs),
    )


def _goodput_curve(habits: CheckpointPolicy, seed: int) -> list[tuple[Seconds, Share]]:
    """Return simulated goodput at checkpoint intervals from half a minute to a day."""
    points = []
    for point in range(_BETWEEN + 1):
        interval = 30.0 * (DAY / 30.0) ** (point / _BETWEEN)
        share = simulated_goodput(replace(habits, interval=interval), _STRUCK, seed)
        points.append((interval, share))
    return points


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    ends = math.isfinite(result.wall)
    return {
        **present.values("mtbf", "steps", "wall"),
        "promised": present.value("promised")
        if result.played
        else present.value("promised", note="by the formula: too many failures to play them all"),
        "spread": present.value("spread"),
        "verdict": _verdict(present, result),
        "ends": partial(finish_curve, present, result),
        "saving": partial(saving_curve, present, inputs, result),
        "goodput": present.value("goodput", receipt=NO_FAILURE_RECEIPT if ends else NO_END_RECEIPT)
        if result.whole.short or not ends
        else present.value(
            "goodput", symbols=goodput_symbols(inputs.interval, inputs.checkpoint, result.steps)
        ),
        "young": present.value("young", equation=YOUNG_INTERVAL),
        "daly": present.value("daly", equation=DALY_INTERVAL)
        if inputs.checkpoint < 2 * result.mtbf
        else present.value("daly", receipt=LONG_CHECKPOINT_RECEIPT),
        "best": present.value("best", symbols={"t": "daly", "d": "checkpoint"}),
        "required": partial(required, result),
        "scale": partial(scale, present, inputs, result),
        "reports": partial(reports, result),
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
