"""Plans with their memory and their step, computed by the cost model as it computes one alone.

Plans of one shape share what a layer costs, those of one pipeline what its micro-batches cost, so
that a plan among many takes a fraction of the time of a plan by itself and gets the same numbers.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.basis.units import Bytes, Count, Ratio, Seconds
from engine.catalog.models import Model
from engine.formulas.activations import LayerMemory
from engine.formulas.states import RankParameters, rank_parameters
from engine.run.parallelism import Plan, Training
from engine.run.plan_space import Job, pipelines, shapes, shardings
from engine.run.run import Run
from engine.simulate.memory import (
    Filled,
    Memory,
    kinds_of_layer,
    memory,
    sharded_memory,
    stage_activations,
    stages_that_can_be_fullest,
    usable,
)
from engine.simulate.rank import Rank, rank_of
from engine.simulate.sharding_time import Exchange, exchange_of
from engine.simulate.step_time import (
    Flow,
    Layers,
    StepTime,
    flow_of,
    layers_of,
    step_of_flow,
    step_time,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One plan of a job.

    Attributes:
        plan: how the work is split.
        training: how it trains.
        held: memory of the fullest rank.
        room: what that rank may fill.
        time: of a step.
    """

    plan: Plan
    training: Training
    held: Memory
    room: Bytes
    time: StepTime

    @property
    def step(self) -> Seconds:
        """Seconds of a step."""
        return self.time.total

    @property
    def fits(self) -> bool:
        """Whether the fullest rank holds it."""
        return self.held.total <= self.room

    @property
    def axes(self) -> Count:
        """How many ways of splitting it uses beside data parallelism."""
        plan = self.plan
        sizes = (plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel)
        return sum(size > 1 for size in (*sizes, plan.expert_parallel))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A split of a layer and a micro-batch, with what a layer costs.

    Attributes:
        plan: without a pipeline.
        training: without its schedule.
        layers: seconds, for one micro-batch.
        kinds: bytes, of a layer without experts and of one with.
        bound: no plan of this shape has a shorter step.
        found: parameters of the stages that were asked for, which all shapes have in common.
        exchanges: of data parallelism, likewise.
    """

    plan: Plan
    training: Training
    layers: Layers
    kinds: tuple[LayerMemory, LayerMemory]
    bound: Seconds
    found: dict[tuple[Hashable, ...], RankParameters]
    exchanges: dict[tuple[Hashable, ...], Exchange]


def priced_shapes(job: Job) -> Iterator[Shape]:
    """Yield every shape of a job with what its layers cost."""
    return priced(job, shapes(job))


def priced(job: Job, chosen: Iterable[tuple[Plan, Training]]) -> Iterator[Shape]:
    """Yield some shapes of a job with what their layers cost."""
    ranks: dict[tuple[str, str], Rank] = {}
    found: dict[tuple[Hashable, ...], RankParameters] = {}
    exchanges: dict[tuple[Hashable, ...], Exchange] = {}
    for plan, training in chosen:
        key = (training.framework, training.precision)
        if key not in ranks:
            ranks[key] = rank_of(job.cluster, training)
        layers = layers_of(job.model, plan, training, ranks[key])
        yield Shape(
            plan=plan,
            training=training,
            layers=layers,
            kinds=kinds_of_layer(job.model, plan, training),
            bound=shortest(job, plan, training, layers),
            found=found,
            exchanges=exchanges,
        )


def shortest(job: Job, plan: Plan, training: Training, layers: Layers) -> Seconds:
    """Return a bound: the layers of all sequences, spread evenly over all ranks, nothing else.

    A pipeline's stages hold L/p layers in the mean and the slowest one at least that many; each of
    W/(tcp) pipelines runs B/b of them: B t c L / (b W) layers, whatever p is.
    """
    layer = min(layers.dense.total, layers.sparse.total)
    if "dualpipe" in job.schedules:  # hides what other schedules expose
        layer -= max(layers.dense.expert_parallel, layers.sparse.expert_parallel)
    split: Ratio = plan.tensor_parallel * plan.context_parallel / plan.world_size
    batches: Ratio = training.global_batch_size / training.micro_batch_size
    return batches * split * job.model.num_layers * layer


def candidates(job: Job, shape: Shape) -> Iterator[Candidate]:
    """Yield every plan of a shape, whether it fits or not."""
    for plan, training in pipelines(job, shape.plan, shape.training):
        held, flow = _filled(job, plan, training, shape), _flow(job, plan, training, shape)
        for sharded in shardings(job, plan, training):
            fullest = _fullest(job.model, sharded, training, held)
            yield _candidate(job, (sharded, training), fullest, flow, shape)


def fitting(
    job: Job,
    shape: Shape,
    better_than: Mapping[Count, Seconds] | None = None,
    front: Sequence[Candidate] = (),
) -> Iterator[Candidate]:
    """Yield the plans of a shape that fit; of others the step is not computed.

    Nor is it where the shape's bound says that the plan is slower than the limit for its number of
    stages, or that a plan of `front`, sorted by step, beats it in both step and memory.
    """
    room = usable(job.cluster.gpu.memory, shape.training) * (1 - job.kept_free)
    limits = better_than or {}
    least = min((one.held.total for one in front if one.step <= shape.bound), default=math.inf)
    for plan, training in pipelines(job, shape.plan, shape.training):
        if limits.get(plan.pipeline_parallel, math.inf) <= shape.bound:
            continue
        held, flow = _filled(job, plan, training, shape), None
        if max(one.activations for one in held) >= min(room, least):
            continue
        for sharded in shardings(job, plan, training):
            fullest = _fullest(job.model, sharded, training, held)
            if fullest.total > room or fullest.total >= least:
                continue
            flow = flow or _flow(job, plan, training, shape)
            yield _candidate(job, (sharded, training), fullest, flow, shape)


def _candidate(
    job: Job, how: tuple[Plan, Training], held: Memory, flow: Flow, shape: Shape
) -> Candidate:
    plan, training = how
    exchange = _exchange(plan, training, shape, flow)
    return Candidate(
        plan=plan,
        training=training,
        held=held,
        room=usable(job.cluster.gpu.memory, training),
        time=step_of_flow(job.model, plan, training, shape.layers.rank, flow, exchange),
    )


def _exchange(plan: Plan, training: Training, shape: Shape, flow: Flow) -> Exchange:
    """Return what replicas send, found once for all micro-batches, recomputations and pieces."""
    split = (plan.tensor_parallel, plan.context_parallel, plan.pipeline_parallel)
    experts = (plan.expert_parallel, plan.expert_tensor_parallel)
    key = (*split, *experts, plan.shard_group, training.framework, training.precision)
    if key not in shape.exchanges:
        shape.exchanges[key] = exchange_of(plan, training, shape.layers.rank, flow.weights)
    return shape.exchanges[key]


def _flow(job: Job, plan: Plan, training: Training, shape: Shape) -> Flow:
    layers = shape.layers
    if training.schedule == "dualpipe" and plan.expert_parallel * plan.expert_tensor_parallel > 1:
        layers = layers_of(job.model, plan, training, layers.rank)
    return flow_of(job.model, plan, training, layers)


def _filled(job: Job, plan: Plan, training: Training, shape: Shape) -> list[Filled]:
    """Return what the stages hold that can be the fullest; one, where all are one stage."""
    return [
        Filled(
            stage=stage,
            parameters=_parameters(job.model, plan, training, stage, shape.found),
            activations=stage_activations(job.model, plan, training, stage, shape.kinds),
        )
        for stage in stages_that_can_be_fullest(plan)
    ]


def _parameters(
    model: Model,
    plan: Plan,
    training: Training,
    stage: Count,
    found: dict[tuple[Hashable, ...], RankParameters],
) -> RankParameters:
    """Return the parameters of a stage, found once for all micro-batches and recomputations."""
    split = (plan.tensor_parallel, plan.expert_parallel, plan.expert_tensor_parallel)
    pipeline = (plan.pipeline_parallel, plan.virtual_pipeline, plan.stage_layers)
    key = (*split, *pipeline, training.schedule, stage)
    if key not in found:
        found[key] = rank_parameters(model, plan, training, stage)
    return found[key]


def _fullest(model: Model, plan: Plan, training: Training, held: list[Filled]) -> Memory:
    memories = [sharded_memory(model, plan, training, one) for one in held]
    return max(memories, key=lambda one: one.total)


def one_candidate(run: Run) -> Candidate:
    """Return a run by itself as a plan of its job."""
    return Candidate(
        plan=run.plan,
        training=run.training,
        held=memory(run.model, run.plan, run.training),
        room=usable(run.cluster.gpu.memory, run.training),
        time=step_time(run.model, run.cluster, run.plan, run.training),
    )


def run_of(job: Job, plan: Plan, training: Training) -> Run:
    """Return a plan of a job as a training run."""
    return Run(model=job.model, cluster=job.cluster, plan=plan, training=training)
