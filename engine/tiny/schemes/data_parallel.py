"""Data parallelism: every rank holds everything; gradients are all-reduced (Li et al. 2020)."""

from math import fsum

from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.data import initial_states, local_gradient, training_result
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob
from engine.tiny.result import TrainingResult
from engine.tiny.trace import Recorder, discard_snapshot, take_snapshot

TITLE = "Data parallel"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@SlicedFunction
def train(
    job: TinyJob, ranks: Count, record: Recorder = discard_snapshot
) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks."""
    exchange, losses = Exchange(ranks), []
    size = len(initial_states(job, [()])[0].parameters)
    states = initial_states(job, [range(size)] * ranks)
    for step in range(1, job.steps + 1):
        yield step_progress(step - 1, job.steps)
        record(take_snapshot(step, "start", states, exchange, size))
        local = [local_gradient(job, state.parameters, r, ranks) for r, state in enumerate(states)]
        for state, (_, gradient) in zip(states, local, strict=True):
            state.gradients = gradient
        losses.append(fsum(loss for loss, _ in local))
        record(take_snapshot(step, "backward", states, exchange, size))
        sums = exchange.all_reduce([state.gradients for state in states], "gradients")
        for state, total in zip(states, sums, strict=True):
            state.gradients = total
        record(take_snapshot(step, "all_reduce", states, exchange, size))
        for state in states:
            state.parameters = adam.step(state.moments, state.gradients, job.learning_rate)
        record(take_snapshot(step, "adam", states, exchange, size))
    return training_result(job, states, exchange, losses)
