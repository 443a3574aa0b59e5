"""DeepSpeed's step of ZeRO-3: the estimate, and what fetches and buckets change of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from engine.catalog.models import MODELS
from engine.core.units import Bytes, Count, Parameters, Seconds
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.simulate.data_parallel.gradient_buckets import ParameterTensor, registration_order
from engine.simulate.data_parallel.sharded_step import ShardedSetting, setting_run, sharded_job
from engine.simulate.layer.device_model import rank_group, rank_rates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.step.prediction_evidence import Evidence
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import StepTime, pipeline_cost
from engine.simulate.streams.stream_account import ExposedAccount, Interval, exposed_account
from engine.simulate.streams.workload import CollectiveGroup, nccl_group

# Parameter fetching of DeepSpeed's ZeRO-3 by module: gathers, prefetches and releases.
#
# The rules are those of `PartitionedParameterCoordinator` once it has seen a whole step: a module's
# own parameters are fetched when its turn comes; then what the next modules need, until the bucket
# of prefetches is full or too many parameters are live; behind a module its parameters are
# released, unless they are used again within the reuse distance or a prefetch has counted on them.
# Source: DeepSpeed 0.19, deepspeed/runtime/zero/partitioned_param_coordinator.py.

# DeepSpeedZeroConfig, elements.
PREFETCH, LIVE, REUSE, PERSISTENT = 5e7, 1e9, 1e9, 1e5


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """DeepSpeed's ZeRO-3 settings, in elements.

    Attributes:
        prefetch: `stage3_prefetch_bucket_size`.
        live: `stage3_max_live_parameters`.
        reuse: `stage3_max_reuse_distance`.
        persistent: `stage3_param_persistence_threshold`; tensors up to here are never divided.
    """

    prefetch: Parameters = PREFETCH
    live: Parameters = LIVE
    reuse: Parameters = REUSE
    persistent: Parameters = PERSISTENT


class ModulePass(NamedTuple):
    """Forward or backward pass of one module.

    Attributes:
        module: from 0, in the order of the forward pass.
        backward: whether it is its backward pass.
        missing: its parameters are gathered now, and it waits for them.
        ahead: modules whose parameters one more gather fetches meanwhile.
        live: elements that are gathered while it computes.
        released: its parameters are freed behind it.
    """

    module: Count
    backward: bool
    missing: bool
    ahead: tuple[Count, ...]
    live: Parameters
    released: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSchedule:
    """Parameter fetches of a step.

    Attributes:
        visits: forward, then backward.
        persistent: elements that every rank keeps whole.
    """

    visits: tuple[ModulePass, ...]
    persistent: Parameters

    @property
    def live(self) -> Parameters:
        """The most elements that are gathered at once."""
        return max(visit.live for visit in self.visits)

    @property
    def calls(self) -> Count:
        """Number of all-gathers."""
        return sum(visit.missing + bool(visit.ahead) for visit in self.visits)


def gathered_elements(sizes: Sequence[Parameters], fetched: FetchSchedule) -> Parameters:
    """Return the elements that a step gathers."""
    return sum(
        sizes[visit.module] * visit.missing + sum(sizes[module] for module in visit.ahead)
        for visit in fetched.visits
    )


def canonical_settings(sizes: Sequence[Parameters], settings: FetchSettings) -> FetchSettings:
    """Return canonical settings with the same fetches, so that results can be cached.

    Between two sizes of tensors, and between two distances of their uses, a threshold is as good as
    any other.
    """
    used = list(accumulate(sizes, initial=0.0))
    distances = (2 * (used[-1] - before) for before in used[1:])
    return replace(
        settings,
        reuse=min(
            (distance for distance in distances if distance >= settings.reuse), default=math.inf
        ),
        persistent=max((size for size in sizes if size <= settings.persistent), default=0.0),
    )


def fetch_schedule(sizes: Sequence[Parameters], settings: FetchSettings) -> FetchSchedule:
    """Return the parameter fetches of a step over modules of one tensor each."""
    course = _Coordinator(sizes, settings)
    visits = tuple(course.visit(visit) for visit in range(2 * len(sizes)))
    kept = sum(size for size in sizes if size <= settings.persistent)
    return FetchSchedule(visits=visits, persistent=kept)


class _Coordinator:
    """State of DeepSpeed's parameter coordinator during a step."""

    def __init__(self, sizes: Sequence[Parameters], settings: FetchSettings) -> None:
        self._sizes, self._knobs = sizes, settings
        count = len(sizes)
        self._order = (*range(count), *reversed(range(count)))
        # Elements used before each place.
        self._used = (0.0, *accumulate(sizes[module] for module in self._order))
        self._there = [size <= settings.persistent for size in sizes]
        self._counted_on = [-1] * count
        self._front = 0
        self._live = 0.0

    def visit(self, turn: Count) -> ModulePass:
        """Return the fetches and releases of the module at this place."""
        module = self._order[turn]
        missing = not self._there[module]
        if missing:
            self._gather(module)
        if self._counted_on[module] < turn:
            self._counted_on[module] = self._front
            self._front += 1
        ahead = self._prefetched()
        live = self._live
        return ModulePass(
            module=module,
            backward=turn >= len(self._sizes),
            missing=missing,
            ahead=ahead,
            live=live,
            released=self._released(module, turn + 1),
        )

    def _gather(self, module: Count) -> None:
        self._there[module] = True
        self._live += self._sizes[module]

    def _prefetched(self) -> tuple[Count, ...]:
        """Return the modules that one gather prefetches; the last may overfill the bucket."""
        room = min(self._knobs.live - self._live, self._knobs.prefetch)
        prefetched: list[Count] = []
        size = 0.0
        while self._front < len(self._order) and size < room:
            module = self._order[self._front]
            self._counted_on[module] = max(self._counted_on[module], self._front)
            self._front += 1
            if not self._there[module] and module not in prefetched:
                prefetched.append(module)
                size += self._sizes[module]
        for module in prefetched:
            self._gather(module)
        return tuple(prefetched)

    def _released(self, module: Count, turn: Count) -> bool:
        if self._sizes[module] <= self._knobs.persistent or self._kept(module, turn):
            return False
        self._there[module] = False
        self._live -= self._sizes[module]
        return True

    def _kept(self, module: Count, turn: Count) -> bool:
        """Return whether the module stays gathered: for a near use, or for a prefetch."""
        again = len(self._order) - 1 - module
        if again < turn:
            return False
        near = self._used[again] - self._used[turn] < self._knobs.reuse
        return near or self._counted_on[module] > turn


