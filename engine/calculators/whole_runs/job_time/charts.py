"""Pictures of a run: from ideal to real, goodput over the interval, the slowest of n, one life."""

import math
from itertools import islice

from engine.basis.text import Text, say
from engine.basis.units import COUNT, DAY, RATIO, SECONDS, SHARE
from engine.basis.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.calculators.whole_runs.job_time.model import Job
from engine.form.job_inputs import Inputs
from engine.formulas.goodput import first_order_goodput, goodput
from engine.formulas.stragglers import slowest_of, slowest_share, slowest_with_one_slow
from engine.simulate.chance import chances
from engine.simulate.cluster_life import Habits, life

_LOW, _HIGH = 30.0, DAY
_INTERVALS = tuple(_LOW * (_HIGH / _LOW) ** (i / 64) for i in range(65))
_SIZES = tuple(2**i for i in range(18))
_FAILURES, _LANES = 16, 8
_STEPS = 121


def waterfall(job: Job) -> Bars:
    """Return the run's time, grown part by part; a part without end is left out."""
    parts = (
        ("Waste below the peak", job.work - job.at_peak),
        ("Waiting for the slowest GPU", job.steps - job.work),
        ("Checkpoints", job.checkpoints),
        ("Work done again", job.redone),
        ("Restarts", job.restarts),
    )
    so_far = job.at_peak
    bars = [
        Bar(
            key="peak",
            label="At the peak of the GPUs",
            segments=(Segment(key="peak", label="at the peak", value=so_far, color="compute"),),
        )
    ]
    for number, (label, added) in enumerate(parts):
        if not math.isfinite(added):
            continue
        bars.append(
            Bar(
                key=f"part{number}",
                label=label,
                segments=(
                    Segment(key="before", label="so far", value=so_far, color="muted"),
                    Segment(key="added", label="added", value=added, color="accent"),
                ),
            )
        )
        so_far += added
    endless: Text = "The job fails before it gets anywhere: the last two parts have no end."
    real: Text = say(
        "Of {wall}, the GPUs at their peak would need {peak}.",
        wall=(job.wall, SECONDS),
        peak=(job.at_peak, SECONDS),
    )
    return Bars(
        title="From the ideal to the real run",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=so_far * 1.02),
        bars=tuple(bars),
        caption=real if math.isfinite(job.wall) else endless,
    )


def goodput_curve(inputs: Inputs, job: Job) -> Lines:
    """Return goodput over the work between checkpoints, with the handle on it."""
    habits = inputs.checkpoint, inputs.restart, job.mtbf
    best = Rule(key="best", label=say("best: {t}", t=(job.daly, SECONDS)), axis="x", at=job.daly)
    return Lines(
        title="Goodput against the work between two checkpoints",
        x=Axis(
            label="work between checkpoints", quantity=SECONDS, low=_LOW, high=_HIGH, scale="log"
        ),
        y=Axis(label="goodput", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="higher",
                label="Daly's model",
                x=_INTERVALS,
                y=tuple(goodput(t, *habits) for t in _INTERVALS),
                color="compute",
            ),
            Series(
                key="first",
                label="first order",
                x=_INTERVALS,
                y=tuple(first_order_goodput(t, *habits) for t in _INTERVALS),
                color="muted",
                dashed=True,
            ),
        ),
        points=(
            Point(
                key="now",
                label=say("{g}", g=(job.goodput, SHARE)),
                x=inputs.interval,
                y=job.goodput,
            ),
        ),
        rules=(best,) if _LOW <= job.daly <= _HIGH else (),
        handle="interval",
        caption="Left of the best the job saves too often, right of it too much is done again.",
    )


