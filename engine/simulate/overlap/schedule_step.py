"""A job under five schedules, each a run of the step model, and its step as stretches of time."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.core import registry
from engine.core.record import record
from engine.core.units import Bytes, Count, Ratio, Seconds, Share
from engine.run.run import Run
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.layer.layer_time import LayerTime
from engine.simulate.step.axis_wires import AxisTimes, axis_times
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.sharding_time import (
    DataParallelExchange,
    RankWeights,
    data_parallel_exchange,
    sharded_units,
)
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import StepTime, pipeline_cost, step_from_costs
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP, run_program
from engine.simulate.streams.workload import CollectiveGroup, Workload

NAMES = ("blocking", "buckets", "sharded", "async", "paired")
_GROUPS: Count = 8  # of micro-batches that a step is drawn in, at most
_UNITS: Count = 50  # of a stage that are drawn, at most
_TWO: Count = 35  # likewise of two micro-batches
# Of the ten passes of tensor parallelism over a layer's hidden states, those of the forward pass.
_FORWARD_PASSES: Share = 0.4
_COLLECTIVES: Count = 5  # drawn inside a unit: two of the forward pass, three of the backward pass


def scheduled_run(run: Run, name: str) -> Run:
    """Return the run under a schedule.

    "blocking" and "buckets" keep every parameter on every GPU, or the sharding below stage 3 that
    the run has; the others shard parameters too. Of "paired" the step model has the bubble alone.
    """
    plan, training = run.plan, run.training
    whole = name in ("blocking", "buckets")
    stage = min(plan.zero_stage, 2) if plan.zero_stage < 3 else 0
    paired = name == "paired"
    return replace(
        run,
        plan=replace(
            plan,
            zero_stage=stage if whole else 3,
            virtual_pipeline=1 if paired else plan.virtual_pipeline,
        ),
        training=replace(
            training,
            schedule="dualpipe" if paired else training.schedule,
            overlap_gradient_reduce=name != "blocking",
            overlap_tensor_parallel=name in ("async", "paired"),
        ),
    )


@record
class Stretch:
    """A stretch of a step in which a stage computes, or waits.

    Attributes:
        key: "forward", "backward", "inside", "data", "pipeline", "bubble", "optimizer", "other".
        start, end: seconds from the begin of the step.
        first, last: micro-batches, from 1; 0 for what is no micro-batch's.
    """

    key: str
    start: Seconds
    end: Seconds
    first: Count = 0
    last: Count = 0


@record
class ScheduleOutcome:
    """A step under one schedule.

    Attributes:
        name: of the schedule.
        run: the job under it.
        estimate: parts of its step.
        stage: passes of one micro-batch on the slowest stage.
        microbatches: of the step.
        axes: communication of each axis with more than one rank.
        work: what is drawn, unit by unit.
        evidence: on which a prediction of the step rests.
    """

    name: str
    run: Run
    estimate: StepTime
    stage: LayerTime
    microbatches: Count
    axes: Mapping[str, AxisTimes]
    work: Workload
    evidence: Evidence

    @property
    def sharded(self) -> bool:
        """Whether parameters are sharded."""
        return self.run.plan.zero_stage == 3

    @property
    def step(self) -> Seconds:
        """Step time."""
        return self.estimate.total

    @property
    def compute(self) -> Seconds:
        """Computation alone."""
        return self.estimate.compute

    @property
    def inside(self) -> Seconds:
        """Exposed collectives inside layers."""
        parts = self.estimate
        return parts.tensor_parallel + parts.context_parallel + parts.expert_parallel

    @property
    def data(self) -> Seconds:
        """Exposed communication of data parallelism, and computation that it lengthens."""
        return self.estimate.data_parallel

    @property
    def pipeline(self) -> Seconds:
        """Exposed messages between stages."""
        return self.estimate.pipeline

    @property
    def exposed(self) -> Seconds:
        """Exposed communication of all axes."""
        return self.estimate.exposed

    @property
    def bubble(self) -> Seconds:
        """The pipeline fills and drains."""
        return self.estimate.bubble

    @property
    def optimizer(self) -> Seconds:
        """The update."""
        return self.estimate.optimizer

    @property
    def other(self) -> Seconds:
        """The host, and waiting for the slowest of all GPUs."""
        return self.estimate.other

    @property
    def residue(self) -> Seconds:
        """Step time beyond computation alone."""
        return self.step - self.compute

    @property
    def communication(self) -> Seconds:
        """Collectives and messages of all axes, each alone."""
        return sum(axis.alone for axis in self.axes.values())

    def data_part(self, part: str) -> float:
        """Return a figure of the data axis; 0 where it has one rank."""
        return float(getattr(self.axes["data"], part)) if "data" in self.axes else 0.0

    @property
    def parts(self) -> tuple[SpanPart, ...]:
        """The first micro-batches, unit by unit, communication cut where its hiding changes."""
        name = "fully_sharded"
        if not self.sharded:
            overlapped = "zero_1" if self.run.plan.zero_stage else "accumulation_no_sync"
            name = "flat_data_parallel" if self.name == "blocking" else overlapped
        program = registry.module("engine.simulate.programs", name).program
        return split_spans(run_program(program(self.work)))

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The step as stretches, one after the other: the parts of the estimate, in order.

        Half of the bubble stands before the first micro-batch, half behind the last. Waits between
        micro-batches stand behind the passes that they follow.
        """
        stretches: list[Stretch] = []
        now = 0.0
        for key, time, first, last in _timed_parts(self):
            if time > 0:
                end = now + time
                stretches.append(Stretch(key=key, start=now, end=end, first=first, last=last))
                now = end
        return tuple(stretches)

    @property
    def streams(self) -> tuple[str, ...]:
        """Streams of the drawn micro-batches, from top to bottom."""
        used = {part.ran.op.stream for part in self.parts}
        return tuple(name for name in (COMPUTE, SCALE_UP, NETWORK) if name in used)


