"""Training with sharded parameters: each part is gathered just before its use and freed after it.

Each part is gathered for the forward pass, dropped, and gathered again for the backward pass, as
FSDP does with reshard_after_forward (Zhao et al. 2023). How wide it is sharded is free: over all
ranks (ZeRO-3), or over groups that each hold one copy (HSDP, MiCS), or over all ranks with a second
copy of the parameters in every node (hpZ).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from engine.core.slices import Sliced, Slices, steps_done
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.data import begin, gather_parts, outcome, own_slice, part_places, whole_places
from engine.tiny.exchange import Exchange, part_of
from engine.tiny.groups import Groups, crossed
from engine.tiny.job import Job, micro_batches, num_targets, share
from engine.tiny.layout import OUTPUT, Weights, part_names, part_range, vector_of, weights_of
from engine.tiny.layout import size as size_of
from engine.tiny.matrix import Matrix, Vector, add_vectors
from engine.tiny.parts import Tokens, backward, forward, tokens_of
from engine.tiny.result import Run
from engine.tiny.trace import RankState, Recorder, Snapshot, ignore, laid, passing, snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """How states and parameters are divided, and when replicas meet.

    Attributes:
        shard: neighboring ranks that share one copy of everything; divides the ranks.
        gpus_per_node: neighboring ranks of one node.
        reshard: parameters are freed after the forward pass and gathered again for the backward
            pass; otherwise a micro-batch keeps what it gathered until its backward pass.
        second: every node keeps a second copy of the parameters, shared by its ranks, from which
            the backward pass gathers (hpZ).
        sum_once: the copies sum their gradients once a step, not with every micro-batch.
    """

    shard: Count
    gpus_per_node: Count
    reshard: bool = True
    second: bool = False
    sum_once: bool = False


@dataclass(slots=True, kw_only=True)
class _Pass:
    """A rank's micro-batch on its way: the rows that went into each part, and their gradient."""

    tokens: Tokens
    rows: dict[str, Matrix]
    now: Matrix


@dataclass(slots=True, kw_only=True)
class _World:
    """All ranks at work.

    Attributes:
        kept: part -> whole parameters, by rank, of what is gathered now.
        second: part -> each rank's share of its node's second copy.
    """

    job: Job
    sharding: Sharding
    states: list[RankState]
    exchange: Exchange
    record: Recorder
    step: int = 0
    micro: int = 0
    kept: dict[str, list[Vector]] = field(default_factory=dict)
    second: dict[str, list[Vector]] = field(default_factory=dict)

    @property
    def group(self) -> Groups:
        return Groups(self.exchange, self.sharding.shard)

    @property
    def node(self) -> Groups:
        return Groups(self.exchange, self.sharding.gpus_per_node)

    @property
    def replicated(self) -> bool:
        return self.sharding.shard < self.exchange.ranks


@Sliced
def train(job: Job, ranks: Count, sharding: Sharding, record: Recorder = ignore) -> Slices[Run]:
    """Return the run on `ranks` ranks; losses are not summed here."""
    width = sharding.shard
    states = begin(job, [part_places(job.model, rank % width, width) for rank in range(ranks)])
    for own in states:
        own.parameters = list(own.moments.copy)
    world = _World(
        job=job, sharding=sharding, states=states, exchange=Exchange(ranks), record=record
    )
    for step in range(1, job.steps + 1):
        yield steps_done(step - 1, job.steps)
        world.step = step
        _step(world)
    run = outcome(job, states, world.exchange, ())
    first = [own.parameters for own in states[:width]]
    return replace(run, parameters=gather_parts(job, Exchange(width), first, "result")[0])


def _step(world: _World) -> None:
    job, states, ranks = world.job, world.states, world.exchange.ranks
    for own in states:
        own.gradients = [0.0] * len(own.own)
    world.micro = 0
    _see(world, "start")
    dealt = [micro_batches(job, share(job, rank, ranks)) for rank in range(ranks)]
    for micro, together in enumerate(zip_longest(*dealt, fillvalue=()), start=1):
        world.micro = micro
        work = [
            _Pass(tokens=tokens_of(some, num_targets(job)), rows={}, now=[]) for some in together
        ]
        _forward(world, work)
        _backward(world, work)
    world.micro = 0
    if world.replicated and world.sharding.sum_once:
        _put(world, world.group.sum_across([own.gradients for own in states], "gradients"))
        _see(world, "all_reduce")
    for own in states:
        own.parameters = adam.step(own.moments, own.gradients, job.learning_rate)
    world.second.clear()
    _see(world, "adam")


