"""ZeRO stage 2: gradients too are kept for the own share only, part by part as they are ready."""

from dataclasses import replace
from itertools import zip_longest

from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.data import (
    gather_parts,
    gradients_by_part,
    initial_states,
    own_slice,
    part_places,
    training_result,
)
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, micro_batches, rank_sequences
from engine.tiny.layout import num_parameters as size_of
from engine.tiny.layout import part_range
from engine.tiny.matrix import add_vectors
from engine.tiny.result import TrainingResult
from engine.tiny.trace import (
    RankState,
    Recorder,
    discard_snapshot,
    take_snapshot,
    with_gathered_part,
)

TITLE = "ZeRO-2"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@SlicedFunction
def train(
    job: TinyJob, ranks: Count, record: Recorder = discard_snapshot
) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks; losses are not summed here."""
    exchange, size = Exchange(ranks), size_of(job.model)
    states = initial_states(job, [part_places(job.model, rank, ranks) for rank in range(ranks)])
    for step in range(1, job.steps + 1):
        yield step_progress(step - 1, job.steps)
        for state in states:
            state.gradients = [0.0] * len(state.owned)
        record(take_snapshot(step, "start", states, exchange, size))
        _backward(job, states, exchange, step, record)
        shares = [adam.step(state.moments, state.gradients, job.learning_rate) for state in states]
        record(take_snapshot(step, "adam", states, exchange, size))
        gathered = gather_parts(job, exchange, shares, "parameters")
        for state, vector in zip(states, gathered, strict=True):
            state.parameters = vector
        record(take_snapshot(step, "all_gather", states, exchange, size))
    return training_result(job, states, exchange, ())


def _backward(
    job: TinyJob, states: list[RankState], exchange: Exchange, step: int, record: Recorder
) -> None:
    """Add every micro-batch's gradients to the shares: one reduce-scatter per part and each."""
    dealt = [
        micro_batches(job, rank_sequences(job, rank, len(states))) for rank in range(len(states))
    ]
    for micro, together in enumerate(zip_longest(*dealt, fillvalue=()), start=1):
        passes = [
            gradients_by_part(job, state.parameters, sequences)
            for state, sequences in zip(states, together, strict=True)
        ]
        for ready in zip(*passes, strict=True):
            part, gradients = ready[0][0], [vector for _, vector in ready]
            part_indices = part_range(job.model, part)
            now = take_snapshot(step, "backward", states, exchange, size_of(job.model))
            record(
                with_gathered_part(
                    now, "backward", part, part_indices, micro=micro, gradients=gradients
                )
            )
            cut = own_slice(job.model, part, len(states))
            sums = exchange.reduce_scatter(gradients, "gradients")
            for state, total in zip(states, sums, strict=True):
                state.gradients[cut] = add_vectors(state.gradients[cut], total)
            now = take_snapshot(step, "reduce_scatter", states, exchange, size_of(job.model))
            record(replace(now, part=part, micro=micro))
