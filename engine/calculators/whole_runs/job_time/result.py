"""Results of job time."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.outputs import Output
from engine.core.units import (
    COUNT,
    DAY,
    Count,
    Energy,
    FlopRate,
    GpuTime,
    Money,
    Power,
    Ratio,
    Seconds,
    Share,
    TokenRate,
)
from engine.form.job_inputs import Inputs
from engine.form.plan_to_reality import ASSUMES, NO_LOSSES, SOURCES
from engine.formulas.goodput import first_order_goodput, goodput
from engine.formulas.stragglers import (
    all_done_share,
    slowest_of,
    slowest_share,
    slowest_with_one_slow,
)
from engine.simulate.job.failure_process import CheckpointPolicy, progress_line
from engine.simulate.numerics.rng import jittered_step_times

# Curves of job time: goodput over the interval, stragglers, and a simulated run.

SHORTEST, LONGEST = 30.0, DAY
INTERVALS = tuple(SHORTEST * (LONGEST / SHORTEST) ** (i / 64) for i in range(65))
SIZES = tuple(2**i for i in range(18))
_FAILURES, _LANES = 16, 8
_STEPS = 121


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Columns of the page's charts.

    Attributes:
        daly, first: goodput by `INTERVALS`, complete and to first order.
        alike, slowed: added to a step by `SIZES`, without and with the slow GPU.
        ratios: times over an average step, by which `one` GPU and `all` of them are done.
        waiting: one step of some GPUs, over an average step; the first is the slow one.
        life: (time, work) of one simulated job.
    """

    daly: tuple[Share, ...]
    first: tuple[Share, ...]
    alike: tuple[Share, ...]
    slowed: tuple[Share, ...]
    ratios: tuple[Ratio, ...]
    one_gpu: tuple[Share, ...]
    all: tuple[Share, ...]
    waiting: tuple[Ratio, ...]
    life: tuple[tuple[Seconds, Seconds], ...]


def curves(inputs: Inputs, habits: CheckpointPolicy, slow_down: Ratio) -> Curves:
    """Return the columns for the inputs."""
    terms_of_goodput = habits.checkpoint, habits.restart, habits.mtbf
    deviation, slower, gpus = inputs.deviation, inputs.slower, inputs.num_gpus
    alike = tuple(slowest_of(n, deviation) - 1 for n in SIZES)
    ratios = _ratios(deviation, slow_down)
    return Curves(
        daly=tuple(goodput(t, *terms_of_goodput) for t in INTERVALS),
        first=tuple(first_order_goodput(t, *terms_of_goodput) for t in INTERVALS),
        alike=alike,
        # The one slow GPU counts only where it is slow: the curves would lie on each other.
        slowed=tuple(slowest_with_one_slow(n, deviation, slower) - 1 for n in SIZES)
        if slower
        else alike,
        ratios=ratios,
        one_gpu=tuple(slowest_share(x, 1, deviation) for x in ratios),
        all=tuple(all_done_share(x, gpus, deviation, slower) for x in ratios),
        waiting=jittered_step_times(_LANES, deviation, slower, inputs.seed),
        life=progress_line(habits, _FAILURES, inputs.seed),
    )


def _ratios(deviation: Share, slow_down: Ratio) -> tuple[Ratio, ...]:
    wide = max(deviation, 0.002)
    low, high = 1 - 4 * wide, max(1 + 7 * wide, slow_down + 4 * wide)
    return tuple(low + (high - low) * i / (_STEPS - 1) for i in range(_STEPS))


