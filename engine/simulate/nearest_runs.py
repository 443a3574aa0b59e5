"""Which published runs are nearest to a job: in model, GPU, scale and plan."""

from heapq import nsmallest
from math import log2

from engine.basis.units import Count, Parameters, Ratio
from engine.catalog.nearby import Nearby, nearby
from engine.formulas.parameters import active_parameters
from engine.run.run import Run

# What counts as far: a mixture beside a dense model, another generation of GPU; then a doubling of
# the model, of the GPUs, of a split, of the length, and another precision.
_KIND, _GENERATION, _GPU, _BITS = 8.0, 3.0, 1.0, 1.0
_MODEL, _SCALE, _SPLIT, _LENGTH, _ZERO = 1.0, 0.5, 0.4, 0.3, 0.7
_GENERATIONS = {"A100": 0, "H100": 1, "H200": 1, "H800": 1}


def nearest(run: Run, count: Count = 3) -> tuple[Nearby, ...]:
    """Return the published runs that are nearest to a run, the nearest first; no model twice."""
    active = active_parameters(run.model)
    near = nsmallest(len(nearby()), nearby(), key=lambda one: _distance(run, active, one))
    chosen: dict[str, Nearby] = {}
    for one in near:
        chosen.setdefault(one.name, one)
    return tuple(chosen.values())[:count]


def _distance(run: Run, active: Parameters, one: Nearby) -> Ratio:
    """Return how far a published run is from a run; 0 for the same one."""
    plan, training = run.plan, run.training
    gpu = run.cluster.gpu.name.split()[0]
    bits = {"fp8": 8, "fp4": 4}.get(training.precision, 16)
    far = _KIND * (bool(run.model.num_experts) != bool(one.experts))
    far += _GPU * (gpu != one.gpu)
    far += _GENERATION * (_GENERATIONS.get(gpu, 2) != _GENERATIONS.get(one.gpu, 2))
    far += _BITS * (bits != one.bits) + _ZERO * ((plan.zero_stage == 3) != (one.zero == 3))
    far += _MODEL * abs(log2(active / one.active))
    far += _SCALE * abs(log2(plan.world_size / one.gpus))
    far += _LENGTH * abs(log2(training.sequence_length / one.length))
    splits = (
        (plan.tensor_parallel, one.tensor),
        (plan.pipeline_parallel, one.pipeline),
        (plan.context_parallel, one.context),
        (plan.expert_parallel, one.expert),
    )
    return far + _SPLIT * sum(abs(log2(own / its)) for own, its in splits)