def _put(world: _World, gradients: list[Vector]) -> None:
    for own, total in zip(world.states, gradients, strict=True):
        own.gradients = total


def _gathered(world: _World, part: str, *, again: bool) -> list[Weights]:
    """Return a part's weights on every rank: kept from the forward pass, or gathered."""
    if part not in world.kept:
        model, sharding = world.job.model, world.sharding
        size = len(part_range(model, part))
        if again and part in world.second:
            found = world.node.all_gather(world.second[part], "parameters")
        else:
            cut = own_slice(model, part, sharding.shard)
            found = world.group.all_gather(
                [own.parameters[cut] for own in world.states], "parameters"
            )
        world.kept[part] = [vector[:size] for vector in found]
        if sharding.second and not again:
            each = sharding.gpus_per_node
            world.second[part] = [
                part_of(whole, rank % each, each) for rank, whole in enumerate(world.kept[part])
            ]
        _see(world, "node_gather" if again and part in world.second else "gather", part)
    return [weights_of(world.job.model, part, vector) for vector in world.kept[part]]


def _see(world: _World, phase: str, part: str = "", gradients: Sequence[Vector] = ()) -> None:
    """Record the world with all that was gathered and is still there."""
    model = world.job.model
    now = snapshot(world.step, phase, world.states, world.exchange, size_of(model))
    now = replace(now, crossed=crossed(world.exchange, world.sharding.gpus_per_node))
    for name, shares in world.second.items():
        now = _with_second(world, now, name, shares)
    for name, whole in world.kept.items():
        now = passing(now, phase, part, part_range(model, name), parameters=whole)
    if part:
        places = part_range(model, part)
        now = passing(now, phase, part, places, micro=world.micro, gradients=gradients)
    world.record(now)


def _with_second(world: _World, now: Snapshot, part: str, shares: list[Vector]) -> Snapshot:
    """Return the world with every rank's share of its node's second copy of a part."""
    places, each = part_range(world.job.model, part), world.sharding.gpus_per_node
    for rank, numbers in enumerate(shares):
        own = [i for i in whole_places(len(places), rank % each, each) if i < len(places)]
        if own:
            now = laid(now, rank, places[own[0] : own[-1] + 1], numbers)
    return now


def _forward(world: _World, work: list[_Pass]) -> None:
    for part in part_names(world.job.model):
        if part == OUTPUT:  # its forward pass runs straight into the backward pass
            for one in work:
                one.rows[part] = one.now
            continue
        found = _gathered(world, part, again=False)
        for one, weights in zip(work, found, strict=True):
            one.rows[part] = one.now
            one.now = forward(world.job.model, part, weights, one.now, one.tokens)
        if world.sharding.reshard:
            del world.kept[part]
        _see(world, "forward", part)


def _backward(world: _World, work: list[_Pass]) -> None:
    model = world.job.model
    for part in reversed(part_names(model)):
        ready = []
        # The output is gathered for both of its passes at once, from all that share it.
        found = _gathered(world, part, again=part != OUTPUT)
        for one, weights in zip(work, found, strict=True):
            if not one.tokens.inputs:
                ready.append([0.0] * len(part_range(model, part)))
                continue
            one.now, gradient = backward(model, part, weights, one.rows[part], one.tokens, one.now)
            ready.append(vector_of(model, part, gradient))
        _see(world, "backward", part, ready)
        del world.kept[part]
        _reduce(world, part, ready)


def _reduce(world: _World, part: str, ready: list[Vector]) -> None:
    """Add a part's gradients to the shares of their owners, in every copy."""
    cut = own_slice(world.job.model, part, world.sharding.shard)
    sums = world.group.reduce_scatter(ready, "gradients")
    if world.replicated and not world.sharding.sum_once:
        sums = world.group.sum_across(sums, "gradients")
    for own, total in zip(world.states, sums, strict=True):
        own.gradients[cut] = add_vectors(own.gradients[cut], total)
    _see(world, "reduce_scatter", part)
