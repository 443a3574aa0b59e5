"""Charts of job time: waterfall, goodput, stragglers, and a simulated run."""

import math

from engine.calculators.whole_runs.job_time.curves import INTERVALS, LONGEST, SHORTEST, SIZES
from engine.calculators.whole_runs.job_time.result import Result
from engine.core.outputs import Presenter
from engine.core.units import SHARE
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.form.job_inputs import Inputs

_ENDLESS = "The job fails before it gets anywhere: the last two parts have no end."


def waterfall(present: Presenter, result: Result) -> Bars:
    """Return the run's time, grown part by part; a part without end is left out."""
    parts = (
        ("Waste below the peak", result.work_time - result.at_peak),
        ("Waiting for the slow GPU", result.waiting),
        ("Checkpoints", result.checkpoints),
        ("Work done again", result.redone),
        ("Restarts", result.restarts),
    )
    so_far = result.at_peak
    peak = Segment(key="peak", label="at the peak", value=so_far, color="compute")
    bars = [Bar(key="peak", label="At the peak of the GPUs", segments=(peak,))]
    for number, (label, added) in enumerate(parts):
        if not math.isfinite(added):
            continue
        before = Segment(key="before", label="so far", value=so_far, color="muted")
        more = Segment(key="added", label="added", value=added, color="accent")
        bars.append(Bar(key=f"part{number}", label=label, segments=(before, more)))
        so_far += added
    real = present.say("Of {wall_time}, the GPUs at their peak would need {at_peak}.")
    return Bars(
        title="From the ideal to the real run",
        axis=present.axis("wall_time", "time", low=0.0, high=so_far * 1.02),
        bars=tuple(bars),
        caption=real if math.isfinite(result.wall_time) else _ENDLESS,
    )


def goodput_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return goodput over the work between checkpoints, with the handle on it."""
    best = Rule(key="best", label=present.say("best: {daly}"), axis="x", at=result.daly)
    curves, now = result.curves, result.goodput
    first = Series(
        key="first", label="first order", x=INTERVALS, y=curves.first, color="muted", dashed=True
    )
    return Lines(
        title="Goodput against the work between two checkpoints",
        x=present.axis("daly", "work between checkpoints", low=SHORTEST, high=LONGEST, scale="log"),
        y=present.axis("goodput", "goodput", low=0.0, high=1.0),
        series=(
            Series(key="higher", label="Daly's model", x=INTERVALS, y=curves.daly, color="compute"),
            first,
        ),
        points=()
        if result.short
        else (Point(key="now", label=present.say("{goodput}"), x=inputs.interval, y=now),),
        rules=(best,) if SHORTEST <= result.daly <= LONGEST else (),
        handle="interval",
        caption="Left of the best point the job saves too often; right of it, too much is lost.",
    )


def straggler_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the straggler slowdown of a step over the number of GPUs."""
    sizes = tuple(float(n) for n in SIZES)
    alike, slowed = (
        tuple(max(0.0, y) for y in column) for column in (result.curves.alike, result.curves.slowed)
    )
    here = result.slow_down - 1
    series = (
        Series(key="slowed", label="with the slow GPU", x=sizes, y=slowed, color="accent"),
        Series(key="alike", label="all alike", x=sizes, y=alike, color="compute", dashed=True),
    )
    high = max(*result.curves.slowed, here, 0.01) * 1.15
    label = present.say("{s}", s=(here, SHARE))
    return Lines(
        title="Time that everybody waits for the slowest, over an average step",
        x=present.axis("num_gpus", "GPUs", low=sizes[0], high=sizes[-1], scale="log"),
        y=Axis(label="added to a step", quantity=SHARE, low=0.0, high=high),
        series=series[0 if inputs.slower else 1 :],
        points=(Point(key="now", label=label, x=float(inputs.num_gpus), y=max(0.0, here)),),
        handle="num_gpus",
        caption="The mean of the slowest of n: it grows without end, ever more slowly.",
    )


def slowest_curve(present: Presenter, result: Result) -> Lines:
    """Return the completion probability of a GPU, and of all GPUs, over time."""
    curves = result.curves
    mean = present.say("their mean: {slow_down}")
    return Lines(
        title="Who is done by when",
        x=present.axis(
            "slow_down", "time over an average step", low=curves.ratios[0], high=curves.ratios[-1]
        ),
        y=Axis(label="share of the steps", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(key="one", label="one GPU", x=curves.ratios, y=curves.one_gpu, color="compute"),
            Series(key="all", label="all GPUs", x=curves.ratios, y=curves.all, color="accent"),
        ),
        rules=(Rule(key="mean", label=mean, axis="x", at=result.slow_down),),
        caption="A step ends when the last GPU is done: the right curve, not the left one.",
    )


def waiting(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    """Return a step of eight GPUs with a slow first GPU: computing and waiting."""
    times = result.curves.waiting
    last = max(times)
    return Bars(
        title="One step of eight of the GPUs",
        axis=Axis(label="over an average step", quantity=SHARE, low=0.0, high=last * 1.02),
        bars=tuple(
            Bar(
                key=f"gpu{number}",
                label=f"GPU {number}",
                segments=(
                    Segment(key="busy", label="computes", value=time, color="compute"),
                    Segment(key="idle", label="waits", value=last - time, color="muted"),
                ),
            )
            for number, time in enumerate(times, start=1)
        ),
        caption="GPU 1 is the slow one. If one is late, all of them are."
        if inputs.slower
        else "Jitter alone: if one is late, all of them are. Make one of them slower.",
    )


def one_life(present: Presenter, result: Result) -> Lines:
    """Return completed work of a simulated job over time, until its 16th failure."""
    times, work = zip(*result.curves.life, strict=True)
    end = times[-1]

    def straight(key: str, label: str, last: float, color: str) -> Series:
        return Series(key=key, label=label, x=(0.0, end), y=(0.0, last), color=color, dashed=True)

    return Lines(
        title="The life of a job: work done, and lost with every failure",
        x=present.axis("wall_time", "time", low=0.0, high=end),
        y=present.axis("steps", "work", low=0.0, high=end),
        series=(
            straight("ideal", "nothing fails", end, "muted"),
            straight("mean", "mean of all lives", end * result.goodput, "ink"),
            Series(key="life", label="this life", x=times, y=work, color="compute"),
        ),
        caption="Failures by a seeded sequence; roll the dice again for another run.",
    )
