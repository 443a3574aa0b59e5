"""Local SGD on four ranks with periodic synchronization."""

from dataclasses import dataclass
from functools import lru_cache
from math import fsum

from engine.catalog.models import TINY_260
from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.compressed import JOB, RANKS, STEPS
from engine.tiny.exchange import Exchange
from engine.tiny.job import initial_parameters, num_targets, rank_sequences
from engine.tiny.matrix import Vector
from engine.tiny.single import loss_and_gradient, loss_of

# Of the inner Adam; of the outer steps those of Douillard et al. 2023.
INNER_RATE = 0.02
OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9
# The loss of all sequences takes a sixth of the time of a step.
SEEN: Count = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStepsTraining:
    """A training with infrequent synchronization.

    Attributes:
        losses: of the whole batch, after every `SEEN` steps from the start on, for the mean of
            all ranks' parameters.
        apart: by step, the largest distance of a parameter between two ranks before they meet.
        meetings: after how many steps each was.
        sent: numbers that the busiest rank sends in all.
    """

    losses: tuple[float, ...]
    apart: tuple[float, ...]
    meetings: tuple[Count, ...]
    sent: Count

    @property
    def last(self) -> float:
        """The loss after the last step."""
        return self.losses[-1]


def train(inner_steps: Count, outer: str) -> LocalStepsTraining:
    """Return the training at once; see `start_training`."""
    return run_to_end(start_training(inner_steps, outer).rest())


@lru_cache(maxsize=32)
def start_training(inner_steps: Count, outer: str) -> SlicedRun[LocalStepsTraining]:
    """Return the training as cooperative steps; the last step always synchronizes.

    Args:
        inner_steps: of each rank between two meetings.
        outer: "mean" takes the mean of all parameters (Stich 2019); "nesterov" takes how far the
            mean has come for a gradient and steps with momentum (Douillard et al. 2023).
    """
    return SlicedRun(training_steps(inner_steps, outer))


def training_steps(inner_steps: Count, outer: str) -> Slices[LocalStepsTraining]:
    """Yield the training steps cooperatively."""
    exchange, shared = Exchange(RANKS), initial_parameters(TINY_260)
    momentum = [0.0] * len(shared)
    moments = [adam.initial_moments(shared) for _ in range(RANKS)]
    losses, apart, meetings = [_loss(shared)], [], []
    for step in range(1, STEPS + 1):
        yield step_progress(step - 1, STEPS)
        for rank, rank_moments in enumerate(moments):
            adam.step(rank_moments, _gradient(rank, rank_moments.copy), INNER_RATE)
        copies = [rank_moments.copy for rank_moments in moments]
        apart.append(max(max(values) - min(values) for values in zip(*copies, strict=True)))
        now = [fsum(values) / RANKS for values in zip(*copies, strict=True)]
        if step % inner_steps == 0 or step == STEPS:
            sums = exchange.all_reduce(copies, "parameters")[0]
            shared, momentum = _outer(shared, [values / RANKS for values in sums], momentum, outer)
            for rank_moments in moments:
                rank_moments.copy = list(shared)
            meetings.append(step)
            now = shared
        if step % SEEN == 0:
            losses.append(_loss(now))
    return LocalStepsTraining(
        losses=tuple(losses),
        apart=tuple(apart),
        meetings=tuple(meetings),
        sent=max(exchange.sent["parameters"]),
    )


def _outer(shared: Vector, mean: Vector, momentum: Vector, outer: str) -> tuple[Vector, Vector]:
    """Return the shared parameters after a meeting, and the momentum."""
    if outer == "mean":
        return mean, momentum
    moved = [before - now for before, now in zip(shared, mean, strict=True)]
    momentum = [
        OUTER_MOMENTUM * velocity + step for velocity, step in zip(momentum, moved, strict=True)
    ]
    return [
        before - OUTER_RATE * (OUTER_MOMENTUM * velocity + step)
        for before, velocity, step in zip(shared, momentum, moved, strict=True)
    ], momentum


def _gradient(rank: int, parameters: Vector) -> Vector:
    """Return the gradient of the mean loss of a rank's own sequences."""
    sequences_of_rank = rank_sequences(JOB, rank, RANKS)
    return loss_and_gradient(
        TINY_260,
        parameters,
        sequences_of_rank,
        sum(len(sequence) - 1 for sequence in sequences_of_rank),
    )[1]


def _loss(parameters: Vector) -> float:
    return loss_of(TINY_260, parameters, JOB.batch, num_targets(JOB))
