"""Charts of failure lives: completion times, checkpoint interval, and failures by job size."""

from engine.calculators.whole_runs.failure_lives.curves import (
    CHECKPOINTS,
    INTERVALS,
    LONGEST,
    RESTARTS,
    SHORTEST,
    SIZES,
)
from engine.calculators.whole_runs.failure_lives.inputs import Inputs
from engine.calculators.whole_runs.failure_lives.result import Result
from engine.catalog.failure_reports import FAILURE_REPORTS
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import COUNT, DAY, HOUR, SECONDS, SHARE, Seconds
from engine.core.views import Axis, Cell, Citation, Heatmap, Lines, Point, Rule, Series, Table

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
    curves = result.saving()
    best = Rule(key="best", label=present.say("Daly: {daly}"), axis="x", at=result.daly)
    tried, shares = zip(*result.tried, strict=True)
    return Lines(
        title="Goodput against the work between two checkpoints",
        x=present.axis("daly", "work between checkpoints", low=SHORTEST, high=LONGEST, scale="log"),
        y=present.axis("goodput", "goodput", low=0.0, high=1.0),
        series=(
            Series(
                key="daly",
                label="Daly\u2019s model",
                x=INTERVALS,
                y=curves.daly,
                color="compute",
            ),
            Series(
                key="first",
                label="first order",
                x=INTERVALS,
                y=curves.first,
                color="muted",
                dashed=True,
            ),
            Series(key="tried", label="played", x=tried, y=shares, color="accent"),
        ),
        points=(
            Point(key="now", label=present.say("{goodput}"), x=inputs.interval, y=result.goodput),
        ),
        rules=(best,) if SHORTEST <= result.daly <= LONGEST else (),
        handle="interval",
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