BUCKET: Parameters = 5e8


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceBuckets:
    """The buckets in which gradients are reduced.

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
    """A ZeRO-3 step.

    Attributes:
        estimate: parts of the step with every setting at its default.
        exposed: communication with nothing computed beside it.
        played: the times of the streams, where all that is fetched ahead can hide.
        states: that each GPU keeps.
        sent: bytes of each GPU.
        evidence: on which a prediction of the step rests.
    """

    estimate: StepTime
    exposed: Seconds
    played: ExposedAccount
    states: Bytes
    sent: Bytes
    evidence: Evidence

    @property
    def step(self) -> Seconds:
        """Step time."""
        return self.estimate.total - self.estimate.data_parallel + self.exposed


def fetch_plan(model: str, settings: FetchSettings, buckets: ReduceBuckets) -> FetchPlan:
    """Return the gathers and buffers of a ZeRO-3 step, without simulating it."""
    tensors, schedule = _tensors_and_schedule(model, settings)
    return FetchPlan(
        fetched=schedule,
        gathers=schedule.calls,
        reductions=len(_bucket_boundaries(tensors, schedule, buckets.size)),
        live=HALF * schedule.live,
        bucket=HALF * buckets.size,
        persistent=HALF * schedule.persistent,
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
    for turn, visit in enumerate(schedule.visits):
        if not visit.backward:
            continue
        elements = tensors[visit.module].parameters
        if filled and filled + elements > size:
            boundaries.append((turn, filled))
            filled = 0.0
        filled += elements
    return *boundaries, (len(schedule.visits), filled)


@lru_cache(maxsize=64)
def fetched_step(
    setting: ShardedSetting, settings: FetchSettings, buckets: ReduceBuckets
) -> FetchedStep:
    """Return the step of a dense model under ZeRO-3, one micro-batch.

    With every setting at its default its exposed communication is that of the estimate, which six
    published runs decide; other settings change it by what they change in the played fetch
    schedule. The schedule alone, which hides all that it fetches ahead, misses these runs by 15 %
    in the mean, the estimate by 6 % (`tests/engine/simulate/data_parallel/test_fetched_runs.py`).
    """
    plan = fetch_plan(setting.model, settings, buckets)
    job = sharded_job(setting)
    sizes = [tensor.parameters for tensor in registration_order(MODELS[setting.model])]
    total, ranks, gradient = sum(sizes), setting.ranks, job.work.gradient
    played = _played(setting, settings, buckets)
    usual = _played(setting, FetchSettings(), ReduceBuckets())
    kept = plan.fetched.persistent
    gathered = HALF * (gathered_elements(sizes, plan.fetched) + kept)
    return FetchedStep(
        fetched=plan.fetched,
        estimate=job.estimate,
        exposed=max(0.0, job.estimate.data_parallel + played.exposed - usual.exposed),
        played=played,
        gathers=plan.gathers + bool(kept),
        reductions=plan.reductions,
        live=plan.live,
        bucket=plan.bucket,
        persistent=plan.persistent,
        states=sharded_states(total, MIXED_PRECISION, 3, ranks).total,
        sent=(ranks - 1) / ranks * (gathered + gradient * total),
        evidence=job.evidence,
    )


@lru_cache(maxsize=64)
def _played(
    setting: ShardedSetting, settings: FetchSettings, buckets: ReduceBuckets
) -> ExposedAccount:
    """Return the played step of a job; its collectives have the ports that the estimate has."""
    run = setting_run(setting)
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    slowest = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank)).slowest
    group = rank_group(rank, setting.ranks, 1, "data")
    if group.nodes > 1 and rank.software.sharded_ports:
        group = replace(group, bandwidth=rank.software.sharded_ports * rank.port)
    tensors, schedule = _tensors_and_schedule(setting.model, settings)
    return play_fetches(
        tensors,
        schedule,
        buckets,
        (slowest.forward, slowest.total - slowest.forward),
        *_collectives(nccl_group(rank, group), sharded_job(setting).work.gradient),
    )


_Send = Callable[[Parameters], Seconds]


def _collectives(group: CollectiveGroup, gradient: Bytes) -> tuple[_Send, _Send]:
    """Return the time to gather so many parameters, and to reduce so many gradients."""
    return (
        lambda elements: group.gather(HALF * elements),
        lambda elements: group.scatter(gradient * elements),
    )


def play_fetches(
    tensors: tuple[ParameterTensor, ...],
    schedule: FetchSchedule,
    buckets: ReduceBuckets,
    passes: tuple[Seconds, Seconds],
    gather: _Send,
    reduce: _Send,
) -> ExposedAccount:
    """Return the times of all operations, played in host order, which is that of both streams.

    The host is taken to stand at the module that computes: a module's own fetch starts when the
    module before it has ended, and what is fetched ahead starts beside the module's computation.
    A module takes the part of the forward and of the backward pass that its products are of all.
    """
    *closed, (_, last) = _bucket_boundaries(tensors, schedule, buckets.size)
    full = dict(closed)
    work = sum(tensor.work for tensor in tensors)
    computing: list[Interval] = []
    sending: list[Interval] = []
    gathered_at: dict[Count, Seconds] = {}  # module -> end of its last gather
    now = 0.0  # the end of the last computation

    def send(time: Seconds, ready: Seconds) -> Seconds:
        start = max(ready, sending[-1][1] if sending else 0.0)
        sending.append((start, start + time))
        return sending[-1][1]

    for turn, (module, backward, missing, prefetched, _, released) in enumerate(schedule.visits):
        if missing:
            gathered_at[module] = send(gather(tensors[module].parameters), now)
        start = max(now, gathered_at.get(module, 0.0))
        if prefetched:
            end = send(gather(sum(tensors[other].parameters for other in prefetched)), start)
            gathered_at |= dict.fromkeys(prefetched, end)
        if turn in full:
            end = send(reduce(full[turn]), now)
            start = start if buckets.overlap else max(start, end)
        now = start + passes[backward] * tensors[module].work / work
        computing.append((start, now))
        if released:
            gathered_at.pop(module, None)
    send(reduce(last), now)
    if schedule.persistent:  # DeepSpeed gathers them after each update, with nothing beside it
        send(gather(schedule.persistent), now)
    return exposed_account(computing, sending)
