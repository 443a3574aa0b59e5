"""Data parallelism of a two-parameter linear model, on one to many GPUs.

The model is y = slope x + offset with half the squared error as loss. Everything is computed as a
replica would: forward on its own samples, gradients of its own loss, the average of all replicas'
gradients, the same update everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.core.units import Count, Ratio

Sample = tuple[float, float]
Line = tuple[float, float]

# Sixteen points about the line y = 2 x + 1.
SAMPLES: tuple[Sample, ...] = (
    (1.0, 3.0),
    (2.0, 6.0),
    (-1.0, -1.0),
    (3.0, 7.0),
    (0.0, 1.0),
    (-2.0, -4.0),
    (1.0, 4.0),
    (2.0, 5.0),
    (-1.0, 0.0),
    (3.0, 6.0),
    (0.0, 2.0),
    (-3.0, -5.0),
    (-2.0, -3.0),
    (1.0, 2.0),
    (2.0, 4.0),
    (-3.0, -4.0),
)
START: Line = (0.0, 0.0)
LEARNING_RATE: Ratio = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStep:
    """Part of one GPU in a training step.

    Attributes:
        samples: numbers of its samples in `SAMPLES`.
        errors: prediction minus y, for each.
        gradient: of its own loss, the mean over its samples.
        after: its parameters after the update.
    """

    samples: tuple[Count, ...]
    errors: tuple[float, ...]
    gradient: Line
    after: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingStep:
    """A training step of all replicas.

    Attributes:
        before: the parameters that all replicas start from.
        average: the gradient that all replicas use.
        loss: over all samples, before the step.
        loss_after: likewise, after it.
    """

    replicas: tuple[ReplicaStep, ...]
    before: Line
    average: Line
    loss: float
    loss_after: float


def sample_shards(num_gpus: Count, extra: Count) -> tuple[tuple[Count, ...], ...]:
    """Return the sample numbers of each GPU; `extra` samples move from the last to the first.

    They come from the last GPU, which keeps at least one.
    """
    each, remainder = divmod(len(SAMPLES), num_gpus)
    sizes = [each + (number < remainder) for number in range(num_gpus)]
    moved = min(extra, sizes[-1] - 1) if num_gpus > 1 else 0
    sizes[0] += moved
    sizes[-1] -= moved
    ends = [sum(sizes[:number]) for number in range(num_gpus + 1)]
    return tuple(tuple(range(start, end)) for start, end in pairwise(ends))


def train_steps(parts: Sequence[Sequence[Count]], steps: Count, *, weighted: bool) -> TrainingStep:
    """Return the last training step on the shards.

    `weighted`: gradients are averaged over all samples; otherwise over the GPUs, each with the
    same weight, which is what DDP does.
    """
    line = START
    step = train_step(parts, line, weighted=weighted)
    for _ in range(steps - 1):
        line = step.replicas[0].after
        step = train_step(parts, line, weighted=weighted)
    return step


def train_step(parts: Sequence[Sequence[Count]], line: Line, *, weighted: bool) -> TrainingStep:
    """Return one training step from the parameters `line`."""
    errors = [tuple(_error(line, SAMPLES[number]) for number in part) for part in parts]
    gradients = [
        _gradient(part, part_errors) for part, part_errors in zip(parts, errors, strict=True)
    ]
    weights = [len(part) if weighted else 1 for part in parts]
    average = _average(gradients, weights)
    # Every replica subtracts the same from the same, each by itself.
    updated = [
        (line[0] - LEARNING_RATE * average[0], line[1] - LEARNING_RATE * average[1]) for _ in parts
    ]
    return TrainingStep(
        replicas=tuple(
            ReplicaStep(samples=tuple(part), errors=part_errors, gradient=gradient, after=after)
            for part, part_errors, gradient, after in zip(
                parts, errors, gradients, updated, strict=True
            )
        ),
        before=line,
        average=average,
        loss=mean_loss(line),
        loss_after=mean_loss(updated[0]),
    )


def mean_loss(line: Line) -> float:
    """Return half the mean squared error over all samples."""
    total = 0.0
    for sample in SAMPLES:
        total += _error(line, sample) ** 2
    return total / len(SAMPLES) / 2


def _error(line: Line, sample: Sample) -> float:
    return line[0] * sample[0] + line[1] - sample[1]


def _gradient(part: Sequence[Count], errors: Sequence[float]) -> Line:
    slope = offset = 0.0
    for number, error in zip(part, errors, strict=True):
        slope += error * SAMPLES[number][0]
        offset += error
    return slope / len(part), offset / len(part)


def _average(gradients: Sequence[Line], weights: Sequence[Count]) -> Line:
    slope = offset = 0.0
    for gradient, weight in zip(gradients, weights, strict=True):
        slope += weight * gradient[0]
        offset += weight * gradient[1]
    return slope / sum(weights), offset / sum(weights)


def parameter_distance(first_step: TrainingStep, second_step: TrainingStep) -> float:
    """Return the largest parameter difference between any GPUs of two steps."""
    return max(
        abs(mine - theirs)
        for first in first_step.replicas
        for second in second_step.replicas
        for mine, theirs in zip(first.after, second.after, strict=True)
    )
