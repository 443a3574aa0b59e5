"""Memory and step time of many plans, from the same cost model as a single plan.

Plans of one shape share what a layer costs, those of one pipeline what its micro-batches cost, so
that a plan among many takes a fraction of the time of a plan by itself and gets the same numbers.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.catalog.constants import KEPT_FREE
from engine.core.units import Bytes, Count, Ratio, Seconds, Share
from engine.formulas.activations import LayerMemory
from engine.run.parallelism import Plan, Training, num_microbatches
from engine.run.plan_space import PlanningJob, pipelines, recipe_plans, shapes
from engine.run.run import Run
from engine.simulate.layer.device_model import RankRates, rank_rates
from engine.simulate.memory.allocator import Memory, MemoryFit, usable_bytes
from engine.simulate.memory.memory import StageContents, fullest_memory, layer_memories, rank_memory
from engine.simulate.memory.peak_activations import stage_activations
from engine.simulate.planner.pipeline import Pipeline, ShardedPipeline, build_pipeline
from engine.simulate.step.stage_time import LayerCosts, layer_costs
from engine.simulate.step.step_time import (
    PipelineCost,
    StepTime,
    pipeline_cost,
    pipeline_lower_bound,
    step_from_costs,
    step_time,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A plan of a job with its memory and step time.

    Attributes:
        plan: how the work is split.
        training: how it trains.
        memory: memory of the fullest rank.
        room: bytes that its process should fill at most.
        device: bytes that programs can allocate on a GPU.
        time: of a step.
    """

    plan: Plan
    training: Training
    memory: Memory
    room: Bytes
    device: Bytes
    time: StepTime

    @property
    def step(self) -> Seconds:
        """Seconds of a step."""
        return self.time.total

    @property
    def fit(self) -> MemoryFit:
        """How the fullest rank fits its GPU."""
        memory = self.memory
        return MemoryFit(
            needed=memory.total, least=memory.least, usable=self.room, device=self.device
        )

    @property
    def leaves_room(self) -> bool:
        """Whether its process, the allocator undisturbed, leaves free what its job says."""
        return self.memory.total <= self.room

    @property
    def axes(self) -> Count:
        """Number of parallelism axes in use beside data parallelism."""
        plan = self.plan
        sizes = (plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel)
        return sum(size > 1 for size in (*sizes, plan.expert_parallel))


# Pipelines by plan and by the training settings in which they differ.
PipelineCache = dict[tuple[Hashable, ...], Pipeline]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanShape:
    """A split of layer and micro-batch with its layer costs.

    Attributes:
        plan: without a pipeline.
        training: without its schedule.
        layers: seconds, for one micro-batch.
        kinds: bytes, of a layer of each kind of the model.
        bound: no plan of this shape has a shorter step.
        pipelines: cache of pipelines, shared by all shapes of a job.
    """

    plan: Plan
    training: Training
    layers: LayerCosts
    kinds: tuple[LayerMemory, ...]
    bound: Seconds
    pipelines: PipelineCache


def priced_shapes(job: PlanningJob) -> Iterator[PlanShape]:
    """Yield every shape of a job with its layer costs."""
    return price_shapes(job, shapes(job))


def price_shapes(job: PlanningJob, chosen: Iterable[tuple[Plan, Training]]) -> Iterator[PlanShape]:
    """Yield the given shapes of a job with their layer costs."""
    ranks: dict[tuple[str, str], RankRates] = {}
    cache: PipelineCache = {}
    for plan, training in chosen:
        key = (training.framework, training.precision)
        if key not in ranks:
            ranks[key] = rank_rates(job.cluster, training)
        layers = layer_costs(job.model, plan, training, ranks[key])
        yield PlanShape(
            plan=plan,
            training=training,
            layers=layers,
            kinds=layer_memories(job.model, plan, training),
            bound=step_lower_bound(job, plan, training, layers),
            pipelines=cache,
        )


def step_lower_bound(
    job: PlanningJob, plan: Plan, training: Training, layers: LayerCosts
) -> Seconds:
    """Return a lower bound of the step: all layers spread evenly over all ranks.

    A pipeline's stages hold L/p layers in the mean and the slowest one at least that many; each of
    W/(tcp) pipelines runs B/b of them: B t c L / (b W) layers, whatever p is.
    """
    layer = min(kind.total for kind in layers.kinds)
    if "dualpipe" in job.schedules:  # hides what other schedules expose
        layer -= max(kind.expert_parallel for kind in layers.kinds)
    split: Ratio = plan.tensor_parallel * plan.context_parallel / plan.world_size
    batches: Ratio = training.global_batch_size / training.micro_batch_size
    return batches * split * job.model.num_layers * layer


def candidates(job: PlanningJob, shape: PlanShape) -> Iterator[Candidate]:
    """Yield every plan of a shape, whether it fits or not."""
    for plan, training in pipelines(job, shape.plan, shape.training):
        pipeline = _cached_pipeline(job, plan, training, shape)
        flow = _pipeline_cost(job, plan, training, (shape, pipeline))
        fills = _stage_fills(job, plan, training, (shape, pipeline))
        for sharded in pipeline.sharded():
            peak = fullest_memory(job.model, sharded.plan, training, fills, sharded.standing)
            yield _candidate(job, (training, sharded), peak, flow, shape)


