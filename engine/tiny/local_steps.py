"""Training on four ranks that take steps of their own and meet only now and then."""

from dataclasses import dataclass
from functools import lru_cache
from math import fsum

from engine.catalog.models import TINY_260
from engine.core.slices import Running, Slices, steps_done, whole
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.compressed import JOB, RANKS, STEPS
from engine.tiny.exchange import Exchange
from engine.tiny.job import initial, num_targets, share
from engine.tiny.matrix import Vector
from engine.tiny.single import gradient_of, loss_of

# Of the inner Adam; of the outer steps those of Douillard et al. 2023.
INNER_RATE = 0.02
OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9
# The loss of all sequences takes a sixth of the time of a step.
SEEN: Count = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """A training with few meetings.

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


def train(inner_steps: Count, outer: str) -> Local:
    """Return the training at once; see `training`."""
    return whole(training(inner_steps, outer).rest())


@lru_cache(maxsize=32)
def training(inner_steps: Count, outer: str) -> Running[Local]:
    """Return the training, step by step; the last step is a meeting in any case.

    Args:
        inner_steps: of each rank between two meetings.
        outer: "mean" takes the mean of all parameters (Stich 2019); "nesterov" takes how far the
            mean has come for a gradient and steps with momentum (Douillard et al. 2023).
    """
    return Running(steps(inner_steps, outer))


def steps(inner_steps: Count, outer: str) -> Slices[Local]:
    """Train in slices."""
    exchange, shared = Exchange(RANKS), initial(TINY_260)
    momentum = [0.0] * len(shared)
    moments = [adam.start(shared) for _ in range(RANKS)]
    losses, apart, meetings = [_loss(shared)], [], []
    for step in range(1, STEPS + 1):
        yield steps_done(step - 1, STEPS)
        for rank, own in enumerate(moments):
            adam.step(own, _gradient(rank, own.copy), INNER_RATE)
        copies = [own.copy for own in moments]
        apart.append(max(max(some) - min(some) for some in zip(*copies, strict=True)))
        now = [fsum(some) / RANKS for some in zip(*copies, strict=True)]
        if step % inner_steps == 0 or step == STEPS:
            sums = exchange.all_reduce(copies, "parameters")[0]
            shared, momentum = _outer(shared, [some / RANKS for some in sums], momentum, outer)
            for own in moments:
                own.copy = list(shared)
            meetings.append(step)
            now = shared
        if step % SEEN == 0:
            losses.append(_loss(now))
    return Local(
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
    momentum = [OUTER_MOMENTUM * one + two for one, two in zip(momentum, moved, strict=True)]
    return [
        before - OUTER_RATE * (OUTER_MOMENTUM * one + two)
        for before, one, two in zip(shared, momentum, moved, strict=True)
    ], momentum


def _gradient(rank: int, parameters: Vector) -> Vector:
    """Return the gradient of the mean loss of a rank's own sequences."""
    own = share(JOB, rank, RANKS)
    return gradient_of(TINY_260, parameters, own, sum(len(one) - 1 for one in own))[1]


def _loss(parameters: Vector) -> float:
    return loss_of(TINY_260, parameters, JOB.batch, num_targets(JOB))
