"""ZeRO stage 2: gradients too are kept for the own share only, part by part as they are ready."""

from dataclasses import replace
from itertools import zip_longest

from engine.core.slices import Sliced, Slices, steps_done
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.data import (
    begin,
    gather_parts,
    gradients_by_part,
    outcome,
    own_slice,
    part_places,
)
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, micro_batches, share
from engine.tiny.layout import part_range
from engine.tiny.layout import size as size_of
from engine.tiny.matrix import add_vectors
from engine.tiny.result import Run
from engine.tiny.trace import RankState, Recorder, ignore, passing, snapshot

TITLE = "ZeRO-2"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@Sliced
def train(job: Job, ranks: Count, record: Recorder = ignore) -> Slices[Run]:
    """Return the run on `ranks` ranks; losses are not summed here."""
    exchange, size = Exchange(ranks), size_of(job.model)
    states = begin(job, [part_places(job.model, rank, ranks) for rank in range(ranks)])
    for step in range(1, job.steps + 1):
        yield steps_done(step - 1, job.steps)
        for own in states:
            own.gradients = [0.0] * len(own.own)
        record(snapshot(step, "start", states, exchange, size))
        _backward(job, states, exchange, step, record)
        shares = [adam.step(own.moments, own.gradients, job.learning_rate) for own in states]
        record(snapshot(step, "adam", states, exchange, size))
        gathered = gather_parts(job, exchange, shares, "parameters")
        for own, vector in zip(states, gathered, strict=True):
            own.parameters = vector
        record(snapshot(step, "all_gather", states, exchange, size))
    return outcome(job, states, exchange, ())


def _backward(
    job: Job, states: list[RankState], exchange: Exchange, step: int, record: Recorder
) -> None:
    """Add every micro-batch's gradients to the shares: one reduce-scatter per part and each."""
    dealt = [micro_batches(job, share(job, rank, len(states))) for rank in range(len(states))]
    for micro, together in enumerate(zip_longest(*dealt, fillvalue=()), start=1):
        passes = [
            gradients_by_part(job, own.parameters, some)
            for own, some in zip(states, together, strict=True)
        ]
        for ready in zip(*passes, strict=True):
            part, found = ready[0][0], [vector for _, vector in ready]
            places = part_range(job.model, part)
            now = snapshot(step, "backward", states, exchange, size_of(job.model))
            record(passing(now, "backward", part, places, micro=micro, gradients=found))
            cut = own_slice(job.model, part, len(states))
            sums = exchange.reduce_scatter(found, "gradients")
            for own, total in zip(states, sums, strict=True):
                own.gradients[cut] = add_vectors(own.gradients[cut], total)
            now = snapshot(step, "reduce_scatter", states, exchange, size_of(job.model))
            record(replace(now, part=part, micro=micro))
