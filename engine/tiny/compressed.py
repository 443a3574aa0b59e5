"""Training on four ranks that send less than their gradients, with and without error feedback."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import TINY_260
from engine.core.slices import Running, Slices, steps_done, whole
from engine.core.units import Count, Share
from engine.tiny import compression
from engine.tiny.compression import LowRank, Summed, largest, signs
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, example_batch, initial, num_targets, share
from engine.tiny.matrix import Vector, add_vectors
from engine.tiny.single import gradient_of, loss_of

RANKS: Count = 4
STEPS: Count = 48
RATE: float = 0.2
# One sequence of three predicted tokens for each rank.
JOB = Job(batch=example_batch(RANKS, 3), steps=STEPS, learning_rate=RATE)

Compressor = Callable[[Exchange, Sequence[Vector]], Summed]
# A sum that is off by less is off by rounding alone, which another machine does otherwise.
_ROUNDING: Share = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One step as the first rank sees it.

    Attributes:
        wanted: its gradient, and what it still owes, if it keeps that.
        sent: what of it went into the sum.
        left: the rest.
    """

    wanted: tuple[float, ...]
    sent: tuple[float, ...]
    left: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A training with one compressor.

    Attributes:
        losses: before every step, and after the last.
        sent: numbers that the busiest rank sends in a step.
        moments: of the first rank, step by step.
        off: by step, how far the applied sum is from that of the same gradients, over its length.
    """

    losses: tuple[float, ...]
    sent: Count
    moments: tuple[Moment, ...]
    off: tuple[Share, ...]

    @property
    def last(self) -> float:
        """The loss after the last step."""
        return self.losses[-1]


def train(method: str, keep: Share = 1.0, rank: Count = 1, *, feedback: bool = True) -> Compressed:
    """Return the training at once; see `training`."""
    return whole(training(method, keep, rank, feedback=feedback).rest())


@lru_cache(maxsize=64)
def training(
    method: str, keep: Share = 1.0, rank: Count = 1, *, feedback: bool = True
) -> Running[Compressed]:
    """Return the training, step by step, by plain gradient descent: nothing else repairs a step.

    Args:
        method: "whole", "largest", "signs" or "low_rank".
        keep: share of the numbers that "largest" sends.
        rank: columns of the factors that "low_rank" sends.
        feedback: whether a rank adds to its next gradient what it has not sent (Seide et al. 2014).
    """
    return Running(_steps(_compressor(method, keep, rank), feedback=feedback))


def _steps(compress: Compressor, *, feedback: bool) -> Slices[Compressed]:
    exchange = Exchange(RANKS)
    parameters = initial(TINY_260)
    owed = [[0.0] * len(parameters) for _ in range(RANKS)]
    losses, moments, off = [], [], []
    for step in range(STEPS):
        yield steps_done(step, STEPS)
        loss, gradients = _gradients(parameters)
        losses.append(loss)
        wanted = [add_vectors(*pair) for pair in zip(gradients, owed, strict=True)]
        summed = compress(exchange, wanted)
        rest = [
            [one - two for one, two in zip(*pair, strict=True)]
            for pair in zip(wanted, summed.own, strict=True)
        ]
        off.append(_off(summed.total, gradients))
        moments.append(
            Moment(wanted=tuple(wanted[0]), sent=tuple(summed.own[0]), left=tuple(rest[0]))
        )
        if feedback:
            owed = rest
        parameters = [p - RATE * g for p, g in zip(parameters, summed.total, strict=True)]
    count = num_targets(JOB)
    last = [loss_of(TINY_260, parameters, share(JOB, rank, RANKS), count) for rank in range(RANKS)]
    losses.append(math.fsum(last))
    return Compressed(
        losses=tuple(losses),
        sent=max(exchange.sent["gradients"]) // STEPS,
        moments=tuple(moments),
        off=tuple(off),
    )


def _compressor(method: str, keep: Share, rank: Count) -> Compressor:
    if method == "largest":
        return lambda exchange, vectors: largest(exchange, vectors, keep)
    if method == "low_rank":
        return LowRank(rank)
    return {"whole": compression.whole, "signs": signs}[method]


def _gradients(parameters: Vector) -> tuple[float, list[Vector]]:
    """Return the loss of the step, and each rank's part of its gradient."""
    count = num_targets(JOB)
    found = [
        gradient_of(TINY_260, parameters, share(JOB, rank, RANKS), count) for rank in range(RANKS)
    ]
    return math.fsum(loss for loss, _ in found), [gradient for _, gradient in found]


def _off(total: Vector, gradients: Sequence[Vector]) -> Share:
    right = [math.fsum(numbers) for numbers in zip(*gradients, strict=True)]
    apart = [one - two for one, two in zip(total, right, strict=True)]
    off = math.hypot(*apart) / math.hypot(*right)
    return off if off > _ROUNDING else 0.0
