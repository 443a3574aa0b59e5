"""ZeRO stage 3: parameters too are kept for the own share only, and gathered part by part.

Each part is gathered for the forward pass, dropped, and gathered again for the backward pass, as
FSDP does with reshard_after_forward (Zhao et al. 2023).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from engine.basis.units import Count
from engine.tiny import adam
from engine.tiny.data import begin, gather_parts, outcome, own_slice, part_places
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, micro_batches, num_targets, share
from engine.tiny.layout import OUTPUT, Weights, part_names, part_range, vector_of, weights_of
from engine.tiny.layout import size as size_of
from engine.tiny.matrix import Matrix, Vector, add_vectors
from engine.tiny.parts import Tokens, backward, forward, tokens_of
from engine.tiny.result import Run
from engine.tiny.trace import RankState, Recorder, ignore, passing, snapshot

TITLE = "ZeRO-3"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@dataclass(slots=True, kw_only=True)
class _Work:
    """A rank's micro-batch on its way: the rows that went into each part, and their gradient."""

    tokens: Tokens
    rows: dict[str, Matrix]
    now: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """What is recorded and where, and whether parameters are freed after the forward pass."""

    job: Job
    states: list[RankState]
    exchange: Exchange
    record: Recorder
    step: int
    micro: int
    reshard: bool


def train(job: Job, ranks: Count, record: Recorder = ignore, *, reshard: bool = True) -> Run:
    """Return the run on `ranks` ranks; losses are not summed here.

    `reshard`: parameters are freed after the forward pass and gathered again for the backward
    pass; otherwise a micro-batch keeps what it gathered until its backward pass.
    """
    exchange, size = Exchange(ranks), size_of(job.model)
    states = begin(job, [part_places(job.model, rank, ranks) for rank in range(ranks)])
    for own in states:
        own.parameters = list(own.moments.copy)
    for step in range(1, job.steps + 1):
        for own in states:
            own.gradients = [0.0] * len(own.own)
        record(snapshot(step, "start", states, exchange, size))
        dealt = [micro_batches(job, share(job, rank, ranks)) for rank in range(ranks)]
        for micro, together in enumerate(zip_longest(*dealt, fillvalue=()), start=1):
            watch = _Watch(
                job=job,
                states=states,
                exchange=exchange,
                record=record,
                step=step,
                micro=micro,
                reshard=reshard,
            )
            work = [
                _Work(tokens=tokens_of(some, num_targets(job)), rows={}, now=[])
                for some in together
            ]
            kept: dict[str, list[Vector]] = {}
            _forward(job, states, exchange, (work, kept), watch)
            _backward(job, states, exchange, (work, kept), watch)
        for own in states:
            own.parameters = adam.step(own.moments, own.gradients, job.learning_rate)
        record(snapshot(step, "adam", states, exchange, size))
    run = outcome(job, states, exchange, ())
    whole = gather_parts(job, Exchange(ranks), [own.parameters for own in states], "result")
    return replace(run, parameters=whole[0])


_Passing = tuple[list[_Work], dict[str, list[Vector]]]


def _gathered(
    job: Job,
    states: list[RankState],
    exchange: Exchange,
    kept: dict[str, list[Vector]],
    part: str,
    watch: _Watch,
) -> list[Weights]:
    """Return a part's weights on every rank: kept from the forward pass, or gathered."""
    if part not in kept:
        cut, size = own_slice(job.model, part, len(states)), len(part_range(job.model, part))
        found = exchange.all_gather([own.parameters[cut] for own in states], "parameters")
        kept[part] = [vector[:size] for vector in found]
        _see(kept, watch, "gather", part)
    return [weights_of(job.model, part, vector) for vector in kept[part]]


def _see(
    kept: dict[str, list[Vector]],
    watch: _Watch,
    phase: str,
    part: str,
    gradients: Sequence[Vector] = (),
) -> None:
    """Record the world with all that was gathered and is still there."""
    model = watch.job.model
    now = snapshot(watch.step, phase, watch.states, watch.exchange, size_of(model))
    for name, whole in kept.items():
        now = passing(now, phase, part, part_range(model, name), parameters=whole)
    places = part_range(model, part)
    watch.record(passing(now, phase, part, places, micro=watch.micro, gradients=gradients))


def _forward(
    job: Job, states: list[RankState], exchange: Exchange, passes: _Passing, watch: _Watch
) -> None:
    work, kept = passes
    for part in part_names(job.model):
        if part == OUTPUT:  # its forward pass runs straight into the backward pass
            for one in work:
                one.rows[part] = one.now
            continue
        found = _gathered(job, states, exchange, kept, part, watch)
        for one, weights in zip(work, found, strict=True):
            one.rows[part] = one.now
            one.now = forward(job.model, part, weights, one.now, one.tokens)
        if watch.reshard:
            del kept[part]
        _see(kept, watch, "forward", part)


def _backward(
    job: Job, states: list[RankState], exchange: Exchange, passes: _Passing, watch: _Watch
) -> None:
    work, kept = passes
    for part in reversed(part_names(job.model)):
        size = len(part_range(job.model, part))
        ready = []
        found = _gathered(job, states, exchange, kept, part, watch)
        for one, weights in zip(work, found, strict=True):
            if not one.tokens.inputs:
                ready.append([0.0] * size)
                continue
            one.now, gradient = backward(
                job.model, part, weights, one.rows[part], one.tokens, one.now
            )
            ready.append(vector_of(job.model, part, gradient))
        _see(kept, watch, "backward", part, ready)
        del kept[part]
        cut = own_slice(job.model, part, len(states))
        sums = exchange.reduce_scatter(ready, "gradients")
        for own, total in zip(states, sums, strict=True):
            own.gradients[cut] = add_vectors(own.gradients[cut], total)
        _see(kept, watch, "reduce_scatter", part)
