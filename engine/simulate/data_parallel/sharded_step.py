"""Simulated step of a sharded job by ZeRO stage: streams, memory over time and bytes."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.core import registry
from engine.core.units import Bytes, Count, Seconds
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.parameters import total_parameters
from engine.formulas.states import MIXED_PRECISION, States, sharded_states
from engine.formulas.volumes import zero_bytes_sent
from engine.simulate.memory.allocator import usable_bytes
from engine.simulate.overlap.overlap_job import (
    OverlapJob,
    OverlapSetting,
    build_overlap_job,
    setting_run,
)
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.stream_account import (
    COMMUNICATION,
    ExposedAccount,
    StepAccount,
    exposed_account,
    step_account,
)
from engine.simulate.streams.streams import COMPUTE, OpSpan, StreamOp, program_length, run_program

PROGRAMS = {0: "accumulation_no_sync", 1: "zero_1", 2: "zero_2", 3: "fully_sharded"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedStep:
    """A simulated sharded step.

    Attributes:
        job: the job.
        spans: of every operation.
        account: their account.
        states: that each GPU keeps.
        memory: (time, bytes from then on), states and what comes for a while.
        peak: the most of it.
        capacity: memory of the GPU that can be used.
        sent: bytes of each GPU in the step, those of embedding and output layer included.
        isolated: all its collectives one after the other.
        evidence: on which a prediction of the step rests.
        reshard: gathered parameters are freed after the forward pass.
    """

    job: OverlapJob
    spans: tuple[OpSpan, ...]
    account: StepAccount
    states: States
    memory: tuple[tuple[Seconds, Bytes], ...]
    peak: Bytes
    capacity: Bytes
    sent: Bytes
    isolated: Seconds
    evidence: Evidence

    reshard: bool = True

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
    def fits(self) -> bool:
        """Whether states and buffers fit; activations are not counted."""
        return self.peak <= self.capacity


@lru_cache(maxsize=256)
def sharded_step_length(setting: OverlapSetting, zero_stage: Count) -> Seconds:
    """Return the step time of a sharded job, without spans and memory."""
    return program_length(
        _program(_split_into_units(build_overlap_job(setting), setting.unit), setting, zero_stage)
    )


@lru_cache(maxsize=256)
def sharded_step_times(setting: OverlapSetting, zero_stage: Count) -> ExposedAccount:
    """Return step, compute and exposed time of a sharded job, without spans and memory."""
    spans = run_program(
        _program(_split_into_units(build_overlap_job(setting), setting.unit), setting, zero_stage)
    )
    return exposed_account(
        [(span.start, span.end) for span in spans if span.op.stream == COMPUTE],
        [(span.start, span.end) for span in spans if span.op.stream in COMMUNICATION],
    )


@lru_cache(maxsize=128)
def simulate_sharded_step(setting: OverlapSetting, zero_stage: Count) -> ShardedStep:
    """Return the step of a job without tensor or pipeline parallelism."""
    base = _split_into_units(build_overlap_job(setting), setting.unit)
    spans = run_program(_program(base, setting, zero_stage))
    parameters = total_parameters(MODELS[setting.model])
    shard = setting.shard or setting.data_parallel
    states = sharded_states(parameters, MIXED_PRECISION, zero_stage, shard)
    memory = _memory_timeline(spans, base, states.total, zero_stage, reshard=setting.reshard)
    collectives = [span.op for span in spans if span.op.stream != COMPUTE]
    return ShardedStep(
        job=base,
        spans=spans,
        account=step_account(spans),
        states=states,
        memory=memory,
        peak=max(size for _, size in memory),
        capacity=usable_bytes(gpu_memory(setting), base.run.training),
        sent=zero_bytes_sent(
            base.work.gradient * parameters,
            base.work.element * parameters,
            zero_stage,
            shard,
            setting.num_microbatches,
            reshard=setting.reshard,
        )
        + _replica_bytes_sent(setting, base.work.gradient * parameters / shard, shard),
        isolated=sum(op.time for op in collectives),
        evidence=evidence(setting_run(setting, zero_stage)),
        reshard=setting.reshard,
    )


def _replica_bytes_sent(setting: OverlapSetting, share: Bytes, shard: Count) -> Bytes:
    """Return the bytes a rank sends to all-reduce its gradient shard over replicas."""
    sums = 1 if setting.sum_once else setting.num_microbatches
    return sums * ring_bytes_sent(share, setting.data_parallel // shard)


def _program(base: OverlapJob, setting: OverlapSetting, zero_stage: Count) -> tuple[StreamOp, ...]:
    work = replace(base.work, num_microbatches=setting.num_microbatches)
    name = PROGRAMS[zero_stage] if base.work.replicas is None else "hybrid_sharded"
    ops: tuple[StreamOp, ...] = registry.module("engine.simulate.programs", name).program(work)
    return ops


def _split_into_units(work: OverlapJob, unit: Count) -> OverlapJob:
    """Return the job split into FSDP units of `unit` layers each."""
    blocks = work.work
    share = unit / work.layers
    units = replace(
        blocks,
        layers=blocks.layers * work.layers // unit,
        forward=blocks.forward * share,
        backward=blocks.backward * share,
        parameters=blocks.parameters * share,
        tensors=blocks.tensors * unit // work.layers,
    )
    return replace(work, work=units, layers=unit)


def gpu_memory(setting: OverlapSetting) -> Bytes:
    """Return the nominal memory of the GPU."""
    return GPUS[setting.gpu].memory


def _memory_timeline(
    spans: tuple[OpSpan, ...], base: OverlapJob, states: Bytes, zero_stage: Count, *, reshard: bool
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
            own = by_key.get(f"{key}:gradients")
            at = bisect_left(ends, span.end)
            done = own.end if own else ends[at] if at < len(ends) else span.end
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
