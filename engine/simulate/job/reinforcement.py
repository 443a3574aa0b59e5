"""A step of reinforcement learning: generation, log-probabilities, training, new weights.

Colocated, all GPUs do one after another. Separate, some generate and the others train: in turn,
one step apart, or with a stream of responses that never waits for the longest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog.models import Model
from engine.core.units import Bytes, Count, Parameters, Ratio, Seconds, Share, Tokens
from engine.formulas.parameters import total_parameters
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.formulas.weight_update import shared_sending_time
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.job.generation import HALF
from engine.simulate.job.rollouts import (
    InferenceEngine,
    RolloutRequest,
    cache_tokens,
    engine_slots,
    mean_response_length,
    response_lengths,
    run_engines,
    steady_token_rate,
)
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.memory.allocator import Memory, MemoryFit, usable_bytes
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.step_time import step_time

RlMode = Literal["colocated", "separate", "one_step_off", "stream"]
MODES: tuple[RlMode, ...] = ("colocated", "separate", "one_step_off", "stream")
# A stream trains on the log-probabilities that the engine wrote down, as verl's does: responses
# come from several versions of the weights, which no single pass could score.
SCORED_BY_ENGINE: tuple[RlMode, ...] = ("stream",)
# Tokens of a packed row of training, and what full recomputation makes of a forward pass: it is a
# quarter of forward, again forward, and backward.
_ROW: Tokens = 16_384
_FORWARD: Share = 1 / 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RlJob:
    """A reinforcement learning job.

    Attributes:
        model: the policy; without experts.
        cluster: its machines.
        world_size: GPUs.
        generating: of them that generate, where they are apart.
        engine: GPUs of an inference engine, tensor parallel.
        request: what is generated.
        cache_share: of a GPU's memory that an engine takes, weights included.
        at_once: responses that an engine works on, at most.
        forwards: passes over the responses before training: old log-probabilities, reference, and
            a reward model of the same size if there is one; a stream leaves out the first.
        critic: a second model of the same size is trained too (PPO).
    """

    model: Model
    cluster: Cluster
    world_size: Count
    generating: Count
    engine: Count
    request: RolloutRequest
    cache_share: Share = 0.6
    at_once: Count = 256
    forwards: Count = 2
    critic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RlStep:
    """Times of one reinforcement learning step.

    Attributes:
        mode: how the roles are placed.
        engines: all of them.
        generation: until the last response is done; of a stream, its mean time per step.
        forwards: log-probabilities, reference, reward.
        training: forward, backward and update.
        update: of the weights of the engines.
        total: from one step to the next.
        idle: share of all GPU time in which a GPU has nothing to do.
        tail: of the generation, after half of the engines are done.
        stale: steps between the weights that generate and those that are trained, at most.
        tokens: generated in a step.
    """

    mode: RlMode
    engines: tuple[InferenceEngine, ...]
    generation: Seconds
    forwards: Seconds
    training: Seconds
    update: Seconds
    total: Seconds
    idle: Share
    tail: Seconds
    stale: Count
    tokens: Tokens


def generation_engines(job: RlJob, *, apart: bool) -> tuple[InferenceEngine, ...]:
    """Return the inference engines of a step, on separate GPUs (`apart`) or on the trainers."""
    generating = job.generating if apart else job.world_size
    rank = rank_rates(job.cluster, _training(job, _num_trainers(job, apart)))
    count = max(1, generating // job.engine)
    return run_engines(job.model, rank, job.engine, count, job.request, _slots_per_engine(job))


def _num_trainers(job: RlJob, apart: bool) -> Count:
    return job.world_size - job.generating if apart else job.world_size


def _slots_per_engine(job: RlJob) -> Count:
    engine_memory = job.cache_share * job.cluster.gpu.memory
    room = cache_tokens(job.model, job.engine, engine_memory)
    return engine_slots(job.request, room, job.at_once)


def rl_step(job: RlJob, mode: RlMode, engines: tuple[InferenceEngine, ...] = ()) -> RlStep:
    """Return the times of a step; `engines` may be those of `generation_engines`."""
    apart = mode != "colocated"
    generating = job.generating if apart else 0
    trainers = _num_trainers(job, apart)
    rank = rank_rates(job.cluster, _training(job, trainers))
    engines = engines or generation_engines(job, apart=apart)
    count = len(engines)
    tokens = sum(engine.tokens for engine in engines)
    passes = job.forwards - (1 if mode in SCORED_BY_ENGINE else 0)
    forwards, training = _training_times(job, trainers, tokens, passes)
    update = _weight_update_time(job, rank, trainers, generating)
    generation = max(engine.end for engine in engines)
    if mode == "stream":
        generation = tokens / (
            count
            * steady_token_rate(job.model, rank, job.engine, job.request, _slots_per_engine(job))
        )
    learning = forwards + training
    one_after_another = generation + learning + update
    total = (
        one_after_another
        if mode in ("colocated", "separate")
        else max(generation, learning) + update
    )
    busy = job.engine * (
        count * generation if mode == "stream" else sum(engine.end for engine in engines)
    )
    busy += trainers * learning + job.world_size * update
    ends = sorted(engine.end for engine in engines)
    return RlStep(
        mode=mode,
        engines=engines,
        generation=generation,
        forwards=forwards,
        training=training,
        update=update,
        total=total,
        # A sum of times leaves rounding behind; that is no idleness.
        idle=max(0.0, round(1 - busy / (job.world_size * total), 12)),
        tail=0.0 if mode == "stream" else ends[-1] - ends[len(ends) // 2],
        stale={"colocated": 0, "separate": 0, "one_step_off": 1}.get(
            mode, _stale_updates(job, total)
        ),
        tokens=tokens,
    )


def _stale_updates(job: RlJob, total: Seconds) -> Count:
    """Return the weight updates during the longest response of a stream, at least one."""
    longest, mean = max(response_lengths(job.request)), mean_response_length(job.request)
    return max(1, round(longest / mean)) if total else 1


def _training(job: RlJob, trainers: Count) -> Training:
    rows = max(
        1, round(job.request.responses * mean_response_length(job.request) / _ROW / trainers)
    )
    return Training(
        micro_batch_size=1,
        global_batch_size=rows * trainers,
        sequence_length=int(_ROW),
        recompute="full",
        framework="fsdp",
        eager_loss=True,  # log-probabilities and entropies are not a compiled cross-entropy
    )


def _training_times(
    job: RlJob, trainers: Count, tokens: Tokens, scoring: Count
) -> tuple[Seconds, Seconds]:
    """Return the times of scoring passes and training with FSDP on packed responses."""
    training = _training(job, trainers)
    plan = Plan(world_size=trainers, zero_stage=3)
    step = step_time(job.model, job.cluster, plan, training)
    share = tokens / (training.global_batch_size * _ROW)
    passes = (step.total - step.optimizer - step.other) * share
    models = 2 if job.critic else 1
    forwards = _FORWARD * passes * (scoring + (1 if job.critic else 0))
    return forwards, models * (passes + step.optimizer + step.other)


def _weight_update_time(job: RlJob, rank: RankRates, trainers: Count, receivers: Count) -> Seconds:
    """Return the time to update the engines' weights: an all-gather, or sends to other GPUs."""
    size: Parameters = total_parameters(job.model)
    group = rank_group(rank, trainers, 1, "data")
    gather = scatter_or_gather_time(
        HALF * size, trainers, group.nodes, group.bandwidth, group.network
    )
    if not receivers:
        return gather
    sent = shared_sending_time(size, HALF, trainers, receivers, job.engine, rank.port)
    return max(gather, sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class RlMemory:
    """Memory of a GPU in one phase of a colocated step.

    Attributes:
        states: parameters, gradients and optimizer of what is trained, sharded.
        reference: frozen models, sharded.
        engine: weights of the inference engine.
        cache: of keys and values.
        activations: of training, with buffers and reserve.
        free: of all that, free blocks that the allocator can give back.
    """

    states: Bytes
    reference: Bytes
    engine: Bytes
    cache: Bytes
    activations: Bytes
    free: Bytes

    @property
    def total(self) -> Bytes:
        """Total memory."""
        return self.states + self.reference + self.engine + self.cache + self.activations


def rl_memory(job: RlJob, *, sleeps: bool, offloaded: bool) -> tuple[RlMemory, RlMemory]:
    """Return the memory of a GPU during generation and during training.

    `sleeps`: the engine frees weights and cache while others work; `offloaded`: states and frozen
    models wait in the host's memory while it generates.
    """
    plan = Plan(world_size=job.world_size, zero_stage=3)
    training_memory: Memory = rank_memory(job.model, plan, _training(job, job.world_size))
    models = 2 if job.critic else 1
    states = models * (
        training_memory.parameters + training_memory.gradients + training_memory.optimizer
    )
    weights = HALF * total_parameters(job.model)
    frozen = max(0, job.forwards - 1) * weights / job.world_size
    engine = weights / job.engine
    cache = max(0.0, job.cache_share * job.cluster.gpu.memory - engine)
    waiting = 0.0 if offloaded else 1.0
    awake = 0.0 if sleeps else 1.0
    generating = RlMemory(
        states=waiting * states,
        reference=waiting * frozen,
        engine=engine,
        cache=cache,
        activations=0.0,
        free=0.0,
    )
    training = RlMemory(
        states=states,
        reference=frozen,
        engine=awake * engine,
        cache=awake * cache,
        activations=training_memory.activations + training_memory.buffers + training_memory.reserve,
        free=training_memory.total - training_memory.least,
    )
    return generating, training


def rl_fit(phases: Sequence[RlMemory], device: Bytes) -> MemoryFit:
    """Return how the fuller phase fits a GPU on which programs can allocate `device` bytes."""
    return MemoryFit(
        needed=max(phase.total for phase in phases),
        least=max(phase.total - phase.free for phase in phases),
        usable=usable_bytes(device),
        device=device,
    )


def with_split(job: RlJob, share: Ratio) -> RlJob:
    """Return the job with another share of GPUs for generation, in whole engines."""
    engines = round(share * job.world_size / job.engine)
    most = (job.world_size - 1) // job.engine
    return replace(job, generating=job.engine * min(max(1, engines), most))