def fitting_candidates(
    job: PlanningJob,
    shape: PlanShape,
    better_than: Mapping[Count, Seconds] | None = None,
    front: Sequence[Candidate] = (),
    below: Callable[[], Seconds] = lambda: math.inf,
) -> Iterator[Candidate]:
    """Yield the plans of a shape whose process fits in memory; others are not timed.

    Nor is it where the shape's bound says that the plan is slower than the limit for its number of
    stages, or that a plan of `front`, sorted by step, beats it in both step and memory; nor where
    the micro-batches of a pipeline alone take longer than `below` says by then.
    """
    room = allowed_bytes(job)
    limits = better_than or {}
    least = min(
        (candidate.memory.total for candidate in front if candidate.step <= shape.bound),
        default=math.inf,
    )
    for plan, training in pipelines(job, shape.plan, shape.training):
        if limits.get(plan.pipeline_parallel, math.inf) <= shape.bound:
            continue
        pipeline = _cached_pipeline(job, plan, training, shape)
        if pipeline.never_fits:
            continue
        flow = _pipeline_cost(job, plan, training, (shape, pipeline))
        if pipeline_lower_bound(flow) > below():
            continue
        fills = _stage_fills(job, plan, training, (shape, pipeline))
        if max(candidate.activations for candidate in fills) >= min(room, least):
            continue
        for sharded in pipeline.fitting():
            peak = fullest_memory(job.model, sharded.plan, training, fills, sharded.standing)
            if peak.total <= room and peak.total < least:
                yield _candidate(job, (training, sharded), peak, flow, shape)


def allowed_bytes(job: PlanningJob) -> Bytes:
    """Return the bytes that the process of a plan may fill on each GPU."""
    device = job.cluster.gpu.memory
    return device if job.allows_tight else usable_bytes(device, job.kept_free)


def _candidate(
    job: PlanningJob,
    choice: tuple[Training, ShardedPipeline],
    peak: Memory,
    flow: PipelineCost,
    shape: PlanShape,
) -> Candidate:
    training, sharded = choice
    plan, rank = sharded.plan, shape.layers.rank
    return Candidate(
        plan=plan,
        training=training,
        memory=peak,
        room=usable_bytes(job.cluster.gpu.memory, job.kept_free),
        device=job.cluster.gpu.memory,
        time=step_from_costs(job.model, plan, training, rank, flow, sharded.shared()),
    )


def _cached_pipeline(
    job: PlanningJob, plan: Plan, training: Training, shape: PlanShape
) -> Pipeline:
    """Return the pipeline of a plan, cached for all micro-batches and recomputations."""
    several = num_microbatches(plan, training) > 1
    allowed = allowed_bytes(job)
    software = (training.framework, training.precision, training.schedule)
    key = (plan, *software, several, allowed)
    pipeline = shape.pipelines.get(key)
    if pipeline is None:
        pipeline = shape.pipelines[key] = build_pipeline(
            job, plan, training, shape.layers.rank, allowed
        )
    return pipeline


def _pipeline_cost(
    job: PlanningJob, plan: Plan, training: Training, context: tuple[PlanShape, Pipeline]
) -> PipelineCost:
    shape, pipeline = context
    layers = shape.layers
    if training.schedule == "dualpipe" and plan.expert_parallel * plan.expert_tensor_parallel > 1:
        layers = layer_costs(job.model, plan, training, layers.rank)
    return pipeline_cost(job.model, plan, training, layers, (pipeline.weights, pipeline.hops))


def _stage_fills(
    job: PlanningJob, plan: Plan, training: Training, context: tuple[PlanShape, Pipeline]
) -> list[StageContents]:
    """Return the memory of the stages that can be the fullest."""
    shape, pipeline = context
    return [
        StageContents(
            stage=stage,
            parameters=parameters,
            activations=stage_activations(job.model, plan, training, stage, shape.kinds),
        )
        for stage, parameters in pipeline.stages()
    ]


def recipe_candidates(job: PlanningJob) -> tuple[Candidate, ...]:
    """Return the published plans of a job's model whose process fits."""
    plans = (
        run_candidate(candidate_run(job, plan, training), job.kept_free)
        for plan, training in recipe_plans(job)
    )
    return tuple(plan for plan in plans if plan.memory.total <= allowed_bytes(job))


def run_candidate(run: Run, kept_free: Share = KEPT_FREE) -> Candidate:
    """Return a run as a candidate plan of its job, which keeps a share of the memory free."""
    return Candidate(
        plan=run.plan,
        training=run.training,
        memory=rank_memory(run.model, run.plan, run.training),
        room=usable_bytes(run.cluster.gpu.memory, kept_free),
        device=run.cluster.gpu.memory,
        time=step_time(run.model, run.cluster, run.plan, run.training),
    )


def candidate_run(job: PlanningJob, plan: Plan, training: Training) -> Run:
    """Return a plan of a job as a training run."""
    return Run(model=job.model, cluster=job.cluster, plan=plan, training=training)
