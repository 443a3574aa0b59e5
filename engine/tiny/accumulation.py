"""Gradient accumulation on the tiny model: a step in micro-batches beside a step in one batch."""

import math
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import TINY_260
from engine.core.units import Count, Share
from engine.tiny import adam
from engine.tiny.job import TokenSequence, initial_parameters
from engine.tiny.layout import unflatten
from engine.tiny.matrix import Vector, add_vectors
from engine.tiny.parts import token_rows
from engine.tiny.single import forward_all, loss_and_gradient

# Predicted tokens of the eight sequences of a step: all alike, or as texts are.
LENGTHS = {"even": (3,) * 8, "uneven": (9, 6, 1, 1, 2, 1, 3, 1)}
RATE = 0.01


def step_sequences(lengths: str) -> tuple[TokenSequence, ...]:
    """Return the sequences of a step: counting from different starts in steps of 1, 2 or 3."""
    return tuple(
        tuple((i + (1 + i % 3) * step) % 8 for step in range(length + 1))
        for i, length in enumerate(LENGTHS[lengths])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatch:
    """One micro-batch of the step.

    Attributes:
        tokens: that it predicts.
        loss: the mean over them.
        weight: of each of its tokens in the gradient of the step.
        gradient: its part of the gradient.
        total: the sum so far.
        activations: numbers that its forward pass keeps: the inputs of all parts.
    """

    tokens: Count
    loss: float
    weight: Share
    gradient: Vector
    total: Vector
    activations: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatedStep:
    """A step accumulated over micro-batches, and the same step in one batch.

    Attributes:
        parts: the micro-batches, in order.
        whole: the gradient of the one batch.
        loss: that the micro-batches report for the step.
        whole_loss: of the one batch.
        parameters: after the step of Adam.
        activations: numbers that the one batch keeps.
    """

    parts: tuple[MicroBatch, ...]
    whole: Vector
    loss: float
    whole_loss: float
    parameters: Vector
    activations: Count

    @property
    def gradient(self) -> Vector:
        """The accumulated one."""
        return self.parts[-1].total

    @property
    def off(self) -> Share:
        """The length of the gradients' difference over the length of the right one."""
        apart = [
            value - expected for value, expected in zip(self.gradient, self.whole, strict=True)
        ]
        return math.hypot(*apart) / math.hypot(*self.whole)


@lru_cache(maxsize=32)
def accumulate(num_microbatches: Count, lengths: str, weighting: str) -> AccumulatedStep:
    """Return a step in micro-batches of eight sequences, taken in their order.

    Args:
        num_microbatches: a divisor of 8.
        lengths: "even" or "uneven".
        weighting: "tokens" divides every loss by the tokens of the whole step; "means" takes the
            mean of each micro-batch and then the mean of these.
    """
    sequences = step_sequences(lengths)
    vector = initial_parameters(TINY_260)
    each = len(sequences) // num_microbatches
    count = sum(LENGTHS[lengths])
    whole_loss, whole = loss_and_gradient(TINY_260, vector, sequences, count)
    total: Vector = [0.0] * len(vector)
    parts, reported = [], 0.0
    for start in range(0, len(sequences), each):
        micro_batch = sequences[start : start + each]
        targets = sum(len(sequence) - 1 for sequence in micro_batch)
        divisor = count if weighting == "tokens" else targets * num_microbatches
        loss, gradient = loss_and_gradient(TINY_260, vector, micro_batch, divisor)
        total = add_vectors(total, gradient)
        reported += loss
        parts.append(
            MicroBatch(
                tokens=targets,
                loss=loss * divisor / targets,
                weight=1 / divisor,
                gradient=gradient,
                total=total,
                activations=_count_activations(micro_batch),
            )
        )
    return AccumulatedStep(
        parts=tuple(parts),
        whole=whole,
        loss=reported,
        whole_loss=whole_loss,
        parameters=adam.step(adam.initial_moments(vector), total, RATE),
        activations=_count_activations(sequences),
    )


def _count_activations(sequences: tuple[TokenSequence, ...]) -> Count:
    """Return the number of activations: the inputs of all parts."""
    parameters = unflatten(TINY_260, initial_parameters(TINY_260))
    passed = forward_all(TINY_260, parameters, token_rows(sequences, 1))
    return sum(len(row) for rows in passed.rows.values() for row in rows)
