"""The forecast's numbers, from the inputs."""

import math
from dataclasses import replace

from engine.calculators.whole_runs.run_forecast.inputs import LEAST, MOST, Inputs
from engine.calculators.whole_runs.run_forecast.result import Curve, Result
from engine.core.units import Count, Ratio
from engine.form.forecast_jobs import JOBS, Job
from engine.form.run.nearest_valid import run_of
from engine.formulas import run as formulas
from engine.formulas.goodput import job_mtbf
from engine.run.run import Run
from engine.simulate.job.failure_process import Habits
from engine.simulate.job.forecast import Forecast, forecast
from engine.simulate.memory.allocator import fits
from engine.simulate.memory.memory import memory
from engine.simulate.step.prediction_evidence import evidence

_DOUBLINGS = range(round(math.log2(LEAST)), round(math.log2(MOST)) + 1)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = JOBS[inputs.job]
    run, found, habits = _forecast(inputs, inputs.more)
    gpus, whole, parts = run.plan.world_size, found.run, found.parts
    hours, early, late = (
        formulas.gpu_time(gpus, one.wall) for one in (whole, found.early, found.late)
    )
    costs = tuple(formulas.cost(one, inputs.price) for one in (hours, early, late))
    energies = tuple(
        formulas.energy(one, inputs.power, inputs.overhead) for one in (hours, early, late)
    )
    held = memory(run.model, run.plan, run.training)
    return Result(
        wall_time=whole.wall,
        gpu_hours=hours,
        cost=costs[0],
        energy=energies[0],
        work_time=found.steps * found.step.total,
        ideal=parts.ideal,
        ideal_share=parts.ideal / whole.wall,
        goodput=whole.goodput,
        mtbf=habits.mtbf,
        slow_gpu=parts.slow_gpu,
        token_rate=found.rate,
        step=found.step.total,
        slow_down=found.slow_down,
        num_gpus=gpus,
        batch=run.training.global_batch_size,
        grown=_grown(job, run),
        steps=float(math.ceil(found.steps)),
        failures=_counted(whole.failures),
        early=found.early.wall,
        late=found.late.wall,
        low_hours=early,
        high_hours=late,
        low_cost=costs[1],
        high_cost=costs[2],
        low_energy=energies[1],
        high_energy=energies[2],
        draw=gpus * inputs.power * inputs.overhead,
        published=job.gpu_time,
        published_wall=job.wall,
        fits=fits(held, run.training, run.cluster.gpu.memory),
        found=found,
        evidence=evidence(run),
        curve=_curve(inputs),
    )


def _forecast(inputs: Inputs, more: Ratio) -> tuple[Run, Forecast, Habits]:
    """Return the job on so many times the GPUs of its plan."""
    plan = JOBS[inputs.job].plan
    gpus = max(1, round(plan.world_size * more))
    run, _ = run_of(replace(plan, world_size=gpus, own_constants=inputs.own_constants))
    habits = Habits(
        interval=inputs.interval,
        checkpoint=inputs.checkpoint,
        restart=inputs.restart,
        mtbf=job_mtbf(inputs.gpu_mtbf, run.plan.world_size),
    )
    return run, forecast(run, inputs.tokens, habits, inputs.slower), habits


def _counted(number: float) -> float:
    """Return a number of failures without decimals that nobody can count."""
    return float(round(number)) if number >= 10 and math.isfinite(number) else number


def _grown(job: Job, run: Run) -> Count:
    batch = run.training.global_batch_size
    return batch if batch > job.plan.global_batch_size else 0


def _curve(inputs: Inputs) -> Curve:
    """Return the job on other numbers of GPUs, as far as its batch and its memory allow."""
    found = []
    for doubling in _DOUBLINGS:
        run, one, _ = _forecast(inputs, 2.0**doubling)
        more = run.plan.world_size / JOBS[inputs.job].plan.world_size
        held = memory(run.model, run.plan, run.training)
        possible = not _grown(JOBS[inputs.job], run)
        room = fits(held, run.training, run.cluster.gpu.memory)
        exact = more == 2.0**doubling  # otherwise the plan does not divide so many GPUs
        if exact and possible and room and math.isfinite(one.run.wall):
            found.append((more, one.run.wall, run.plan.world_size))
    if not found:
        return Curve(more=(), wall=(), perfect=(), cost=())
    least, longest, _ = found[0]
    each = {more: wall * gpus for more, wall, gpus in found}
    base = each.get(1.0, each[least])
    return Curve(
        more=tuple(more for more, _, _ in found),
        wall=tuple(wall for _, wall, _ in found),
        perfect=tuple(longest * least / more for more, _, _ in found),
        cost=tuple(wall * gpus / base for _, wall, gpus in found),
    )
