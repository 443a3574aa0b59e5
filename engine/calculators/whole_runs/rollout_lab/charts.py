"""The charts of the lab: the tail, the survivors, the split, and all placements."""

from engine.calculators.whole_runs.rollout_lab.curves import SPLITS, SPREADS
from engine.calculators.whole_runs.rollout_lab.inputs import MODE_NAMES, SPREAD, Inputs
from engine.calculators.whole_runs.rollout_lab.inputs import SHARE as SHARES
from engine.calculators.whole_runs.rollout_lab.result import Result
from engine.core.slices import Slices
from engine.core.text import say
from engine.core.units import COUNT, SECONDS, SHARE
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.simulate.job.reinforcement import MODES, RlMode


def tail(inputs: Inputs, result: Result) -> Slices[Lines]:
    """Compute the chart of generation time over the length spread."""
    curve = yield from result.tail_curve.rest()
    now = curve.now
    return Lines(
        title="Generation over the spread of the lengths, all GPUs generating",
        x=Axis(label="spread", quantity=COUNT, low=SPREAD[0], high=SPREAD[1]),
        y=Axis(label="time", quantity=SECONDS, low=0.0, high=1.1 * max(*curve.last, now)),
        series=(
            Series(key="last", label="last engine", x=SPREADS, y=curve.last, color="communication"),
            Series(key="mean", label="mean engine", x=SPREADS, y=curve.even, color="compute"),
        ),
        points=(Point(key="now", label=say("{t}", t=(now, SECONDS)), x=inputs.spread, y=now),),
        handle="spread",
        caption="Between the curves GPUs wait. The median stays as it is; a wider spread makes the "
        "mean longer too.",
    )


def survivors(result: Result) -> Lines:
    """Return the share of unfinished responses over time."""
    times, shares = zip(*result.survivors(), strict=True)
    return Lines(
        title="Responses that still run",
        x=Axis(label="time", quantity=SECONDS, low=0.0, high=times[-1]),
        y=Axis(label="still running or waiting", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="running",
                label="of all responses",
                x=times,
                y=shares,
                color="communication",
            ),
        ),
        rules=(Rule(key="one", label="one in a hundred", axis="y", at=0.01, color="muted"),),
        caption="A synchronous step ends where the curve reaches zero.",
    )


def split(inputs: Inputs, result: Result) -> Slices[Lines]:
    """Compute step time over the share of generating GPUs, one step off and as a stream."""
    modes: tuple[tuple[RlMode, str, str], ...] = (
        ("separate", "in turn", "tensor"),
        ("one_step_off", "one step off", "communication"),
        ("stream", "a stream", "compute"),
    )
    curve = yield from result.split.rest()
    colocated, now = result.steps["colocated"].total, curve.now
    most = max(*map(max, curve.steps.values()), colocated, now)
    return Lines(
        title="A step over the share of the GPUs that generate",
        x=Axis(label="GPUs that generate", quantity=SHARE, low=SHARES[0], high=SHARES[1]),
        y=Axis(label="step", quantity=SECONDS, low=0.0, high=1.1 * most),
        series=tuple(
            Series(key=mode, label=name, x=SPLITS, y=curve.steps[mode], color=color)
            for mode, name, color in modes
        ),
        points=(Point(key="now", label=say("{t}", t=(now, SECONDS)), x=inputs.share, y=now),),
        rules=(Rule(key="same", label="same GPUs", axis="y", at=colocated),),
        handle="share",
        caption=say(
            f"{MODE_NAMES[curve.mode]}: with {{share}} of them generating, a step takes {{t}}. "
            "Toward the left end too few GPUs generate; toward the right end too few train.",
            share=(inputs.share, SHARE),
            t=(now, SECONDS),
        ),
    )


def placements(result: Result) -> Bars:
    """Return the breakdown of a step's GPU time by placement."""
    bars = []
    for mode in MODES:
        step, world = result.steps[mode], result.setup.world_size
        generating = world if mode == "colocated" else result.setup.generating
        trainers = world if mode == "colocated" else world - generating
        learning = trainers * (step.forwards + step.training) / world
        moved = step.update
        idle = step.idle * step.total
        parts = (
            ("generation", "generating", step.total - idle - moved - learning, "communication"),
            ("learning", "log-probabilities and training", learning, "compute"),
            ("update", "new weights", moved, "parameters"),
            ("idle", "idle", idle, "idle"),
        )
        bars.append(
            Bar(
                key=mode,
                label=MODE_NAMES[mode],
                segments=tuple(
                    Segment(key=key, label=label, value=max(0.0, value), color=color)
                    for key, label, value, color in parts
                ),
            )
        )
    most = max(step.total for step in result.steps.values())
    return Bars(
        title="What the mean GPU does in a step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=tuple(bars),
        caption="At the split that is set. The length of a bar is the step.",
    )