def schedule_outcomes(run: Run) -> Mapping[str, ScheduleOutcome]:
    """Return the step of every schedule."""
    return {name: schedule_outcome(run, name) for name in NAMES}


def schedule_outcome(run: Run, name: str) -> ScheduleOutcome:
    """Return the step of a schedule, by the step model."""
    run = scheduled_run(run, name)
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    cost = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank))
    estimate = step_from_costs(model, plan, training, rank, cost)
    exchange = data_parallel_exchange(plan, training, rank, cost.weights)
    return ScheduleOutcome(
        name=name,
        run=run,
        estimate=estimate,
        stage=cost.slowest,
        microbatches=cost.microbatches,
        axes={axis.key: axis for axis in axis_times(run, estimate)},
        work=_workload(run, rank, cost.slowest, (cost.weights, exchange), cost.microbatches),
        evidence=evidence(run),
    )


def _workload(
    run: Run,
    rank: RankRates,
    stage: LayerTime,
    replicas: tuple[RankWeights, DataParallelExchange],
    microbatches: Count,
) -> Workload:
    """Return what is drawn: micro-batches of a stage in units, two of them if they are few.

    Collectives inside layers are drawn with their exposed time alone, five of a unit, and those of
    data parallelism a layer at a time, where buckets are smaller, or several layers of many.
    """
    weights, exchange = replicas
    inside = stage.tensor_parallel + stage.context_parallel + stage.expert_parallel
    count = weights.layers + (run.plan.zero_stage == 3)
    exchange = replace(exchange, units=-(-count // -(-count // _UNITS)))
    passes = stage.forward, stage.total - stage.forward - inside
    units = sharded_units(run.plan, rank, weights, exchange, passes)
    if run.plan.zero_stage < 3:
        units = replace(units, forward=passes[0] / units.count, backward=passes[1] / units.count)
    parameters = 1.0  # each unit is one, of as many as there are units
    drawn = 2 if units.count <= _TWO else 1
    return Workload(
        layers=units.count,
        forward=units.forward,
        backward=units.backward,
        parameters=parameters,
        data=_shared_group(run, rank, units.count, exchange),
        element=1.0,
        gradient=1.0,
        bucket=parameters,
        num_microbatches=min(microbatches, drawn),
        tensor_gather=inside / units.count / _COLLECTIVES,
        tensor_again=True,
    )


def _shared_group(
    run: Run, rank: RankRates, units: Count, exchange: DataParallelExchange
) -> CollectiveGroup:
    """Return a group whose collectives take their share of those of the step model."""
    plan = run.plan
    stage = plan.world_size // plan.pipeline_parallel
    group = rank_group(rank, stage // plan.tensor_parallel, plan.tensor_parallel, "data")

    def share(time: Seconds, size: Bytes) -> Seconds:
        return time * size / units

    return CollectiveGroup(
        ranks=group.ranks,
        all_reduce=lambda size: share(exchange.reduce, size),
        scatter=lambda size: share(exchange.reduce, size),
        gather=lambda size: share(exchange.gather, size),
        stream=SCALE_UP if group.nodes == 1 else NETWORK,
        sent=lambda size: 0.0,
    )


def _timed_parts(outcome: ScheduleOutcome) -> Iterator[tuple[str, Seconds, Count, Count]]:
    microbatches, stage = outcome.microbatches, outcome.stage
    groups = min(microbatches, _GROUPS)
    sharded = outcome.sharded
    yield "bubble", outcome.bubble / 2, 0, 0
    for group in range(groups):
        first, last = (group * microbatches) // groups, ((group + 1) * microbatches) // groups
        share: Ratio = (last - first) / microbatches
        numbers = first + 1, last
        yield "forward", (last - first) * stage.forward, *numbers
        yield "inside", _FORWARD_PASSES * share * outcome.inside, *numbers
        yield "backward", (last - first) * (stage.backward + stage.repeated), *numbers
        yield "inside", (1 - _FORWARD_PASSES) * share * outcome.inside, *numbers
        yield "data", share * outcome.data if sharded else 0.0, *numbers
        yield "pipeline", share * outcome.pipeline, *numbers
    yield "data", 0.0 if sharded else outcome.data, 0, 0
    yield "bubble", outcome.bubble / 2, 0, 0
    yield "optimizer", outcome.optimizer, 0, 0
    yield "other", outcome.other, 0, 0
