"""Which published runs are nearest to a job: in model, GPU, scale and plan."""

from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from math import log2

from engine.catalog.nearest_runs import Nearby, nearby
from engine.core.units import Count, Parameters, Ratio, Tokens
from engine.formulas.parameters import active_parameters
from engine.run.run import Run

# What counts as far: a mixture beside a dense model, another generation of GPU; then a doubling of
# the model, of the GPUs, of a split, of the length, and another precision.
_KIND, _GENERATION, _GPU, _BITS = 8.0, 3.0, 1.0, 1.0
_MODEL, _SCALE, _SPLIT, _LENGTH, _ZERO = 1.0, 0.5, 0.4, 0.3, 0.7
_GENERATIONS = {"A100": 0, "H100": 1, "H200": 1, "H800": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What of a run counts for how far another one is.

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


def nearest(run: Run, count: Count = 3) -> tuple[Nearby, ...]:
    """Return the published runs that are nearest to a run, the nearest first; no model twice."""
    plan, training = run.plan, run.training
    job = _Job(
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
    return _ordered(job)[:count]


@lru_cache(maxsize=64)  # several receipts of one answer name the runs near the same job
def _ordered(job: _Job) -> tuple[Nearby, ...]:
    """Return one published run of every model, the nearest to a job first."""
    near = nsmallest(len(nearby()), nearby(), key=lambda one: _distance(job, one))
    chosen: dict[str, Nearby] = {}
    for one in near:
        chosen.setdefault(one.name, one)
    return tuple(chosen.values())


def _distance(job: _Job, one: Nearby) -> Ratio:
    """Return how far a published run is from a job; 0 for the same one."""
    far = _KIND * (job.mixture != bool(one.experts))
    far += _GPU * (job.gpu != one.gpu)
    far += _GENERATION * (_GENERATIONS.get(job.gpu, 2) != _GENERATIONS.get(one.gpu, 2))
    far += _BITS * (job.bits != one.bits) + _ZERO * (job.sharded != (one.zero == 3))
    far += _MODEL * abs(log2(job.active / one.active))
    far += _SCALE * abs(log2(job.gpus / one.gpus))
    far += _LENGTH * abs(log2(job.length / one.length))
    splits = zip(job.splits, (one.tensor, one.pipeline, one.context, one.expert), strict=True)
    return far + _SPLIT * sum(abs(log2(own / its)) for own, its in splits)
