"""The forecast's numbers, from the inputs."""

import math
from dataclasses import replace

from engine.calculators.whole_runs.run_forecast.inputs import LEAST, MOST, Inputs
from engine.calculators.whole_runs.run_forecast.result import Curve, Result
from engine.core.units import Count, Ratio
from engine.form.forecast_jobs import JOBS, Job
from engine.form.run.nearest_valid import nearest_run
from engine.form.saving_inputs import checkpoint_policy, rounded_failures
from engine.formulas import run as formulas
from engine.run.run import Run
from engine.simulate.job.failure_process import CheckpointPolicy
from engine.simulate.job.forecast import Forecast, JobTerms, forecast, modeled_terms
from engine.simulate.step.prediction_evidence import evidence
from engine.simulate.step.what_if import run_fit

_DOUBLINGS = range(round(math.log2(LEAST)), round(math.log2(MOST)) + 1)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = JOBS[inputs.job]
    run, forecast, habits = _forecast(inputs, inputs.more)
    gpus, whole, parts = run.plan.world_size, forecast.run, forecast.parts
    hours, early, late = (
        formulas.gpu_time(gpus, item.wall) for item in (whole, forecast.early, forecast.late)
    )
    costs = tuple(formulas.cost(item, inputs.price) for item in (hours, early, late))
    energies = tuple(
        formulas.energy(item, inputs.power, inputs.overhead) for item in (hours, early, late)
    )
    return Result(
        wall_time=whole.wall,
        gpu_hours=hours,
        cost=costs[0],
        energy=energies[0],
        work_time=forecast.steps * forecast.step.total,
        ideal=parts.ideal,
        ideal_share=parts.ideal / whole.wall,
        goodput=whole.goodput,
        mtbf=habits.mtbf,
        slow_gpu=parts.slow_gpu,
        token_rate=forecast.rate,
        step=forecast.step.total,
        slow_down=forecast.slow_down,
        num_gpus=gpus,
        batch=run.training.global_batch_size,
        grown=_grown_batch(job, run),
        steps=float(math.ceil(forecast.steps)),
        failures=rounded_failures(whole.failures),
        early=forecast.early.wall,
        late=forecast.late.wall,
        low_hours=early,
        high_hours=late,
        low_cost=costs[1],
        high_cost=costs[2],
        low_energy=energies[1],
        high_energy=energies[2],
        draw=gpus * inputs.power * inputs.overhead,
        published=job.gpu_time,
        published_wall=job.wall,
        fit=run_fit(run),
        found=forecast,
        evidence=evidence(run),
        curve=_curve(inputs),
    )


def _forecast(inputs: Inputs, more: Ratio) -> tuple[Run, Forecast, CheckpointPolicy]:
    """Return the forecast of the job at a multiple of its plan's GPUs."""
    plan = JOBS[inputs.job].plan
    gpus = max(1, round(plan.world_size * more))
    run, _ = nearest_run(replace(plan, world_size=gpus, own_constants=inputs.own_constants))
    habits = checkpoint_policy(inputs, run.plan.world_size)
    return run, forecast(run, inputs.tokens, habits, inputs.slower), habits


def terms(inputs: Inputs) -> JobTerms:
    """Return the job of the page with all its losses."""
    run, found, habits = _forecast(inputs, inputs.more)
    return modeled_terms(
        run, inputs.tokens, found.step.total, slow_down=found.slow_down, policy=habits
    )


def steps_alone(inputs: Inputs) -> JobTerms:
    """Return the job without its losses."""
    return replace(terms(inputs), slow_down=1.0, policy=None)


def _grown_batch(job: Job, run: Run) -> Count:
    batch = run.training.global_batch_size
    return batch if batch > job.plan.global_batch_size else 0


def _curve(inputs: Inputs) -> Curve:
    """Return the job on other numbers of GPUs, as far as its batch and its memory allow."""
    rows = []
    for doubling in _DOUBLINGS:
        run, forecast, _ = _forecast(inputs, 2.0**doubling)
        more = run.plan.world_size / JOBS[inputs.job].plan.world_size
        possible = not _grown_batch(JOBS[inputs.job], run)
        room = run_fit(run).runs
        exact = more == 2.0**doubling  # otherwise the plan does not divide so many GPUs
        if exact and possible and room and math.isfinite(forecast.run.wall):
            rows.append((more, forecast.run.wall, run.plan.world_size))
    if not rows:
        return Curve(more=(), wall=(), perfect=(), cost=())
    least, longest, _ = rows[0]
    each = {more: wall * gpus for more, wall, gpus in rows}
    base = each.get(1.0, each[least])
    return Curve(
        more=tuple(more for more, _, _ in rows),
        wall=tuple(wall for _, wall, _ in rows),
        perfect=tuple(longest * least / more for more, _, _ in rows),
        cost=tuple(wall * gpus / base for _, wall, gpus in rows),
    )
