"""Simulated step of a sharded job by ZeRO stage: streams, memory over time and bytes."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core import registry
from engine.core.record import record
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, States, sharded_states
from engine.formulas.volumes import zero_bytes_sent
from engine.run.parallelism import (
    Cluster,
    Framework,
    GradientPrecision,
    Plan,
    Training,
    sharding_ranks,
)
from engine.run.run import Run
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.memory.allocator import OUTSIDE, MemoryFit, usable_bytes
from engine.simulate.step.exposed_exchange import ShardedUnits
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.sharding_time import (
    DataParallelExchange,
    RankWeights,
    lengthened_pass,
    sharded_units,
)
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import StepTime, pipeline_cost, replica_cost, step_from_costs
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.stream_account import (
    COMMUNICATION,
    ExposedAccount,
    StepAccount,
    exposed_account,
    step_account,
)
from engine.simulate.streams.streams import COMPUTE, OpSpan, StreamOp, program_length, run_program
from engine.simulate.streams.workload import Workload, nccl_group

PROGRAMS = {0: "accumulation_no_sync", 1: "zero_1", 2: "zero_2", 3: "fully_sharded"}
_NODE: Count = 8
# What closes a step is neither a pass nor communication.
CLOSING = ("update", "other")


@record
class ShardedSetting:
    """A data-parallel job of a dense model, and how its collectives are scheduled.

    Attributes:
        model, gpu: keys of the catalog (`MODELS`, `GPUS`).
        ranks: GPUs.
        tokens: of a micro-batch.
        port: line rate of the network, per GPU, one way.
        zero_stage: 0 to 3.
        framework: family of software.
        num_microbatches: of a step.
        gradient: its type on the wire; empty: as the software sends it.
        prefetch: units that parameters are gathered ahead of their use.
        reshard: parameters are freed after the forward pass and gathered again.
        unit: layers that are gathered as one; all: the whole model is.
        again: ranks that gather for the backward pass; 0: those that gather for the forward pass.
        shard: neighboring ranks that share one copy of the states; 0: all.
        sum_once: copies sum their gradients with the last micro-batch only.
        own_constants: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: str
    gpu: str
    ranks: Count
    tokens: Count
    port: Bandwidth
    zero_stage: Count = 3
    framework: Framework = "fsdp"
    num_microbatches: Count = 1
    gradient: GradientPrecision = ""
    prefetch: Count = 1
    reshard: bool = True
    unit: Count = 1
    again: Count = 0
    shard: Count = 0
    sum_once: bool = False
    own_constants: str = ""


@record
class ShardedJob:
    """A sharded job as the step model has it.

    Attributes:
        work: its passes and collectives.
        run: the job.
        estimate: step time of the run, scheduled as its software does unasked.
        unit: layers of a unit of `work`; 0: units are buckets.
        evidence: on which a prediction of its step rests.
    """

    work: Workload
    run: Run
    estimate: StepTime
    unit: Count
    evidence: Evidence


def setting_run(setting: ShardedSetting) -> Run:
    """Return the job of a setting as a run."""
    shard = 0 if setting.shard >= setting.ranks else setting.shard
    return Run(
        model=MODELS[setting.model],
        cluster=Cluster(
            gpu=GPUS[setting.gpu],
            gpus_per_node=_NODE,
            nics_per_node=_NODE,
            nic_bandwidth=setting.port,
            own_constants=parse_constants(setting.own_constants),
        ),
        plan=Plan(
            world_size=setting.ranks,
            sequence_parallel=False,
            zero_stage=setting.zero_stage,
            shard_group=shard,
        ),
        training=Training(
            micro_batch_size=1,
            global_batch_size=setting.ranks * setting.num_microbatches,
            sequence_length=setting.tokens,
            framework=setting.framework,
            gradient_precision=setting.gradient,
        ),
    )


