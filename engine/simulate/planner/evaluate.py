"""Plans with their memory and their step, computed by the cost model as it computes one alone.

Plans of one shape share what a layer costs, those of one pipeline what its micro-batches cost, so
that a plan among many takes a fraction of the time of a plan by itself and gets the same numbers.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.formulas.activations import LayerMemory
from engine.run.parallelism import Plan, Training, num_microbatches
from engine.run.plan_space import Job, pipelines, shapes
from engine.run.run import Run
from engine.simulate.layer.device_model import Rank, rank_of
from engine.simulate.memory.allocator import Memory, usable
from engine.simulate.memory.memory import Filled, fullest, kinds_of_layer, memory
from engine.simulate.memory.peak_activations import stage_activations
from engine.simulate.planner.pipeline import Pipeline, Sharded, pipeline_of
from engine.simulate.step.stage_time import Layers, layers_of
from engine.simulate.step.step_time import (
    Flow,
    StepTime,
    flow_of,
    shortest_of_flow,
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


# What was found of pipelines: the plan, and what of its training they differ in.
Found = dict[tuple[Hashable, ...], Pipeline]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A split of a layer and a micro-batch, with what a layer costs.

    Attributes:
        plan: without a pipeline.
        training: without its schedule.
        layers: seconds, for one micro-batch.
        kinds: bytes, of a layer without experts and of one with.
        bound: no plan of this shape has a shorter step.
        found: what was found of pipelines, which all shapes of a job have in common.
    """

    plan: Plan
    training: Training
    layers: Layers
    kinds: tuple[LayerMemory, LayerMemory]
    bound: Seconds
    found: Found


def priced_shapes(job: Job) -> Iterator[Shape]:
    """Yield every shape of a job with what its layers cost."""
    return priced(job, shapes(job))


def priced(job: Job, chosen: Iterable[tuple[Plan, Training]]) -> Iterator[Shape]:
    """Yield some shapes of a job with what their layers cost."""
    ranks: dict[tuple[str, str], Rank] = {}
    found: Found = {}
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
        known = _known(job, plan, training, shape)
        flow = _flow(job, plan, training, (shape, known))
        held = _filled(job, plan, training, (shape, known))
        for sharded in known.sharded:
            most = fullest(job.model, sharded.plan, training, held, sharded.standing)
            yield _candidate(job, (training, sharded), most, flow, shape)


def fitting(
    job: Job,
    shape: Shape,
    better_than: Mapping[Count, Seconds] | None = None,
    front: Sequence[Candidate] = (),
    below: Callable[[], Seconds] = lambda: math.inf,
) -> Iterator[Candidate]:
    """Yield the plans of a shape that fit; of others the step is not computed.

    Nor is it where the shape's bound says that the plan is slower than the limit for its number of
    stages, or that a plan of `front`, sorted by step, beats it in both step and memory; nor where
    the micro-batches of a pipeline alone take longer than `below` says by then.
    """
    room = usable(job.cluster.gpu.memory, shape.training) * (1 - job.kept_free)
    limits = better_than or {}
    least = min((one.held.total for one in front if one.step <= shape.bound), default=math.inf)
    for plan, training in pipelines(job, shape.plan, shape.training):
        if limits.get(plan.pipeline_parallel, math.inf) <= shape.bound:
            continue
        known = _known(job, plan, training, shape)
        flow = _flow(job, plan, training, (shape, known))
        if shortest_of_flow(flow) > below():
            continue
        held = _filled(job, plan, training, (shape, known))
        if max(one.activations for one in held) >= min(room, least):
            continue
        for sharded in known.sharded:
            most = fullest(job.model, sharded.plan, training, held, sharded.standing)
            if most.total <= room and most.total < least:
                yield _candidate(job, (training, sharded), most, flow, shape)


def _candidate(
    job: Job, how: tuple[Training, Sharded], held: Memory, flow: Flow, shape: Shape
) -> Candidate:
    training, sharded = how
    plan, rank = sharded.plan, shape.layers.rank
    return Candidate(
        plan=plan,
        training=training,
        held=held,
        room=usable(job.cluster.gpu.memory, training),
        time=step_of_flow(job.model, plan, training, rank, flow, sharded.shared),
    )


def _known(job: Job, plan: Plan, training: Training, shape: Shape) -> Pipeline:
    """Return a pipeline, found once for all micro-batches and recomputations."""
    several = num_microbatches(plan, training) > 1
    key = (plan, training.framework, training.precision, training.schedule, several)
    found = shape.found.get(key)
    if found is None:
        found = shape.found[key] = pipeline_of(job, plan, training, shape.layers.rank)
    return found


def _flow(job: Job, plan: Plan, training: Training, around: tuple[Shape, Pipeline]) -> Flow:
    shape, known = around
    layers = shape.layers
    if training.schedule == "dualpipe" and plan.expert_parallel * plan.expert_tensor_parallel > 1:
        layers = layers_of(job.model, plan, training, layers.rank)
    return flow_of(job.model, plan, training, layers, (known.weights, known.hops))


def _filled(
    job: Job, plan: Plan, training: Training, around: tuple[Shape, Pipeline]
) -> list[Filled]:
    """Return what the stages hold that can be the fullest; one, where all are one stage."""
    shape, known = around
    return [
        Filled(
            stage=stage,
            parameters=parameters,
            activations=stage_activations(job.model, plan, training, stage, shape.kinds),
        )
        for stage, parameters in known.stages
    ]


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