def straggler_curve(inputs: Inputs, job: Job) -> Lines:
    """Return how much longer a step is than its mean, over the number of GPUs."""
    alike = [slowest_of(n, inputs.deviation) - 1 for n in _SIZES]
    # The one slow GPU counts only where it is slow: the curves would lie on each other.
    slowed = (
        [slowest_with_one_slow(n, inputs.deviation, inputs.slower) - 1 for n in _SIZES]
        if inputs.slower
        else alike
    )
    sizes = tuple(float(n) for n in _SIZES)
    here = job.slow_down - 1
    return Lines(
        title="Time that everybody waits for the slowest, over an average step",
        x=Axis(label="GPUs", quantity=COUNT, low=sizes[0], high=sizes[-1], scale="log"),
        y=Axis(
            label="added to a step", quantity=SHARE, low=0.0, high=max(*slowed, here, 0.01) * 1.15
        ),
        series=(
            Series(
                key="slowed",
                label="with the slow GPU",
                x=sizes,
                y=tuple(max(0.0, y) for y in slowed),
                color="accent",
            ),
            Series(
                key="alike",
                label="all alike",
                x=sizes,
                y=tuple(max(0.0, y) for y in alike),
                color="compute",
                dashed=True,
            ),
        )[0 if inputs.slower else 1 :],
        points=(
            Point(
                key="now",
                label=say("{s}", s=(here, SHARE)),
                x=float(inputs.num_gpus),
                y=max(0.0, here),
            ),
        ),
        handle="num_gpus",
        caption="The mean of the slowest of n: it grows without end, ever more slowly.",
    )


def slowest_curve(inputs: Inputs, job: Job) -> Lines:
    """Return how often one GPU, and how often all of them, are done by a given time."""
    wide = max(inputs.deviation, 0.002)
    low, high = 1 - 4 * wide, max(1 + 7 * wide, job.slow_down + 4 * wide)
    ratios = tuple(low + (high - low) * i / (_STEPS - 1) for i in range(_STEPS))
    slow = 1 / (1 - inputs.slower)
    others = max(1, inputs.num_gpus - 1)
    return Lines(
        title="Who is done by when",
        x=Axis(label="time over an average step", quantity=RATIO, low=low, high=high),
        y=Axis(label="share of the steps", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="one",
                label="one GPU",
                x=ratios,
                y=tuple(slowest_share(x, 1, inputs.deviation) for x in ratios),
                color="compute",
            ),
            Series(
                key="all",
                label="all GPUs",
                x=ratios,
                y=tuple(
                    slowest_share(x, others, inputs.deviation)
                    * slowest_share(1 + x - slow, 1, inputs.deviation)
                    for x in ratios
                ),
                color="accent",
            ),
        ),
        rules=(
            Rule(
                key="mean",
                label=say("their mean: {m}", m=(job.slow_down, RATIO)),
                axis="x",
                at=job.slow_down,
            ),
        ),
        caption="A step ends when the last GPU is done: the right curve, not the left one.",
    )


def waiting(inputs: Inputs) -> Bars:
    """Return one step of eight GPUs, the first of them the slow one: who computes, who waits."""
    chance = chances(inputs.seed)
    # Twelve even numbers add up to nearly a normal one, with a deviation of one.
    times = [max(0.0, 1 + inputs.deviation * (sum(islice(chance, 12)) - 6)) for _ in range(_LANES)]
    times[0] += 1 / (1 - inputs.slower) - 1
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
        caption="GPU 1 is the slow one. One late, and all of them are."
        if inputs.slower
        else "Jitter alone: one late, and all of them are. Make one of them slower.",
    )


def one_life(inputs: Inputs, job: Job) -> Lines:
    """Return the work that one simulated job has done, over time, until its 16th failure."""
    habits = Habits(
        interval=inputs.interval,
        checkpoint=inputs.checkpoint,
        restart=inputs.restart,
        mtbf=job.mtbf,
    )
    points = [(0.0, 0.0)]
    for stretch in life(habits, _FAILURES, inputs.seed):
        kept = stretch.saved + stretch.gained
        points += [
            (stretch.start, stretch.saved),
            (stretch.end, kept + stretch.unsaved),
            (stretch.end, kept),
        ]
    end = points[-1][0]
    return Lines(
        title="The life of a job: work done, and lost again with every failure",
        x=Axis(label="time", quantity=SECONDS, low=0.0, high=end),
        y=Axis(label="work", quantity=SECONDS, low=0.0, high=end),
        series=(
            Series(
                key="ideal",
                label="nothing fails",
                x=(0.0, end),
                y=(0.0, end),
                color="muted",
                dashed=True,
            ),
            Series(
                key="mean",
                label="mean of all lives",
                x=(0.0, end),
                y=(0.0, end * job.goodput),
                color="ink",
                dashed=True,
            ),
            Series(
                key="life",
                label="this life",
                x=tuple(x for x, _ in points),
                y=tuple(y for _, y in points),
                color="compute",
            ),
        ),
        caption="Failures by a seeded sequence; throw the dice again for another life.",
    )
