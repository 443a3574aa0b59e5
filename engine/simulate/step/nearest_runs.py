"""Which published runs are nearest to a job: in model, GPU, scale and plan."""

from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from math import log2

from engine.catalog.nearest_runs import NearbyRun, nearby_runs
from engine.core.units import Count, Parameters, Ratio, Tokens
from engine.formulas.parameters import active_parameters
from engine.run.run import Run

# What counts as far: a mixture beside a dense model, another generation of GPU; then a doubling of
# the model, of the GPUs, of a split, of the length, and another precision.
_KIND, _GENERATION, _GPU, _BITS = 8.0, 3.0, 1.0, 1.0
_MODEL, _SCALE, _SPLIT, _LENGTH, _ZERO = 1.0, 0.5, 0.4, 0.3, 0.7
_GENERATIONS = {"A100": 0, "H100": 1, "H200": 1, "H800": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunFeatures:
    """Features of a run that decide the distance to published runs.

    Attributes:
        mixture: of experts.
        active: parameters that work on a token.
        gpu: type.
        bits: of the linear layers.
        sharded: parameters, too.
        gpus: how many.
        length: of a sequence.
        splits: ranks of tensor, pipeline, context and expert parallelism.
    """

    mixture: bool
    active: Parameters
    gpu: str
    bits: Count
    sharded: bool
    gpus: Count
    length: Tokens
    splits: tuple[Count, Count, Count, Count]


def nearest_published_runs(run: Run, count: Count = 3) -> tuple[NearbyRun, ...]:
    """Return the published runs that are nearest to a run, the nearest first; no model twice."""
    plan, training = run.plan, run.training
    job = _RunFeatures(
        mixture=bool(run.model.num_experts),
        active=active_parameters(run.model),
        gpu=run.cluster.gpu.name.split()[0],
        bits={"fp8": 8, "fp4": 4}.get(training.precision, 16),
        sharded=plan.zero_stage == 3,
        gpus=plan.world_size,
        length=training.sequence_length,
        splits=(
            plan.tensor_parallel,
            plan.pipeline_parallel,
            plan.context_parallel,
            plan.expert_parallel,
        ),
    )
    return _nearest_per_model(job)[:count]


@lru_cache(maxsize=64)  # several receipts of one answer name the runs near the same job
def _nearest_per_model(job: _RunFeatures) -> tuple[NearbyRun, ...]:
    """Return the nearest published run of each model, the nearest first."""
    by_distance = nsmallest(
        len(nearby_runs()), nearby_runs(), key=lambda published: _distance(job, published)
    )
    nearest_of_model: dict[str, NearbyRun] = {}
    for published in by_distance:
        nearest_of_model.setdefault(published.name, published)
    return tuple(nearest_of_model.values())


def _distance(job: _RunFeatures, published: NearbyRun) -> Ratio:
    """Return the distance of a published run from a job; 0 for the same run."""
    distance = _KIND * (job.mixture != bool(published.experts))
    distance += _GPU * (job.gpu != published.gpu)
    distance += _GENERATION * (_GENERATIONS.get(job.gpu, 2) != _GENERATIONS.get(published.gpu, 2))
    distance += _BITS * (job.bits != published.bits) + _ZERO * (
        job.sharded != (published.zero == 3)
    )
    distance += _MODEL * abs(log2(job.active / published.active))
    distance += _SCALE * abs(log2(job.gpus / published.gpus))
    distance += _LENGTH * abs(log2(job.length / published.length))
    splits = zip(
        job.splits,
        (published.tensor, published.pipeline, published.context, published.expert),
        strict=True,
    )
    return distance + _SPLIT * sum(abs(log2(own / its)) for own, its in splits)
