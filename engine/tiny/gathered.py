"""Training with sharded parameters: each part is gathered just before its use and freed after it.

Each part is gathered for the forward pass, dropped, and gathered again for the backward pass, as
FSDP does with reshard_after_forward (Zhao et al. 2023). How wide it is sharded is free: over all
ranks (ZeRO-3), or over groups that each hold one copy (HSDP, MiCS), or over all ranks with a second
copy of the parameters in every node (hpZ).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.data import (
    gather_parts,
    initial_states,
    own_slice,
    part_places,
    training_result,
    whole_places,
)
from engine.tiny.exchange import Exchange, part_of
from engine.tiny.job import TinyJob, micro_batches, num_targets, rank_sequences
from engine.tiny.layout import OUTPUT, Weights, part_names, part_range, vector_of, weights_of
from engine.tiny.layout import num_parameters as size_of
from engine.tiny.matrix import Matrix, Vector, add_vectors
from engine.tiny.parts import Tokens, backward, forward, token_rows
from engine.tiny.result import TrainingResult
from engine.tiny.trace import (
    RankState,
    Recorder,
    StepSnapshot,
    discard_snapshot,
    take_snapshot,
    with_gathered_part,
    with_parameters,
)

# Collectives inside of equal groups of ranks, and across them: sharded here, replicated there.
#
# Group i is the ranks from i times the width on. Every message is counted as one between the ranks
# of the whole world, so that what crosses the edge of a node can be told.

_Collective = Callable[[Exchange, list[Vector], str], list[Vector]]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of `width` neighboring ranks of a world, which divides its ranks.

    Attributes:
        world: counts what is sent.
        width: ranks of a group.
    """

    world: Exchange
    width: Count

    def all_gather(self, parts: Sequence[Vector], kind: str) -> list[Vector]:
        """Return the parts of every rank's own group end to end."""
        return self._run(self._inside(), Exchange.all_gather, parts, kind)

    def reduce_scatter(self, buffers: Sequence[Vector], kind: str) -> list[Vector]:
        """Return for every rank its part of the sum over its own group."""
        return self._run(self._inside(), Exchange.reduce_scatter, buffers, kind)

    def sum_across(self, buffers: Sequence[Vector], kind: str) -> list[Vector]:
        """Return for every rank the sum over those with the same place in their groups."""
        places = [list(range(place, self.world.ranks, self.width)) for place in range(self.width)]
        return self._run(places, Exchange.all_reduce, buffers, kind)

    def _inside(self) -> list[list[int]]:
        ranks = range(self.world.ranks)
        return [list(ranks[start : start + self.width]) for start in ranks[:: self.width]]

    def _run(
        self, groups: list[list[int]], run: _Collective, buffers: Sequence[Vector], kind: str
    ) -> list[Vector]:
        outputs: list[Vector] = [[] for _ in buffers]
        for members in groups:
            group_exchange = Exchange(len(members))
            results = run(group_exchange, [buffers[rank] for rank in members], kind)
            for rank, result in zip(members, results, strict=True):
                outputs[rank] = result
            for (source, target), numbers in group_exchange.pairs.items():
                self.world.count(members[source], members[target], numbers, kind)
        return outputs


