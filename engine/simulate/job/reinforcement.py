"""A step of reinforcement learning: generation, log-probabilities, training, new weights.

Colocated, all GPUs do one after another. Separate, some generate and the others train: in turn,
one step apart, or with a stream of responses that never waits for the longest.
"""

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
    Asked,
    Engine,
    cache_tokens,
    generated_on,
    lengths,
    mean_length,
    slots_of,
    steady_rate,
)
from engine.simulate.layer.device_model import Rank, group_of, rank_of
from engine.simulate.memory.allocator import Memory
from engine.simulate.memory.memory import memory
from engine.simulate.step.step_time import step_time

Mode = Literal["colocated", "separate", "one_step_off", "stream"]
MODES: tuple[Mode, ...] = ("colocated", "separate", "one_step_off", "stream")
# Tokens of a packed row of training, and what full recomputation makes of a forward pass: it is a
# quarter of forward, again forward, and backward.
_ROW: Tokens = 16_384
_FORWARD: Share = 1 / 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The job.

    Attributes:
        model: the policy; without experts.
        cluster: its machines.
        world_size: GPUs.
        generating: of them that generate, where they are apart.
        engine: GPUs of an inference engine, tensor parallel.
        asked: what is generated.
        cache_share: of a GPU's memory that an engine takes, weights included.
        at_once: responses that an engine works on, at most.
        forwards: passes over the responses before training: old log-probabilities, reference, and
            a reward model of the same size if there is one.
        critic: a second model of the same size is trained too (PPO).
    """

    model: Model
    cluster: Cluster
    world_size: Count
    generating: Count
    engine: Count
    asked: Asked
    cache_share: Share = 0.6
    at_once: Count = 256
    forwards: Count = 2
    critic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RlStep:
    """One step, and what its GPUs do meanwhile.

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

    mode: Mode
    engines: tuple[Engine, ...]
    generation: Seconds
    forwards: Seconds
    training: Seconds
    update: Seconds
    total: Seconds
    idle: Share
    tail: Seconds
    stale: Count
    tokens: Tokens


