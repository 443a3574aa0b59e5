"""A step of DeepSpeed's ZeRO-3 on streams: fetches, prefetches and buckets of gradients."""

from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import MODELS
from engine.core.units import Bytes, Count, Parameters, Seconds
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.simulate.data_parallel.gradient_buckets import ParameterTensor, registration_order
from engine.simulate.data_parallel.parameter_fetch import (
    FetchSchedule,
    FetchSettings,
    canonical_settings,
    fetch_schedule,
    gathered_elements,
)
from engine.simulate.overlap.overlap_job import OverlapJob, OverlapSetting, build_overlap_job
from engine.simulate.step.prediction_evidence import Evidence
from engine.simulate.streams.stream_account import ExposedAccount, Interval, exposed_account

BUCKET: Parameters = 5e8
_BF16: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceBuckets:
    """How gradients are reduced.

    Attributes:
        size: `reduce_bucket_size`, elements.
        overlap: `overlap_comm`; off, reductions stand in the compute stream.
    """

    size: Parameters = BUCKET
    overlap: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPlan:
    """Gathers, reductions and buffers of a ZeRO-3 step, without times.

    Attributes:
        fetched: what was gathered when.
        gathers, reductions: collectives.
        live: gathered parameters, at most.
        bucket: buffer of the gradients, allocated whole.
        persistent: parameters that are never divided.
    """

    fetched: FetchSchedule
    gathers: Count
    reductions: Count
    live: Bytes
    bucket: Bytes
    persistent: Bytes

    @property
    def buffers(self) -> Bytes:
        """Buffer bytes in addition to the states."""
        return self.live + self.bucket + self.persistent


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedStep(FetchPlan):
    """A simulated ZeRO-3 step.

    Attributes:
        times: the times of its streams.
        states: that each GPU keeps.
        sent: bytes of each GPU.
        evidence: on which a prediction of the step rests.
    """

    times: ExposedAccount
    states: Bytes
    sent: Bytes
    evidence: Evidence


def fetch_plan(model: str, settings: FetchSettings, buckets: ReduceBuckets) -> FetchPlan:
    """Return the gathers and buffers of a ZeRO-3 step, without simulating it."""
    tensors, schedule = _tensors_and_schedule(model, settings)
    return FetchPlan(
        fetched=schedule,
        gathers=schedule.calls,
        reductions=len(_bucket_boundaries(tensors, schedule, buckets.size)),
        live=_BF16 * schedule.live,
        bucket=_BF16 * buckets.size,
        persistent=_BF16 * schedule.persistent,
    )


def _tensors_and_schedule(
    model: str, settings: FetchSettings
) -> tuple[tuple[ParameterTensor, ...], FetchSchedule]:
    tensors = registration_order(MODELS[model])
    sizes = tuple(tensor.parameters for tensor in tensors)
    return tensors, _cached_schedule(sizes, canonical_settings(sizes, settings))


_cached_schedule = lru_cache(maxsize=64)(fetch_schedule)


def _bucket_boundaries(
    tensors: tuple[ParameterTensor, ...], schedule: FetchSchedule, size: Parameters
) -> tuple[tuple[Count, Parameters], ...]:
    """Return (visit before which a bucket is closed, its elements); the last at the end."""
    boundaries: list[tuple[Count, Parameters]] = []
    filled = 0.0
    for place, visit in enumerate(schedule.visits):
        if not visit.backward:
            continue
        elements = tensors[visit.module].parameters
        if filled and filled + elements > size:
            boundaries.append((place, filled))
            filled = 0.0
        filled += elements
    return *boundaries, (len(schedule.visits), filled)


@lru_cache(maxsize=64)
def fetched_step(
    setting: OverlapSetting, settings: FetchSettings, buckets: ReduceBuckets
) -> FetchedStep:
    """Return the step of a dense model under ZeRO-3, one micro-batch.

    The host is taken to stand at the module that computes: a module's own fetch starts when the
    module before it has ended, and what is fetched ahead starts beside the module's computation.
    A host that runs ahead of the GPU hides more.
    """
    base, plan = build_overlap_job(setting), fetch_plan(setting.model, settings, buckets)
    tensors, schedule = _tensors_and_schedule(setting.model, settings)
    sizes = [tensor.parameters for tensor in tensors]
    total = sum(sizes)
    ranks = setting.data_parallel
    return FetchedStep(
        fetched=schedule,
        times=_simulate(base, tensors, schedule, buckets),
        gathers=plan.gathers + bool(schedule.persistent),
        reductions=plan.reductions,
        live=plan.live,
        bucket=plan.bucket,
        persistent=plan.persistent,
        states=sharded_states(total, MIXED_PRECISION, 3, ranks).total,
        sent=_BF16
        * (ranks - 1)
        / ranks
        * (gathered_elements(sizes, schedule) + total + schedule.persistent),
        evidence=base.evidence,
    )


def _simulate(
    base: OverlapJob,
    tensors: tuple[ParameterTensor, ...],
    schedule: FetchSchedule,
    buckets: ReduceBuckets,
) -> ExposedAccount:
    """Simulate all operations in host order, which is the order of both streams."""
    *closed, (_, last) = _bucket_boundaries(tensors, schedule, buckets.size)
    full = dict(closed)
    matrices, scatter = base.work.parameters / base.layers, base.work.data.scatter
    # By module, its part of a layer's pass by what is multiplied: forward, and backward.
    passes = [
        [pass_time * tensor.work / matrices for tensor in tensors]
        for pass_time in (base.layer.forward, base.layer.backward)
    ]
    computing: list[Interval] = []
    sending: list[Interval] = []
    gathered_at: dict[Count, Seconds] = {}  # module -> end of its last gather
    now = 0.0  # the end of the last computation

    def send(elements: Parameters, ready: Seconds) -> Seconds:
        start = max(ready, sending[-1][1] if sending else 0.0)
        sending.append((start, start + scatter(_BF16 * elements)))
        return sending[-1][1]

    for place, (module, backward, missing, prefetched, _, released) in enumerate(schedule.visits):
        if missing:
            gathered_at[module] = send(tensors[module].parameters, now)
        start = max(now, gathered_at.get(module, 0.0))
        if prefetched:
            end = send(sum(tensors[other].parameters for other in prefetched), start)
            gathered_at |= dict.fromkeys(prefetched, end)
        if place in full:
            end = send(full[place], now)
            start = start if buckets.overlap else max(start, end)
        now = start + passes[backward][module]
        computing.append((start, now))
        if released:
            gathered_at.pop(module, None)
    send(last, now)
    if schedule.persistent:  # DeepSpeed gathers them after each update, with nothing beside it
        send(schedule.persistent, now)
    return exposed_account(computing, sending)