QUANTILE = 0.99
_POISSON = "Failures strike at random and independently, at a constant rate."
_WAITS = "All GPUs wait for the slowest in every step; their times are independent."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A run.

    Attributes:
        peak: of one GPU, dense, 16 bits.
        at_peak: time of the steps at the peak, never above `work_time`.
        work: GPU time of the steps.
        jitter: slowdown by the slowest of n alike GPUs.
        slow_factor: by the one slow GPU beyond that.
        steps: time of the steps, `waiting` for the slowest included.
        spread: of the wall time by the luck of failures alone.
        checkpoints, restarts, redone: what of the wall time goes there.
        failures: how many are expected.
        chance: that anything fails in the run.
        short: whether it is over before the first checkpoint is due.
        draw: power of all GPUs with their building.
        one_in: steps in which one is without a slowest percent.
        known_failures, known_all, known_window, known_gpus: what the default rate of failures
            rests on.
        known_effective, known_hours, known_wall: what was published of that run.
    """

    wall_time: Annotated[
        Seconds,
        Output(
            "The run takes",
            "Tr",
            "± {spread} by the luck of failures alone",
            assumes=(
                _POISSON,
                "The speed holds all usual waiting; a slow GPU stretches all of a step.",
                "No evaluation, no planned maintenance, no run that had to be repeated.",
            ),
        ),
    ]
    gpu_hours: Annotated[
        GpuTime,
        Output(
            "GPU hours",
            "G",
            "{num_gpus} GPUs for the whole run",
            assumes=("Idle GPUs count: nobody else has them.",),
        ),
    ]
    in_the_end: Annotated[
        Seconds,
        Output(
            "Runs of this kind took in the end",
            note="{end_low} to {end_high} in eight of ten, {end_hours}",
            assumes=ASSUMES,
            sources=SOURCES,
        ),
    ]
    cost: Annotated[
        Money,
        Output(
            "Cost",
            "K",
            "in your currency, at {price}",
            assumes=("In the currency of the price; storage left out.",),
        ),
    ]
    energy: Annotated[
        Energy,
        Output(
            "Energy",
            "E",
            "{num_gpus} GPUs draw {draw} with their building",
            assumes=("Full power for the whole time; a GPU that waits draws less.",),
        ),
    ]
    work_time: Annotated[
        Seconds,
        Output(
            "If nothing fails and no GPU is slow",
            "Tk",
            "{work} of work",
            color="compute",
            assumes=("The speed of one GPU times their number.", NO_LOSSES),
        ),
    ]
    token_rate: Annotated[TokenRate, Output("Speed of one GPU", "r", "from the MFU")]
    reached: Annotated[Share, Output("Share of the peak", "u", "MFU")]
    mtbf: Annotated[
        Seconds,
        Output(
            "Something fails every",
            "M",
            "{failures} failures expected in the run",
            assumes=(
                _POISSON,
                "The default is Llama 3's: of {known_all} interruptions in {known_window} on "
                "{known_gpus} GPUs {known_failures} were unexpected.",
            ),
        ),
    ]
    goodput: Annotated[
        Share,
        Output("Goodput", "g", "share of the time spent on work that lasts", assumes=(_POISSON,)),
    ]
    first_order: Annotated[
        Share,
        Output(
            "Goodput, first order",
            "g",
            "too optimistic where failures are frequent",
            assumes=(
                "At most one failure between two checkpoints, none in a checkpoint or a restart.",
            ),
        ),
    ]
    young: Annotated[Seconds, Output("Save every (Young)", "t", "first order", assumes=(_POISSON,))]
    daly: Annotated[
        Seconds,
        Output(
            "Save every (Daly)",
            "t",
            "higher order; work only, without the checkpoint",
            assumes=(_POISSON,),
        ),
    ]
    best_goodput: Annotated[
        Share,
        Output(
            "Goodput at Daly's interval",
            "g",
            "what saving at the right moments can reach",
            assumes=(_POISSON,),
        ),
    ]
    slow_down: Annotated[
        Ratio,
        Output(
            "A step takes",
            "m",
            "an average one; {jitter} if all GPUs were alike",
            assumes=(_WAITS, "Normal step times.", "The run has its jitter in its speed already."),
        ),
    ]
    bound: Annotated[
        Ratio,
        Output(
            "At most, all alike",
            "m",
            "whatever the distribution of step times",
            assumes=(_WAITS,),
        ),
    ]
    all_below: Annotated[
        Share,
        Output(
            "Steps in which no GPU is in its slowest 1 %",
            "A",
            "one step in {one_in}",
            assumes=("Any distribution of times.",),
        ),
    ]
    slow_gpu: Annotated[
        GpuTime,
        Output(
            "GPU hours lost to the one slow GPU",
            "Gl",
            "by all who wait for it",
            assumes=(_WAITS,),
        ),
    ]
    peak: Annotated[FlopRate, Output(symbol="F")]
    at_peak: Seconds
    end_low: Seconds
    end_high: Seconds
    end_hours: GpuTime
    work: GpuTime
    jitter: Ratio
    slow_factor: Annotated[Ratio, Output(symbol="S")]
    quantile: Annotated[Share, Output(symbol="q")]
    steps: Seconds
    waiting: Seconds
    spread: Seconds
    checkpoints: Seconds
    restarts: Seconds
    redone: Seconds
    failures: Annotated[float, COUNT]
    chance: Share
    short: bool
    draw: Power
    one_in: Annotated[float, COUNT]
    known_failures: Count
    known_all: Count
    known_window: Seconds
    known_gpus: Count
    known_effective: Share
    known_hours: GpuTime
    known_wall: Seconds
    curves: Curves
