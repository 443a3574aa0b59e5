"""Training on one rank, which every scheme must equal; and the gradient of some sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import Model
from engine.core.slices import Sliced, Slices, steps_done
from engine.tiny import adam
from engine.tiny.job import Job, initial, num_targets
from engine.tiny.layout import OUTPUT, Parameters, Weights, flatten, part_names, unflatten
from engine.tiny.matrix import Matrix, Vector
from engine.tiny.parts import Half, Tokens, backward, forward_kept, loss, tokens_of
from engine.tiny.result import OPTIMIZER_NUMBERS, Held, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A forward pass: the rows that went into every part, and the loss.

    `halves` of the layers need not be computed again on the way back.
    """

    rows: dict[str, Matrix]
    halves: dict[str, Half | None]
    loss: float


def forward_all(model: Model, parameters: Parameters, tokens: Tokens) -> Passed:
    """Return the forward pass through all parts."""
    rows: Matrix = []
    kept: dict[str, Matrix] = {}
    halves: dict[str, Half | None] = {}
    for part in part_names(model)[:-1]:
        kept[part] = rows
        rows, halves[part] = forward_kept(model, part, parameters[part], rows, tokens)
    kept[OUTPUT] = rows
    return Passed(rows=kept, halves=halves, loss=loss(parameters[OUTPUT], rows, tokens))


def backward_all(
    model: Model, parameters: Parameters, tokens: Tokens, passed: Passed
) -> Iterator[tuple[str, Weights]]:
    """Yield every part's gradients as they become ready: the last part first."""
    gradient: Matrix = []
    for part in reversed(part_names(model)):
        rows, half = passed.rows[part], passed.halves.get(part)
        gradient, found = backward(model, part, parameters[part], rows, tokens, gradient, half)
        yield part, found


def gradient_of(
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
    found, gradient = _gradient_of(model, tuple(vector), tuple(sequences), count)
    return found, list(gradient)


# One more step, another sharding or more ranks repeat most of what was computed before.
@lru_cache(maxsize=256)
def _gradient_of(
    model: Model, vector: tuple[float, ...], sequences: tuple[tuple[int, ...], ...], count: int
) -> tuple[float, tuple[float, ...]]:
    parameters, tokens = unflatten(model, vector), tokens_of(sequences, count)
    passed = forward_all(model, parameters, tokens)
    found = flatten(model, dict(backward_all(model, parameters, tokens, passed)))
    return passed.loss, tuple(found)


def loss_of(
    model: Model, vector: Sequence[float], sequences: Sequence[tuple[int, ...]], count: int
) -> float:
    """Return the loss alone of what `gradient_of` takes: no pass back."""
    parameters, tokens = unflatten(model, vector), tokens_of(sequences, count)
    return forward_all(model, parameters, tokens).loss


@Sliced
def train(job: Job) -> Slices[Run]:
    """Return the run on one rank."""
    parameters = initial(job.model)
    moments = adam.start(parameters)
    losses = []
    for step in range(job.steps):
        yield steps_done(step, job.steps)
        now, gradient = gradient_of(job.model, parameters, job.batch, num_targets(job))
        parameters = adam.step(moments, gradient, job.learning_rate)
        losses.append(now)
    size = len(parameters)
    return Run(
        job=job,
        parameters=parameters,
        losses=tuple(losses),
        held=(Held(parameters=size, gradients=size, optimizer=OPTIMIZER_NUMBERS * size),),
        sent={},
    )