def numbers_crossing(world: Exchange, gpus_per_node: Count, node: int = 0) -> Count:
    """Return the numbers sent by the ranks of a node to other nodes."""
    return sum(
        numbers
        for (source, target), numbers in world.pairs.items()
        if source // gpus_per_node == node != target // gpus_per_node
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """Sharding of states and parameters, and synchronization of replicas.

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
class _MicroBatchPass:
    """A rank's micro-batch on its way: the rows that went into each part, and their gradient."""

    tokens: Tokens
    rows: dict[str, Matrix]
    now: Matrix


@dataclass(slots=True, kw_only=True)
class _ShardedRanks:
    """State of all ranks during training.

    Attributes:
        kept: part -> whole parameters, by rank, of what is gathered now.
        second: part -> each rank's share of its node's second copy.
    """

    job: TinyJob
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


@SlicedFunction
def train(
    job: TinyJob, ranks: Count, sharding: Sharding, record: Recorder = discard_snapshot
) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks; losses are not summed here."""
    width = sharding.shard
    states = initial_states(
        job, [part_places(job.model, rank % width, width) for rank in range(ranks)]
    )
    for state in states:
        state.parameters = list(state.moments.copy)
    world = _ShardedRanks(
        job=job, sharding=sharding, states=states, exchange=Exchange(ranks), record=record
    )
    for step in range(1, job.steps + 1):
        yield step_progress(step - 1, job.steps)
        world.step = step
        _step(world)
    run = training_result(job, states, world.exchange, ())
    first = [state.parameters for state in states[:width]]
    return replace(run, parameters=gather_parts(job, Exchange(width), first, "result")[0])


def _step(world: _ShardedRanks) -> None:
    job, states, ranks = world.job, world.states, world.exchange.ranks
    for state in states:
        state.gradients = [0.0] * len(state.owned)
    world.micro = 0
    _record(world, "start")
    dealt = [micro_batches(job, rank_sequences(job, rank, ranks)) for rank in range(ranks)]
    for micro, together in enumerate(zip_longest(*dealt, fillvalue=()), start=1):
        world.micro = micro
        work = [
            _MicroBatchPass(tokens=token_rows(sequences, num_targets(job)), rows={}, now=[])
            for sequences in together
        ]
        _forward(world, work)
        _backward(world, work)
    world.micro = 0
    if world.replicated and world.sharding.sum_once:
        _set_gradients(
            world, world.group.sum_across([state.gradients for state in states], "gradients")
        )
        _record(world, "all_reduce")
    for state in states:
        state.parameters = adam.step(state.moments, state.gradients, job.learning_rate)
    world.second.clear()
    _record(world, "adam")


def _set_gradients(world: _ShardedRanks, gradients: list[Vector]) -> None:
    for state, total in zip(world.states, gradients, strict=True):
        state.gradients = total


def _gather_part(world: _ShardedRanks, part: str, *, again: bool) -> list[Weights]:
    """Return a part's weights on every rank: kept from the forward pass, or gathered."""
    if part not in world.kept:
        model, sharding = world.job.model, world.sharding
        size = len(part_range(model, part))
        if again and part in world.second:
            vectors = world.node.all_gather(world.second[part], "parameters")
        else:
            cut = own_slice(model, part, sharding.shard)
            vectors = world.group.all_gather(
                [state.parameters[cut] for state in world.states], "parameters"
            )
        world.kept[part] = [vector[:size] for vector in vectors]
        if sharding.second and not again:
            each = sharding.gpus_per_node
            world.second[part] = [
                part_of(whole, rank % each, each) for rank, whole in enumerate(world.kept[part])
            ]
        _record(world, "node_gather" if again and part in world.second else "gather", part)
    return [weights_of(world.job.model, part, vector) for vector in world.kept[part]]


def _record(
    world: _ShardedRanks, phase: str, part: str = "", gradients: Sequence[Vector] = ()
) -> None:
    """Record a snapshot, including gathered parts that are still in memory."""
    model = world.job.model
    now = take_snapshot(world.step, phase, world.states, world.exchange, size_of(model))
    now = replace(now, crossed=numbers_crossing(world.exchange, world.sharding.gpus_per_node))
    for name, shares in world.second.items():
        now = _with_second(world, now, name, shares)
    for name, whole in world.kept.items():
        now = with_gathered_part(now, phase, part, part_range(model, name), parameters=whole)
    if part:
        places = part_range(model, part)
        now = with_gathered_part(now, phase, part, places, micro=world.micro, gradients=gradients)
    world.record(now)


def _with_second(
    world: _ShardedRanks, now: StepSnapshot, part: str, shares: list[Vector]
) -> StepSnapshot:
    """Return the world with every rank's share of its node's second copy of a part."""
    places, each = part_range(world.job.model, part), world.sharding.gpus_per_node
    for rank, numbers in enumerate(shares):
        indices = [i for i in whole_places(len(places), rank % each, each) if i < len(places)]
        if indices:
            now = with_parameters(now, rank, places[indices[0] : indices[-1] + 1], numbers)
    return now


def _forward(world: _ShardedRanks, work: list[_MicroBatchPass]) -> None:
    for part in part_names(world.job.model):
        if part == OUTPUT:  # its forward pass runs straight into the backward pass
            for micro in work:
                micro.rows[part] = micro.now
            continue
        weights_by_rank = _gather_part(world, part, again=False)
        for micro, weights in zip(work, weights_by_rank, strict=True):
            micro.rows[part] = micro.now
            micro.now = forward(world.job.model, part, weights, micro.now, micro.tokens)
        if world.sharding.reshard:
            del world.kept[part]
        _record(world, "forward", part)


def _backward(world: _ShardedRanks, work: list[_MicroBatchPass]) -> None:
    model = world.job.model
    for part in reversed(part_names(model)):
        ready = []
        # The output is gathered for both of its passes at once, from all that share it.
        weights_by_rank = _gather_part(world, part, again=part != OUTPUT)
        for micro, weights in zip(work, weights_by_rank, strict=True):
            if not micro.tokens.inputs:
                ready.append([0.0] * len(part_range(model, part)))
                continue
            micro.now, gradient = backward(
                model, part, weights, micro.rows[part], micro.tokens, micro.now
            )
            ready.append(vector_of(model, part, gradient))
        _record(world, "backward", part, ready)
        del world.kept[part]
        _reduce(world, part, ready)


def _reduce(world: _ShardedRanks, part: str, ready: list[Vector]) -> None:
    """Add a part's gradients to the shares of their owners, in every copy."""
    cut = own_slice(world.job.model, part, world.sharding.shard)
    sums = world.group.reduce_scatter(ready, "gradients")
    if world.replicated and not world.sharding.sum_once:
        sums = world.group.sum_across(sums, "gradients")
    for state, total in zip(world.states, sums, strict=True):
        state.gradients[cut] = add_vectors(state.gradients[cut], total)
    _record(world, "reduce_scatter", part)
