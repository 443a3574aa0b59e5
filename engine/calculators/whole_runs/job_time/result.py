"""What job time shows: a run from its inputs, every number of the page."""

import math
from dataclasses import dataclass
from typing import Annotated

from engine.basis.told import Told
from engine.basis.units import (
    COUNT,
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
from engine.calculators.whole_runs.job_time.curves import Curves, curves
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.publications import LLAMA_3_405B
from engine.form.job_inputs import LLAMA3_FAILURES, LLAMA3_GPUS, LLAMA3_WINDOW, Inputs
from engine.formulas import goodput as saving
from engine.formulas import run, stragglers
from engine.simulate.cluster_life import Habits
from engine.simulate.whole_run import whole_run

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
        jitter: slow-down by the slowest of n alike GPUs.
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
        Told(
            "The run takes",
            "Tr",
            "± {spread} by the luck of failures alone",
            assumes=(
                _POISSON,
                _WAITS,
                "No evaluation, no planned maintenance, no run that had to be repeated.",
            ),
        ),
    ]
    gpu_hours: Annotated[
        GpuTime,
        Told(
            "GPU hours",
            "G",
            "{num_gpus} GPUs for the whole run",
            assumes=("Idle GPUs count: nobody else has them.",),
        ),
    ]
    cost: Annotated[
        Money,
        Told(
            "Cost",
            "K",
            "in your currency, at {price}",
            assumes=("In the currency of the price; storage left out.",),
        ),
    ]
    energy: Annotated[
        Energy,
        Told(
            "Energy",
            "E",
            "{num_gpus} GPUs draw {draw} with their building",
            assumes=("Full power for the whole time; a GPU that waits draws less.",),
        ),
    ]
    work_time: Annotated[
        Seconds,
        Told(
            "If nothing fails and nobody waits",
            "Tk",
            "{work} of work",
            color="compute",
            assumes=("The speed of one GPU times their number.",),
        ),
    ]
    token_rate: Annotated[TokenRate, Told("Speed of one GPU", "r", "from the MFU")]
    reached: Annotated[Share, Told("Share of the peak", "u", "MFU")]
    mtbf: Annotated[
        Seconds,
        Told(
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
        Told("Goodput", "g", "share of the time that is work which lasts", assumes=(_POISSON,)),
    ]
    first_order: Annotated[
        Share,
        Told(
            "Goodput, first order",
            "g",
            "too kind where failures are frequent",
            assumes=(
                "At most one failure between two checkpoints, none in a checkpoint or a restart.",
            ),
        ),
    ]
    young: Annotated[Seconds, Told("Save every (Young)", "t", "first order", assumes=(_POISSON,))]
    daly: Annotated[
        Seconds,
        Told(
            "Save every (Daly)",
            "t",
            "higher order; work only, without the checkpoint",
            assumes=(_POISSON,),
        ),
    ]
    best_goodput: Annotated[
        Share,
        Told(
            "Goodput at Daly's interval",
            "g",
            "what saving at the right moments can reach",
            assumes=(_POISSON,),
        ),
    ]
    slow_down: Annotated[
        Ratio,
        Told(
            "A step takes",
            "m",
            "an average one; {jitter} if all GPUs were alike",
            assumes=(_WAITS, "Normal step times."),
        ),
    ]
    bound: Annotated[
        Ratio,
        Told(
            "At most, all alike",
            "m",
            "whatever the distribution of step times",
            assumes=(_WAITS,),
        ),
    ]
    all_below: Annotated[
        Share,
        Told(
            "Steps in which no GPU has its slowest percent",
            "A",
            "one step in {one_in}",
            assumes=("Any distribution of times.",),
        ),
    ]
    slow_gpu: Annotated[
        GpuTime,
        Told(
            "GPU hours lost to the one slow GPU",
            "Gl",
            "by all who wait for it",
            assumes=(_WAITS,),
        ),
    ]
    peak: Annotated[FlopRate, Told(symbol="F")]
    at_peak: Seconds
    work: GpuTime
    jitter: Ratio
    slow_factor: Annotated[Ratio, Told(symbol="S")]
    quantile: Annotated[Share, Told(symbol="q")]
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


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu, num_gpus = ACCELERATORS[inputs.gpu], inputs.num_gpus
    peak = gpu.peak.get("bf16") or gpu.peak["fp16"]
    measured = inputs.speed_from == "measured"
    rate = inputs.rate if measured else run.token_rate(inputs.parameters, inputs.utilization, peak)
    reached = run.utilization(inputs.parameters, rate, peak)
    work = run.work_time(inputs.tokens, num_gpus, rate)
    slow_down = stragglers.slowest_with_one_slow(num_gpus, inputs.deviation, inputs.slower)
    jitter = stragglers.slowest_of(num_gpus, inputs.deviation)
    mtbf = saving.job_mtbf(inputs.gpu_mtbf, num_gpus)
    habits = Habits(
        interval=inputs.interval, checkpoint=inputs.checkpoint, restart=inputs.restart, mtbf=mtbf
    )
    whole = whole_run(work * slow_down, habits)
    gpus = run.gpu_time(num_gpus, whole.wall)
    rest = inputs.checkpoint, inputs.restart, mtbf
    daly = saving.daly_interval(inputs.checkpoint, mtbf)
    lucky = stragglers.all_below(QUANTILE, num_gpus)
    return Result(
        wall_time=whole.wall,
        gpu_hours=gpus,
        cost=run.cost(gpus, inputs.price),
        energy=run.energy(gpus, inputs.power, inputs.overhead),
        work_time=work,
        token_rate=rate,
        reached=reached,
        mtbf=mtbf,
        goodput=whole.goodput,
        first_order=saving.first_order_goodput(inputs.interval, *rest),
        young=saving.young_interval(inputs.checkpoint, mtbf),
        daly=daly,
        best_goodput=saving.goodput(daly, *rest),
        slow_down=slow_down,
        bound=stragglers.largest_possible(num_gpus, inputs.deviation),
        all_below=lucky,
        slow_gpu=gpus if math.isinf(gpus) else stragglers.lost_to_waiting(gpus, slow_down / jitter),
        peak=peak,
        at_peak=work * min(reached, 1.0),
        work=work * num_gpus,
        jitter=jitter,
        slow_factor=slow_down / jitter,
        quantile=QUANTILE,
        steps=whole.steps,
        waiting=whole.steps - work,
        spread=whole.spread,
        checkpoints=whole.checkpoints,
        restarts=whole.restarts,
        redone=whole.redone,
        failures=_counted(whole.failures),
        draw=num_gpus * inputs.power * inputs.overhead,
        one_in=1 / lucky if lucky else math.inf,
        known_failures=LLAMA3_FAILURES,
        known_all=LLAMA_3_405B.interruptions,
        known_effective=LLAMA_3_405B.effective,
        known_hours=LLAMA_3_405B.gpu_time,
        known_wall=LLAMA_3_405B.wall,
        known_window=LLAMA3_WINDOW,
        known_gpus=LLAMA3_GPUS,
        chance=whole.chance,
        short=whole.short,
        curves=curves(inputs, habits, slow_down),
    )


def _counted(number: float) -> float:
    """Return a number of failures without decimals that nobody can count."""
    return float(round(number)) if number >= 10 and math.isfinite(number) else number
