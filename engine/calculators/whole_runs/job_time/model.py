"""A run from its inputs: every figure that values and charts show, computed once."""

import math
from dataclasses import dataclass

from engine.basis.units import Energy, FlopRate, GpuTime, Money, Ratio, Seconds, Share, TokenRate
from engine.catalog.accelerators import ACCELERATORS
from engine.form.job_inputs import Inputs
from engine.formulas import goodput as saving
from engine.formulas import run, stragglers

# A run that spends less of its time on work that lasts never ends, in any sense that matters.
_HOPELESS: Share = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A run.

    Attributes:
        peak: of one GPU, dense, 16 bits.
        rate: tokens per second of a GPU that waits for no other.
        utilization: the share of the peak that this is.
        at_peak: time of the steps at the peak, never above `work`.
        work: time of the steps at `rate`.
        jitter: slow-down by the slowest of n alike GPUs.
        slow_down: the same with the one slow GPU.
        steps: time of the steps, waiting included.
        mtbf: mean time between failures of the job.
        goodput: share of the time that is work which lasts.
        wall: the time of the run; infinite where it never ends.
        spread: its standard deviation by the luck of failures alone.
        checkpoints, restarts, redone: what of `wall` goes there.
        failures: how many are expected.
        gpus: GPU time.
        cost: of it.
        energy: of it.
        young, daly: best intervals.
        best: goodput at Daly's.
    """

    peak: FlopRate
    rate: TokenRate
    utilization: Share
    at_peak: Seconds
    work: Seconds
    jitter: Ratio
    slow_down: Ratio
    steps: Seconds
    mtbf: Seconds
    goodput: Share
    wall: Seconds
    spread: Seconds
    checkpoints: Seconds
    restarts: Seconds
    redone: Seconds
    failures: float
    gpus: GpuTime
    cost: Money
    energy: Energy
    young: Seconds
    daly: Seconds
    best: Share


def job(inputs: Inputs) -> Job:
    """Return the run that the inputs describe."""
    peaks = ACCELERATORS[inputs.gpu].peak
    peak = peaks["bf16"] if "bf16" in peaks else peaks["fp16"]
    measured = inputs.speed_from == "measured"
    rate = inputs.rate if measured else run.token_rate(inputs.parameters, inputs.utilization, peak)
    reached = run.utilization(inputs.parameters, rate, peak)
    work = run.work_time(inputs.tokens, inputs.num_gpus, rate)
    slow_down = stragglers.slowest_with_one_slow(inputs.num_gpus, inputs.deviation, inputs.slower)
    steps = work * slow_down
    mtbf = saving.job_mtbf(inputs.gpu_mtbf, inputs.num_gpus)
    habits = inputs.checkpoint, inputs.restart, mtbf
    share = saving.goodput(inputs.interval, *habits)
    wall = run.run_time(work, slow_down, share) if share > _HOPELESS else math.inf
    checkpoints = steps * inputs.checkpoint / inputs.interval
    restarts = wall * saving.restart_share(inputs.restart, mtbf)
    gpus = run.gpu_time(inputs.num_gpus, wall)
    daly = saving.daly_interval(inputs.checkpoint, mtbf)
    return Job(
        peak=peak,
        rate=rate,
        utilization=reached,
        at_peak=work * min(reached, 1.0),
        work=work,
        jitter=stragglers.slowest_of(inputs.num_gpus, inputs.deviation),
        slow_down=slow_down,
        steps=steps,
        mtbf=mtbf,
        goodput=share,
        wall=wall,
        spread=saving.spread(steps, inputs.interval, *habits),
        checkpoints=checkpoints,
        restarts=restarts,
        # Rounding can leave a trace below nothing where nothing ever fails.
        redone=max(0.0, wall - steps - checkpoints - restarts) if math.isfinite(wall) else math.inf,
        failures=saving.failures(wall, mtbf),
        gpus=gpus,
        cost=run.cost(gpus, inputs.price),
        energy=run.energy(gpus, inputs.power, inputs.overhead),
        young=saving.young_interval(inputs.checkpoint, mtbf),
        daly=daly,
        best=saving.goodput(daly, *habits),
    )
