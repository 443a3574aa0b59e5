"""Charts of a forecast: waterfall, more GPUs, and published figures."""

import math

from engine.calculators.whole_runs.run_forecast.inputs import LEAST, MOST, Inputs
from engine.calculators.whole_runs.run_forecast.result import Result
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import DAY, GPU_TIME, RATIO, SECONDS, SHARE
from engine.core.views import Axis, Bar, Bars, Citation, Lines, Point, Segment, Series, Table
from engine.form.forecast_jobs import JOBS

_PARTS = (
    ("kernels", "Kernels below the peak"),
    ("exposed", "Exposed communication"),
    ("bubble", "Pipeline bubble"),
    ("host", "Optimizer, host, jitter"),
    ("slow_gpu", "The slow GPU"),
    ("checkpoints", "Checkpoints"),
    ("redone", "Work done again"),
    ("restarts", "Restarts"),
)


def waterfall(present: Presenter, result: Result) -> Bars:
    """Return the run's time, grown part by part, and its range."""
    parts = result.found.parts
    so_far = parts.ideal
    peak = Segment(key="peak", label="at the peak", value=so_far, color="compute")
    bars = [Bar(key="ideal", label="At the peak of the GPUs", segments=(peak,))]
    for key, label in _PARTS:
        added = getattr(parts, key)
        if not math.isfinite(added) or (key == "slow_gpu" and not added):
            continue
        bars.append(_bar(key, label, so_far, max(0.0, added)))
        so_far += max(0.0, added)
    late = result.late if math.isfinite(result.late) else so_far
    real = Segment(key="run", label="the run", value=so_far, color="compute")
    bars.append(
        Bar(key="run", label="The run", segments=(real,), low=min(result.early, so_far), high=late)
    )
    return Bars(
        title="From the ideal to the real run",
        axis=present.axis("wall_time", "time", low=0.0, high=max(so_far, late) * 1.02),
        bars=tuple(bars),
        caption=present.say(
            "Of {wall_time}, the GPUs at their peak would need {ideal}. The line on the last bar "
            "is the range from the error of predicted steps."
        )
        if math.isfinite(result.wall_time)
        else "The job fails before it gets anywhere: the last parts have no end.",
    )


def _bar(key: str, label: str, before: float, added: float) -> Bar:
    segments = (
        Segment(key="before", label="so far", value=before, color="muted"),
        Segment(key="added", label="added", value=added, color="accent"),
    )
    return Bar(key=key, label=label, segments=segments)


def more_gpus(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the run's time over the number of GPUs at a fixed batch."""
    curve = result.curve
    x = result.num_gpus / JOBS[inputs.job].plan.world_size
    now = Point(key="now", label=present.say("{wall_time}"), x=x, y=result.wall_time)
    drawn = (*curve.wall, *curve.perfect) or (DAY,)
    low, high = min(drawn) / 1.5, max(drawn) * 1.5
    shown = not result.grown and result.fit.runs and math.isfinite(result.wall_time)
    return Lines(
        title="The same batch on more GPUs",
        x=Axis(
            label="GPUs over those of the plan", quantity=RATIO, low=LEAST, high=MOST, scale="log"
        ),
        y=present.axis("wall_time", "the run takes", low=low, high=high, scale="log"),
        series=(
            Series(key="wall", label="the run", x=curve.more, y=curve.wall, color="compute"),
            Series(
                key="perfect",
                label="twice the GPUs, half the time",
                x=curve.more,
                y=curve.perfect,
                color="muted",
                dashed=True,
            ),
        )
        if len(curve.more) > 1
        else (),
        points=(now,) if shown and low <= result.wall_time <= high and LEAST <= x <= MOST else (),
        handle="more",
        caption=_limits(result),
    )


def _limits(result: Result) -> Text:
    curve = result.curve
    if len(curve.more) < 2:
        return "No other number of GPUs fits this plan and its batch."
    return say(
        "On {m} the GPUs, the farthest that is drawn, the run costs {c} what it costs on the "
        "plan's own number.",
        m=(curve.more[-1], RATIO),
        c=(curve.cost[-1], RATIO),
    )


def forecast_formulas(present: Presenter, result: Result) -> Table:
    """Return the forecasts of four formulas, the simplest first."""
    parts = result.found.parts
    compute = parts.ideal + parts.kernels
    rows = (
        ("operations / peak", parts.ideal),
        ("computation", compute),
        ("computation and exposed communication", compute + parts.exposed),
        ("these, bubble, optimizer and host: the steps", result.work_time),
        ("the steps, a slow GPU, checkpoints and failures: the run", result.wall_time),
    )
    return Table(
        title="Five formulas for one job",
        columns=("Formula", "The run would take", "Of the run"),
        rows=tuple(
            (
                name,
                say("{t}", t=(time, SECONDS)),
                say("{s}", s=(time / result.wall_time, SHARE)),
            )
            for name, time in rows
        ),
    )


def published_comparison(inputs: Inputs, result: Result) -> Table:
    """Return published figures and forecast of the job; empty for an unpublished job."""
    job = JOBS[inputs.job]
    asked = inputs.more == 1 and inputs.tokens == job.tokens
    if not asked or not (job.gpu_time or job.wall):
        return Table(title="", columns=(), rows=())
    hours = bool(job.gpu_time)
    ours, low, high = (
        (result.gpu_hours, result.low_hours, result.high_hours)
        if hours
        else (result.wall_time, result.early, result.late)
    )
    theirs, quantity = (job.gpu_time, GPU_TIME) if hours else (job.wall, SECONDS)
    off = ours / theirs - 1
    return Table(
        title="Published of this job",
        columns=("Forecast", "Range", "Published", "Forecast off by", "As published", "Source"),
        rows=(
            (
                say("{p}", p=(ours, quantity)),
                say("{l} to {h}", l=(low, quantity), h=(high, quantity)),
                say("{v}", v=(theirs, quantity)),
                say(f"{'+' if off >= 0 else '−'}{{off}}", off=(abs(off), SHARE)),
                job.said,
                Citation((job.source,)),
            ),
        ),
    )
