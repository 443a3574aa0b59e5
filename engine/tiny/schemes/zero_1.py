"""ZeRO stage 1: each rank keeps optimizer states for its share only (Rajbhandari et al. 2020)."""

from collections.abc import Sequence
from math import fsum

from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.data import initial_states, local_gradient, training_result, whole_places
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob
from engine.tiny.layout import num_parameters as size_of
from engine.tiny.matrix import Vector
from engine.tiny.result import TrainingResult
from engine.tiny.trace import Recorder, discard_snapshot, take_snapshot

TITLE = "ZeRO-1"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@SlicedFunction
def train(
    job: TinyJob, ranks: Count, record: Recorder = discard_snapshot
) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks."""
    exchange, losses, size = Exchange(ranks), [], size_of(job.model)
    states = initial_states(job, [whole_places(size, rank, ranks) for rank in range(ranks)])
    for step in range(1, job.steps + 1):
        yield step_progress(step - 1, job.steps)
        record(take_snapshot(step, "start", states, exchange, size))
        local = [local_gradient(job, state.parameters, r, ranks) for r, state in enumerate(states)]
        for state, (_, gradient) in zip(states, local, strict=True):
            state.gradients = gradient
        losses.append(fsum(loss for loss, _ in local))
        record(take_snapshot(step, "backward", states, exchange, size))
        sums = exchange.reduce_scatter([state.gradients for state in states], "gradients")
        # The sums overwrite the own places of the buffer; the rest of it is of no more use.
        for state, total in zip(states, sums, strict=True):
            _write(state.gradients, state.owned, total)
        record(take_snapshot(step, "reduce_scatter", states, exchange, size))
        shares = [
            adam.step(state.moments, total, job.learning_rate)
            for state, total in zip(states, sums, strict=True)
        ]
        for state, share in zip(states, shares, strict=True):
            _write(state.parameters, state.owned, share)
        record(take_snapshot(step, "adam", states, exchange, size))
        gathered = exchange.all_gather(shares, "parameters")
        for state, vector in zip(states, gathered, strict=True):
            state.parameters = vector[:size]
        record(take_snapshot(step, "all_gather", states, exchange, size))
    return training_result(job, states, exchange, losses)


def _write(vector: Vector, indices: Sequence[int], numbers: Vector) -> None:
    """Put numbers at their places; padding has none."""
    for index, number in zip(indices, numbers, strict=True):
        if index < len(vector):
            vector[index] = number
