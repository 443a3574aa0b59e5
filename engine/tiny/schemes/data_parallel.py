"""Data parallelism: every rank holds everything; gradients are all-reduced (Li et al. 2020)."""

from math import fsum

from engine.core.slices import Sliced, Slices, steps_done
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.data import begin, local_gradient, outcome
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job
from engine.tiny.result import Run
from engine.tiny.trace import Recorder, ignore, snapshot

TITLE = "Data parallel"
AXIS = "data"
RANKS: tuple[Count, ...] = (1, 2, 3, 4, 8)


@Sliced
def train(job: Job, ranks: Count, record: Recorder = ignore) -> Slices[Run]:
    """Return the run on `ranks` ranks."""
    exchange, losses = Exchange(ranks), []
    size = len(begin(job, [()])[0].parameters)
    states = begin(job, [range(size)] * ranks)
    for step in range(1, job.steps + 1):
        yield steps_done(step - 1, job.steps)
        record(snapshot(step, "start", states, exchange, size))
        found = [local_gradient(job, own.parameters, r, ranks) for r, own in enumerate(states)]
        for own, (_, gradient) in zip(states, found, strict=True):
            own.gradients = gradient
        losses.append(fsum(loss for loss, _ in found))
        record(snapshot(step, "backward", states, exchange, size))
        sums = exchange.all_reduce([own.gradients for own in states], "gradients")
        for own, total in zip(states, sums, strict=True):
            own.gradients = total
        record(snapshot(step, "all_reduce", states, exchange, size))
        for own in states:
            own.parameters = adam.step(own.moments, own.gradients, job.learning_rate)
        record(snapshot(step, "adam", states, exchange, size))
    return outcome(job, states, exchange, losses)
