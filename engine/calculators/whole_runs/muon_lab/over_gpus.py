"""Muon's optimizer step in every way, over the number of GPUs."""

from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from engine.calculators.whole_runs.muon_lab.inputs import Inputs, run_with
from engine.core.units import Count, Ratio, Seconds
from engine.run.parallelism import Plan
from engine.run.run import Run
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.muon_slices import TensorMode
from engine.simulate.step.muon import SCHEMES, MuonStep, Scheme, muon_step

# GPUs, the optimizer step, the busiest GPU's operations over the mean.
Sized = tuple[Count, Seconds, Ratio]
_SIZES = tuple(8 << power for power in range(10))


def job_of(inputs: Inputs, scheme: Scheme, mode: TensorMode, run: Run) -> MuonStep:
    """Return Muon's step of a run under a scheme and tensor mode."""
    rank = rank_rates(run.cluster, run.training)
    return muon_step(
        run.model, run.plan, run.training, rank, scheme, mode, element=float(inputs.element)
    )


def over_gpus(inputs: Inputs) -> Mapping[Scheme, tuple[Sized, ...]]:
    """Return the steps of every scheme over the numbers of GPUs that fit the plan."""
    plain = Inputs(
        model=inputs.model,
        gpu=inputs.gpu,
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
        expert_parallel=inputs.expert_parallel,
        element=inputs.element,
    )
    return {
        scheme: _column(plain, scheme, cast("TensorMode", inputs.tensor_mode)) for scheme in SCHEMES
    }


@lru_cache(maxsize=64)
def _column(inputs: Inputs, scheme: Scheme, mode: TensorMode) -> tuple[Sized, ...]:
    largest = run_with(inputs, _SIZES[-1])[0].plan
    jobs = []
    for size in _SIZES:
        run, _ = run_with(inputs, size)
        if _model_split(run.plan) == _model_split(largest):
            step = job_of(inputs, scheme, mode, run)
            jobs.append((run.plan.world_size, step.total, step.over_mean))
    return tuple(jobs)


def _model_split(plan: Plan) -> tuple[Count, Count, Count]:
    return plan.tensor_parallel, plan.pipeline_parallel, plan.expert_parallel
