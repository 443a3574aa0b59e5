"""ZeRO stage 3: parameters too are kept for the own share only, and gathered part by part.

Each part is gathered for the forward pass, dropped, and gathered again for the backward pass, as
FSDP does with reshard_after_forward (Zhao et al. 2023).
"""

from dataclasses import dataclass, replace
from itertools import zip_longest

from engine.basis.units import Count
from engine.tiny import adam
from engine.tiny.data import begin, gather_parts, outcome, own_slice, part_places
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, micro_batches, num_targets, share
from engine.tiny.layout import OUTPUT, Weights, part_names, part_range, vector_of, weights_of
from engine.tiny.layout import size as size_of
from engine.tiny.matrix import Matrix, add_vectors
from engine.tiny.parts import Tokens, backward, forward, tokens_of
from engine.tiny.result import Run
from engine.tiny.trace import RankState, Recorder, ignore, snapshot

TITLE = "ZeRO-3"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@dataclass(slots=True, kw_only=True)
class _Work:
    """A rank's micro-batch on its way: the rows that went into each part, and their gradient."""

    tokens: Tokens
    rows: dict[str, Matrix]
    now: Matrix


def train(job: Job, ranks: Count, record: Recorder = ignore) -> Run:
    """Return the run on `ranks` ranks; losses are not summed here."""
    exchange, size = Exchange(ranks), size_of(job.model)
    states = begin(job, [part_places(job.model, rank, ranks) for rank in range(ranks)])
    for own in states:
        own.parameters = list(own.moments.copy)
    for step in range(1, job.steps + 1):
        for own in states:
            own.gradients = [0.0] * len(own.own)
        record(snapshot(step, "start", states, exchange, size))
        dealt = [micro_batches(job, share(job, rank, ranks)) for rank in range(ranks)]
        for together in zip_longest(*dealt, fillvalue=()):
            work = [
                _Work(tokens=tokens_of(some, num_targets(job)), rows={}, now=[])
                for some in together
            ]
            _forward(job, states, exchange, work)
            _backward(job, states, exchange, work)
        record(snapshot(step, "reduce_scatter", states, exchange, size))
        for own in states:
            own.parameters = adam.step(own.moments, own.gradients, job.learning_rate)
        record(snapshot(step, "adam", states, exchange, size))
    run = outcome(job, states, exchange, ())
    whole = gather_parts(job, Exchange(ranks), [own.parameters for own in states], "result")
    return replace(run, parameters=whole[0])


def _gathered(job: Job, states: list[RankState], exchange: Exchange, part: str) -> list[Weights]:
    cut, size = own_slice(job.model, part, len(states)), len(part_range(job.model, part))
    found = exchange.all_gather([own.parameters[cut] for own in states], "parameters")
    return [weights_of(job.model, part, vector[:size]) for vector in found]


def _forward(job: Job, states: list[RankState], exchange: Exchange, work: list[_Work]) -> None:
    for part in part_names(job.model):
        if part == OUTPUT:  # its forward pass runs straight into the backward pass
            for one in work:
                one.rows[part] = one.now
            continue
        for one, weights in zip(work, _gathered(job, states, exchange, part), strict=True):
            one.rows[part] = one.now
            one.now = forward(job.model, part, weights, one.now, one.tokens)


def _backward(job: Job, states: list[RankState], exchange: Exchange, work: list[_Work]) -> None:
    for part in reversed(part_names(job.model)):
        size = len(part_range(job.model, part))
        ready = []
        for one, weights in zip(work, _gathered(job, states, exchange, part), strict=True):
            if not one.tokens.inputs:
                ready.append([0.0] * size)
                continue
            one.now, found = backward(job.model, part, weights, one.rows[part], one.tokens, one.now)
            ready.append(vector_of(job.model, part, found))
        cut = own_slice(job.model, part, len(states))
        sums = exchange.reduce_scatter(ready, "gradients")
        for own, total in zip(states, sums, strict=True):
            own.gradients[cut] = add_vectors(own.gradients[cut], total)
