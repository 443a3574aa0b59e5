"""Job time's numbers, from the inputs."""

import math
from dataclasses import replace

from engine.calculators.whole_runs.job_time.curves import curves
from engine.calculators.whole_runs.job_time.result import QUANTILE, Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.publications import LLAMA_3_405B
from engine.core.units import FlopRate, TokenRate
from engine.form.forecast_jobs import modeled_utilization
from engine.form.job_inputs import Inputs
from engine.form.plan_to_reality import in_the_end
from engine.form.saving_inputs import (
    LLAMA3_FAILURES,
    LLAMA3_GPUS,
    LLAMA3_WINDOW,
    checkpoint_policy,
    rounded_failures,
)
from engine.formulas import goodput as saving
from engine.formulas import run, stragglers
from engine.simulate.job.forecast import JobTerms, job_run


def _rate(inputs: Inputs) -> TokenRate:
    """Return the tokens per second of one GPU, all usual waiting included."""
    if inputs.speed_from == "measured":
        return inputs.rate
    share = modeled_utilization() if inputs.speed_from == "model" else inputs.utilization
    return run.token_rate(inputs.parameters, share, _peak(inputs))


def _peak(inputs: Inputs) -> FlopRate:
    gpu = ACCELERATORS[inputs.gpu]
    return gpu.peak.get("bf16") or gpu.peak["fp16"]


def terms(inputs: Inputs) -> JobTerms:
    """Return the job of the page with all its losses; a slow GPU stretches all of a step."""
    return JobTerms(
        work=run.work_time(inputs.tokens, inputs.num_gpus, _rate(inputs)),
        slow_down=stragglers.slowest_with_one_slow(inputs.num_gpus, 0.0, inputs.slower),
        policy=checkpoint_policy(inputs, inputs.num_gpus),
    )


def steps_alone(inputs: Inputs) -> JobTerms:
    """Return the job without its losses."""
    return replace(terms(inputs), slow_down=1.0, policy=None)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    num_gpus, job = inputs.num_gpus, terms(inputs)
    rate, peak, habits = _rate(inputs), _peak(inputs), checkpoint_policy(inputs, inputs.num_gpus)
    reached = run.utilization(inputs.parameters, rate, peak)
    work, whole = job_run(steps_alone(inputs)).wall, job_run(job)
    slow_down = stragglers.slowest_with_one_slow(num_gpus, inputs.deviation, inputs.slower)
    jitter = stragglers.slowest_of(num_gpus, inputs.deviation)
    mtbf = habits.mtbf
    gpus = run.gpu_time(num_gpus, whole.wall)
    end_low, end, end_high = in_the_end(work)
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
        slow_gpu=gpus if math.isinf(gpus) else stragglers.lost_to_waiting(gpus, job.slow_down),
        peak=peak,
        at_peak=work * min(reached, 1.0),
        work=work * num_gpus,
        jitter=jitter,
        slow_factor=job.slow_down,
        in_the_end=end,
        end_low=end_low,
        end_high=end_high,
        end_hours=end * num_gpus,
        quantile=QUANTILE,
        steps=whole.steps,
        waiting=whole.steps - work,
        spread=whole.spread,
        checkpoints=whole.checkpoints,
        restarts=whole.restarts,
        redone=whole.redone,
        failures=rounded_failures(whole.failures),
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