@lru_cache(maxsize=256)
def sharded_job(setting: ShardedSetting) -> ShardedJob:
    """Return the passes and collectives of a job, from the step model."""
    run = setting_run(setting)
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    cost = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank))
    weights, stage = cost.weights, cost.slowest
    replicas = replica_cost(model, plan, training, rank, weights)
    estimate = step_from_costs(model, plan, training, rank, cost, replicas)
    passes = stage.forward, stage.total - stage.forward
    shards = sharding_ranks(plan)
    copies = rank_group(rank, setting.ranks // shards, shards, "copies")
    again = rank_group(rank, setting.again, 1, "data") if setting.again else None
    common = Workload(
        layers=1,
        forward=passes[0],
        backward=passes[1],
        parameters=weights.total,
        data=nccl_group(rank, rank_group(rank, shards, 1, "data")),
        replicas=nccl_group(rank, copies) if copies.ranks > 1 else None,
        sum_once=setting.sum_once,
        again=nccl_group(rank, again) if again else None,
        element=HALF,
        gradient=replicas.exchange.gradient,
        num_microbatches=setting.num_microbatches,
        prefetch=setting.prefetch,
        reshard=setting.reshard,
        optimizer=estimate.optimizer,
        other=estimate.other,
    )
    unit = 0
    if setting.zero_stage == 3:
        unit = min(setting.unit, model.num_layers)
        whole = setting.unit >= model.num_layers
        exchange = replace(replicas.exchange, units=1 if whole else model.num_layers // unit + 1)
        work = _sharded_work(common, sharded_units(plan, rank, weights, exchange, passes))
    else:
        if rank.software.reduces_whole:
            common = replace(common, data=replace(common.data, scatter=common.data.all_reduce))
        work = _bucketed_work(common, rank, weights, replicas.exchange)
    return ShardedJob(work=work, run=run, estimate=estimate, unit=unit, evidence=evidence(run))


def _sharded_work(common: Workload, units: ShardedUnits) -> Workload:
    """Return the workload with parameters in units: layers, and embedding with output layer."""
    return replace(
        common,
        layers=units.count,
        forward=units.forward,
        backward=units.backward,
        parameters=common.parameters / units.count,
    )


def _bucketed_work(
    common: Workload, rank: RankRates, weights: RankWeights, exchange: DataParallelExchange
) -> Workload:
    """Return the workload with gradients in buckets, passes cut where one is full."""
    buckets, last = exchange.units, common.gradient * weights.embedding
    slower = (
        lengthened_pass(rank, weights, (HALF, common.forward)),
        lengthened_pass(rank, weights, (exchange.gradient, common.backward)),
    )
    return replace(
        common,
        layers=buckets,
        forward=common.forward / buckets,
        backward=common.backward / buckets,
        parameters=(common.parameters - weights.embedding) / buckets,
        bucket=common.gradient * common.parameters / buckets / 2,
        first_forward=slower[0] / buckets,
        last_backward=slower[1] / buckets,
        last_bucket=last,
        gathers_last=rank.software.gathers_after_step,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedStep:
    """A simulated sharded step.

    Attributes:
        job: the job.
        spans: of every operation.
        account: of the passes and the collectives.
        step: all of it, with the optimizer, the host and the wait for the slowest GPU.
        states: that each GPU keeps.
        memory: (time, bytes from then on), states and what comes for a while.
        peak: the most of it.
        capacity: memory of the GPU that can be used.
        sent: bytes of each GPU in the step, those of embedding and output layer included.
        isolated: all its collectives one after the other.
        evidence: on which a prediction of the step rests.
        reshard: gathered parameters are freed after the forward pass.
    """

    job: ShardedJob
    spans: tuple[OpSpan, ...]
    account: StepAccount
    step: Seconds
    states: States
    memory: tuple[tuple[Seconds, Bytes], ...]
    peak: Bytes
    capacity: Bytes
    sent: Bytes
    isolated: Seconds
    evidence: Evidence

    reshard: bool = True

    @property
    def closing(self) -> Seconds:
        """Optimizer, host, and waiting for the slowest GPU."""
        return self.job.work.optimizer + self.job.work.other

    @property
    def computing(self) -> Share:
        """Share of the step that is not exposed communication."""
        return 1 - self.account.exposed / self.step

    @property
    def parts(self) -> tuple[SpanPart, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return split_spans(self.spans)

    def freed(self, gather: str, spans: Mapping[str, OpSpan]) -> Seconds:
        """Return when the unit of a gather is freed."""
        name = gather.removesuffix(":parameters")
        keeps = not self.reshard and name[0] == "F"
        return spans[_last_use(name, spans) if keeps else name].end

    @property
    def fit(self) -> MemoryFit:
        """The fit of states and buffers in a process; activations are not counted."""
        needed = self.peak + OUTSIDE
        device = self.job.run.cluster.gpu.memory
        return MemoryFit(needed=needed, least=needed, usable=self.capacity, device=device)


@lru_cache(maxsize=256)
def sharded_step_length(setting: ShardedSetting) -> Seconds:
    """Return the step time of a sharded job, without spans and memory."""
    return program_length(_program(setting))


@lru_cache(maxsize=256)
def sharded_step_times(setting: ShardedSetting) -> ExposedAccount:
    """Return step, compute and exposed time of a sharded job, without spans and memory."""
    spans = run_program(_program(setting))
    passes = _without_closing(spans)
    seen = exposed_account(
        [(span.start, span.end) for span in passes if span.op.stream == COMPUTE],
        [(span.start, span.end) for span in passes if span.op.stream in COMMUNICATION],
    )
    return replace(seen, length=max(span.end for span in spans))


def _without_closing(spans: tuple[OpSpan, ...]) -> tuple[OpSpan, ...]:
    """Return the spans of passes and collectives."""
    return tuple(span for span in spans if span.op.key not in CLOSING)


@lru_cache(maxsize=128)
def simulate_sharded_step(setting: ShardedSetting) -> ShardedStep:
    """Return the played step of a job without tensor or pipeline parallelism."""
    job, stage = sharded_job(setting), setting.zero_stage
    spans = run_program(_program(setting))
    parameters = total_parameters(MODELS[setting.model])
    shard = sharding_ranks(job.run.plan)
    states = sharded_states(parameters, MIXED_PRECISION, stage, shard)
    passes = _without_closing(spans)
    memory = _memory_timeline(passes, job, states.total, stage, reshard=setting.reshard)
    return ShardedStep(
        job=job,
        spans=spans,
        account=step_account(passes),
        step=max(span.end for span in spans),
        states=states,
        memory=memory,
        peak=max(size for _, size in memory),
        capacity=usable_bytes(gpu_memory(setting)),
        sent=zero_bytes_sent(
            job.work.gradient * parameters,
            job.work.element * parameters,
            stage,
            shard,
            setting.num_microbatches,
            reshard=setting.reshard,
        )
        + _replica_bytes_sent(setting, job.work.gradient * parameters / shard, shard),
        isolated=sum(span.op.time for span in passes if span.op.stream != COMPUTE),
        evidence=job.evidence,
        reshard=setting.reshard,
    )


def _replica_bytes_sent(setting: ShardedSetting, share: Bytes, shard: Count) -> Bytes:
    """Return the bytes a rank sends to all-reduce its gradient shard over replicas."""
    sums = 1 if setting.sum_once else setting.num_microbatches
    return sums * ring_bytes_sent(share, setting.ranks // shard)


@lru_cache(maxsize=64)
def _program(setting: ShardedSetting) -> tuple[StreamOp, ...]:
    work = sharded_job(setting).work
    name = PROGRAMS[setting.zero_stage] if work.replicas is None else "hybrid_sharded"
    ops: tuple[StreamOp, ...] = registry.module("engine.simulate.programs", name).program(work)
    return ops


def gpu_memory(setting: ShardedSetting) -> Bytes:
    """Return the nominal memory of the GPU."""
    return GPUS[setting.gpu].memory


def _memory_timeline(
    spans: tuple[OpSpan, ...], base: ShardedJob, states: Bytes, zero_stage: Count, *, reshard: bool
) -> tuple[tuple[Seconds, Bytes], ...]:
    """Return the memory over time: states, gathered layers, gradients on their way.

    A gathered unit takes room from the start of its gather to the end of its last pass; gradients
    from the start of their backward pass to the end of their reduction (from stage 2).
    """
    by_key = {span.op.key: span for span in spans}
    last = {key.partition(".")[2]: key for key in by_key if key[0] == "B" and ":" not in key}
    ends = sorted(span.end for span in spans if span.op.key.startswith("reduce"))
    unit = base.work.parameters
    events: list[tuple[Seconds, Bytes]] = [(0.0, states)]
    for span in spans:
        key = span.op.key
        if key.endswith(":parameters"):
            name = key.removesuffix(":parameters")
            use = name if reshard or name[0] == "B" else last[name.partition(".")[2]]
            events.append((span.start, unit * base.work.element))
            events.append((by_key[use].end, -unit * base.work.element))
            # The smaller group's share stays from the forward to the backward pass.
            kept = unit * base.work.element / base.work.again.ranks if base.work.again else 0.0
            events.append((by_key[use].end, kept if name[0] == "F" else -kept))
        if key[0] == "B" and ":" not in key and zero_stage >= 2 and base.work.data.ranks > 1:
            reduction = by_key.get(f"{key}:gradients")
            at = bisect_left(ends, span.end)
            done = reduction.end if reduction else ends[at] if at < len(ends) else span.end
            events.append((span.start, unit * base.work.gradient))
            events.append((done, -unit * base.work.gradient))
    timeline: dict[Seconds, Bytes] = {}
    size = 0.0
    for moment, change in sorted(events):
        size += change
        timeline[moment] = size
    return tuple(timeline.items())


def _last_use(name: str, spans: Mapping[str, OpSpan]) -> str:
    """Return the last backward pass of a layer that is kept: of the last micro-batch."""
    layer = name.partition(".")[2]
    passes = [key for key in spans if key[0] == "B" and ":" not in key]
    return [key for key in passes if key.partition(".")[2] == layer][-1]
