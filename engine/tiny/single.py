"""Training on one rank, which every scheme must equal; and the gradient of some sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import Model
from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.tiny import adam
from engine.tiny.job import TinyJob, initial_parameters, num_targets
from engine.tiny.layout import OUTPUT, Parameters, Weights, flatten, part_names, unflatten
from engine.tiny.matrix import Matrix, Vector
from engine.tiny.parts import (
    HalfActivations,
    Tokens,
    backward,
    forward_with_activations,
    loss,
    token_rows,
)
from engine.tiny.result import OPTIMIZER_NUMBERS, StateCounts, TrainingResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardPass:
    """A forward pass: the rows that went into every part, and the loss.

    `halves` of the layers need not be computed again on the way back.
    """

    rows: dict[str, Matrix]
    halves: dict[str, HalfActivations | None]
    loss: float


def forward_all(model: Model, parameters: Parameters, tokens: Tokens) -> ForwardPass:
    """Return the forward pass through all parts."""
    rows: Matrix = []
    kept: dict[str, Matrix] = {}
    halves: dict[str, HalfActivations | None] = {}
    for part in part_names(model)[:-1]:
        kept[part] = rows
        rows, halves[part] = forward_with_activations(model, part, parameters[part], rows, tokens)
    kept[OUTPUT] = rows
    return ForwardPass(rows=kept, halves=halves, loss=loss(parameters[OUTPUT], rows, tokens))


def backward_all(
    model: Model, parameters: Parameters, tokens: Tokens, passed: ForwardPass
) -> Iterator[tuple[str, Weights]]:
    """Yield every part's gradients as they become ready: the last part first."""
    gradient: Matrix = []
    for part in reversed(part_names(model)):
        rows, half = passed.rows[part], passed.halves.get(part)
        gradient, weights = backward(model, part, parameters[part], rows, tokens, gradient, half)
        yield part, weights


def loss_and_gradient(
    model: Model, vector: Sequence[float], sequences: Sequence[tuple[int, ...]], count: int
) -> tuple[float, Vector]:
    """Return these sequences' part of the mean loss of a step, and of its gradient.

    Args:
        model: its shape.
        vector: all parameters, flat.
        sequences: none give zeros.
        count: targets of the whole step.
    """
    if not sequences:
        return 0.0, [0.0] * len(vector)
    mean_loss, gradient = _gradient_of(model, tuple(vector), tuple(sequences), count)
    return mean_loss, list(gradient)


# One more step, another sharding or more ranks repeat most of what was computed before.
@lru_cache(maxsize=256)
def _gradient_of(
    model: Model, vector: tuple[float, ...], sequences: tuple[tuple[int, ...], ...], count: int
) -> tuple[float, tuple[float, ...]]:
    parameters, tokens = unflatten(model, vector), token_rows(sequences, count)
    passed = forward_all(model, parameters, tokens)
    gradient = flatten(model, dict(backward_all(model, parameters, tokens, passed)))
    return passed.loss, tuple(gradient)


def loss_of(
    model: Model, vector: Sequence[float], sequences: Sequence[tuple[int, ...]], count: int
) -> float:
    """Return these sequences' part of the mean loss, without a backward pass."""
    parameters, tokens = unflatten(model, vector), token_rows(sequences, count)
    return forward_all(model, parameters, tokens).loss


@SlicedFunction
def train(job: TinyJob) -> Slices[TrainingResult]:
    """Return the run on one rank."""
    parameters = initial_parameters(job.model)
    moments = adam.initial_moments(parameters)
    losses = []
    for step in range(job.steps):
        yield step_progress(step, job.steps)
        now, gradient = loss_and_gradient(job.model, parameters, job.batch, num_targets(job))
        parameters = adam.step(moments, gradient, job.learning_rate)
        losses.append(now)
    size = len(parameters)
    return TrainingResult(
        job=job,
        parameters=parameters,
        losses=tuple(losses),
        state_counts=(
            StateCounts(parameters=size, gradients=size, optimizer=OPTIMIZER_NUMBERS * size),
        ),
        sent={},
    )
