"""Training on four ranks that send less than their gradients, with and without error feedback."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import TINY_260
from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import Count, Share
from engine.tiny import compression
from engine.tiny.compression import CompressedSum, LowRank, sum_largest, sum_signs
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets, rank_sequences
from engine.tiny.matrix import Vector, add_vectors
from engine.tiny.single import loss_and_gradient, loss_of

RANKS: Count = 4
STEPS: Count = 48
RATE: float = 0.2
# One sequence of three predicted tokens for each rank.
JOB = TinyJob(batch=example_batch(RANKS, 3), steps=STEPS, learning_rate=RATE)

Compressor = Callable[[Exchange, Sequence[Vector]], CompressedSum]
# A sum that is off by less is off by rounding alone, which another machine does otherwise.
_ROUNDING: Share = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedStep:
    """One compressed step of the first rank.

    Attributes:
        wanted: its gradient, and what it still owes, if it keeps that.
        sent: what of it went into the sum.
        left: the rest.
    """

    wanted: tuple[float, ...]
    sent: tuple[float, ...]
    left: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedTraining:
    """A training with one compressor.

    Attributes:
        losses: before every step, and after the last.
        sent: numbers that the busiest rank sends in a step.
        moments: of the first rank, step by step.
        off: by step, how far the applied sum is from that of the same gradients, over its length.
    """

    losses: tuple[float, ...]
    sent: Count
    moments: tuple[CompressedStep, ...]
    off: tuple[Share, ...]

    @property
    def last(self) -> float:
        """The loss after the last step."""
        return self.losses[-1]


def train(
    method: str, keep: Share = 1.0, rank: Count = 1, *, feedback: bool = True
) -> CompressedTraining:
    """Return the training at once; see `start_training`."""
    return run_to_end(start_training(method, keep, rank, feedback=feedback).rest())


@lru_cache(maxsize=64)
def start_training(
    method: str, keep: Share = 1.0, rank: Count = 1, *, feedback: bool = True
) -> SlicedRun[CompressedTraining]:
    """Return the training as cooperative steps of plain gradient descent.

    Args:
        method: "whole", "largest", "signs" or "low_rank".
        keep: share of the numbers that "largest" sends.
        rank: columns of the factors that "low_rank" sends.
        feedback: whether a rank adds to its next gradient what it has not sent (Seide et al. 2014).
    """
    return SlicedRun(_steps(_compressor(method, keep, rank), feedback=feedback))


def _steps(compress: Compressor, *, feedback: bool) -> Slices[CompressedTraining]:
    exchange = Exchange(RANKS)
    parameters = initial_parameters(TINY_260)
    owed = [[0.0] * len(parameters) for _ in range(RANKS)]
    losses, moments, off = [], [], []
    for step in range(STEPS):
        yield step_progress(step, STEPS)
        loss, gradients = _gradients(parameters)
        losses.append(loss)
        wanted = [add_vectors(*pair) for pair in zip(gradients, owed, strict=True)]
        summed = compress(exchange, wanted)
        rest = [
            [value - sent for value, sent in zip(*pair, strict=True)]
            for pair in zip(wanted, summed.own, strict=True)
        ]
        off.append(_relative_error(summed.total, gradients))
        moments.append(
            CompressedStep(wanted=tuple(wanted[0]), sent=tuple(summed.own[0]), left=tuple(rest[0]))
        )
        if feedback:
            owed = rest
        parameters = [p - RATE * g for p, g in zip(parameters, summed.total, strict=True)]
    count = num_targets(JOB)
    last = [
        loss_of(TINY_260, parameters, rank_sequences(JOB, rank, RANKS), count)
        for rank in range(RANKS)
    ]
    losses.append(math.fsum(last))
    return CompressedTraining(
        losses=tuple(losses),
        sent=max(exchange.sent["gradients"]) // STEPS,
        moments=tuple(moments),
        off=tuple(off),
    )


def _compressor(method: str, keep: Share, rank: Count) -> Compressor:
    if method == "largest":
        return lambda exchange, vectors: sum_largest(exchange, vectors, keep)
    if method == "low_rank":
        return LowRank(rank)
    return {"whole": compression.sum_whole, "signs": sum_signs}[method]


def _gradients(parameters: Vector) -> tuple[float, list[Vector]]:
    """Return the loss of the step, and each rank's part of its gradient."""
    count = num_targets(JOB)
    results = [
        loss_and_gradient(TINY_260, parameters, rank_sequences(JOB, rank, RANKS), count)
        for rank in range(RANKS)
    ]
    return math.fsum(loss for loss, _ in results), [gradient for _, gradient in results]


def _relative_error(total: Vector, gradients: Sequence[Vector]) -> Share:
    right = [math.fsum(numbers) for numbers in zip(*gradients, strict=True)]
    apart = [value - expected for value, expected in zip(total, right, strict=True)]
    off = math.hypot(*apart) / math.hypot(*right)
    return off if off > _ROUNDING else 0.0