def engines_of(setup: Setup, *, apart: bool) -> tuple[Engine, ...]:
    """Return the engines of a step, on GPUs of their own (`apart`) or on those that train."""
    generating = setup.generating if apart else setup.world_size
    rank = rank_of(setup.cluster, _training(setup, _trainers(setup, apart)))
    count = max(1, generating // setup.engine)
    return generated_on(setup.model, rank, setup.engine, count, setup.asked, _slots(setup))


def _trainers(setup: Setup, apart: bool) -> Count:
    return setup.world_size - setup.generating if apart else setup.world_size


def _slots(setup: Setup) -> Count:
    held = setup.cache_share * setup.cluster.gpu.memory
    room = cache_tokens(setup.model, setup.engine, held)
    return slots_of(setup.asked, room, setup.at_once)


def rl_step(setup: Setup, mode: Mode, engines: tuple[Engine, ...] = ()) -> RlStep:
    """Return a step; `engines` are those of `engines_of`, where they are known already."""
    apart = mode != "colocated"
    generating = setup.generating if apart else 0
    trainers = _trainers(setup, apart)
    rank = rank_of(setup.cluster, _training(setup, trainers))
    engines = engines or engines_of(setup, apart=apart)
    count = len(engines)
    tokens = sum(one.tokens for one in engines)
    forwards, training = _trained(setup, trainers, tokens)
    update = _update(setup, rank, trainers, generating)
    generation = max(one.end for one in engines)
    if mode == "stream":
        generation = tokens / (
            count * steady_rate(setup.model, rank, setup.engine, setup.asked, _slots(setup))
        )
    learning = forwards + training
    one_after_another = generation + learning + update
    total = (
        one_after_another
        if mode in ("colocated", "separate")
        else max(generation, learning) + update
    )
    busy = setup.engine * (
        count * generation if mode == "stream" else sum(one.end for one in engines)
    )
    busy += trainers * learning + setup.world_size * update
    ends = sorted(one.end for one in engines)
    return RlStep(
        mode=mode,
        engines=engines,
        generation=generation,
        forwards=forwards,
        training=training,
        update=update,
        total=total,
        # A sum of times leaves rounding behind; that is no idleness.
        idle=max(0.0, round(1 - busy / (setup.world_size * total), 12)),
        tail=0.0 if mode == "stream" else ends[-1] - ends[len(ends) // 2],
        stale={"colocated": 0, "separate": 0, "one_step_off": 1}.get(mode, _versions(setup, total)),
        tokens=tokens,
    )


def _versions(setup: Setup, total: Seconds) -> Count:
    """Return the updates that the longest response of a stream lives through, at least one."""
    longest, mean = max(lengths(setup.asked)), mean_length(setup.asked)
    return max(1, round(longest / mean)) if total else 1


def _training(setup: Setup, trainers: Count) -> Training:
    rows = max(1, round(setup.asked.responses * mean_length(setup.asked) / _ROW / trainers))
    return Training(
        micro_batch_size=1,
        global_batch_size=rows * trainers,
        sequence_length=int(_ROW),
        recompute="full",
        framework="fsdp",
        eager_loss=True,  # log-probabilities and entropies are not a compiled cross-entropy
    )


def _trained(setup: Setup, trainers: Count, tokens: Tokens) -> tuple[Seconds, Seconds]:
    """Return the passes before training, and training: FSDP, rows of packed responses."""
    training = _training(setup, trainers)
    plan = Plan(world_size=trainers, zero_stage=3)
    found = step_time(setup.model, setup.cluster, plan, training)
    share = tokens / (training.global_batch_size * _ROW)
    passes = (found.total - found.optimizer - found.other) * share
    models = 2 if setup.critic else 1
    forwards = _FORWARD * passes * (setup.forwards + (1 if setup.critic else 0))
    return forwards, models * (passes + found.optimizer + found.other)


def _update(setup: Setup, rank: Rank, trainers: Count, receivers: Count) -> Seconds:
    """Return the time of new weights: a gather on the same GPUs, or sent to others by all."""
    size: Parameters = total_parameters(setup.model)
    group = group_of(rank, trainers, 1, "data")
    gather = scatter_or_gather_time(
        HALF * size, trainers, group.nodes, group.bandwidth, group.network
    )
    if not receivers:
        return gather
    sent = shared_sending_time(size, HALF, trainers, receivers, setup.engine, rank.port)
    return max(gather, sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class RlMemory:
    """What a GPU holds in one phase of a colocated step.

    Attributes:
        states: parameters, gradients and optimizer of what is trained, sharded.
        reference: frozen models, sharded.
        engine: weights of the inference engine.
        cache: of keys and values.
        activations: of training, with buffers and reserve.
    """

    states: Bytes
    reference: Bytes
    engine: Bytes
    cache: Bytes
    activations: Bytes

    @property
    def total(self) -> Bytes:
        """All together."""
        return self.states + self.reference + self.engine + self.cache + self.activations


def rl_memory(setup: Setup, *, sleeps: bool, offloaded: bool) -> tuple[RlMemory, RlMemory]:
    """Return what a GPU holds while it generates, and while it trains.

    `sleeps`: the engine frees weights and cache while others work; `offloaded`: states and frozen
    models wait in the host's memory while it generates.
    """
    plan = Plan(world_size=setup.world_size, zero_stage=3)
    held: Memory = memory(setup.model, plan, _training(setup, setup.world_size))
    models = 2 if setup.critic else 1
    states = models * (held.parameters + held.gradients + held.optimizer)
    weights = HALF * total_parameters(setup.model)
    frozen = max(0, setup.forwards - 1) * weights / setup.world_size
    engine = weights / setup.engine
    cache = max(0.0, setup.cache_share * setup.cluster.gpu.memory - engine)
    waiting = 0.0 if offloaded else 1.0
    awake = 0.0 if sleeps else 1.0
    generating = RlMemory(
        states=waiting * states,
        reference=waiting * frozen,
        engine=engine,
        cache=cache,
        activations=0.0,
    )
    training = RlMemory(
        states=states,
        reference=frozen,
        engine=awake * engine,
        cache=awake * cache,
        activations=held.activations + held.buffers + held.reserve,
    )
    return generating, training


def with_split(setup: Setup, share: Ratio) -> Setup:
    """Return the same job with another share of the GPUs generating, in whole engines."""
    engines = round(share * setup.world_size / setup.engine)
    most = (setup.world_size - 1) // setup.engine
    return replace(setup, generating=setup.engine * min(max(1, engines), most))
