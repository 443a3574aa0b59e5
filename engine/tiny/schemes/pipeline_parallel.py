"""Pipeline parallelism: each rank holds some layers; micro-batches pass through (GPipe's order).

All micro-batches go forward, then all go backward; what order they take changes times and memory
but no number, since a stage only adds up their gradients.
"""

from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.run.parallelism import piece_of_model
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, TokenSequence, initial_parameters, num_targets
from engine.tiny.layout import (
    EMBEDDING,
    OUTPUT,
    layer_name,
    part_range,
    vector_of,
    weights_of,
)
from engine.tiny.matrix import Matrix, Vector, add_vectors, flatten_rows, split_rows
from engine.tiny.parts import Tokens, backward, forward, loss, token_rows
from engine.tiny.result import OPTIMIZER_NUMBERS, StateCounts, TrainingResult, sent_numbers

TITLE = "Pipeline parallel"
AXIS = "pipeline"
RANKS: tuple[Count, ...] = (1, 2, 4)
NUM_MICROBATCHES: Count = 4


def stage_parts(num_layers: Count, rank: int, ranks: Count) -> tuple[str, ...]:
    """Return the parts of one stage."""
    layers = tuple(map(layer_name, piece_of_model(num_layers, ranks, rank)))
    first = (EMBEDDING,) if rank == 0 else ()
    return first + layers + ((OUTPUT,) if rank == ranks - 1 else ())


@SlicedFunction
def train(job: TinyJob, ranks: Count) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks, in four micro-batches."""
    model, exchange, losses = job.model, Exchange(ranks), []
    vector = initial_parameters(model)
    stages = [stage_parts(model.num_layers, rank, ranks) for rank in range(ranks)]
    vectors = [_stage_vector(job, vector, parts) for parts in stages]
    moments = [adam.initial_moments(own) for own in vectors]
    for step in range(job.steps):
        yield step_progress(step, job.steps)
        total, slopes = 0.0, [[0.0] * len(own) for own in vectors]
        batches = [job.batch[i::NUM_MICROBATCHES] for i in range(NUM_MICROBATCHES)]
        for sequences in batches:
            micro_loss, micro_gradients = _micro_batch(job, exchange, (stages, vectors), sequences)
            total += micro_loss
            slopes = [
                add_vectors(old, new) for old, new in zip(slopes, micro_gradients, strict=True)
            ]
        losses.append(total)
        vectors = [
            adam.step(own, slope, job.learning_rate)
            for own, slope in zip(moments, slopes, strict=True)
        ]
    counts = [
        StateCounts(parameters=len(own), gradients=len(own), optimizer=OPTIMIZER_NUMBERS * len(own))
        for own in vectors
    ]
    return TrainingResult(
        job=job,
        parameters=[number for own in vectors for number in own],
        losses=tuple(losses),
        state_counts=tuple(counts),
        sent=sent_numbers(exchange),
    )


def _stage_vector(job: TinyJob, vector: Vector, parts: tuple[str, ...]) -> Vector:
    ranges = [part_range(job.model, part) for part in parts]
    return [
        number
        for part_indices in ranges
        for number in vector[part_indices.start : part_indices.stop]
    ]


def _micro_batch(
    job: TinyJob,
    exchange: Exchange,
    world: tuple[list[tuple[str, ...]], list[Vector]],
    sequences: tuple[TokenSequence, ...],
) -> tuple[float, list[Vector]]:
    """Return loss and every stage's gradients; rows and their gradients travel between stages."""
    stages, _ = world
    tokens, last = token_rows(sequences, num_targets(job)), len(stages) - 1
    rows: Matrix = []
    kept: list[dict[str, Matrix]] = []
    for rank, parts in enumerate(stages):
        kept.append({})
        for part in parts:
            kept[rank][part] = rows
            if part != OUTPUT:
                rows = forward(job.model, part, _weights(job, world, rank, part), rows, tokens)
        if rank < last:
            rows = _send(exchange, rank, rank + 1, rows)
    total = loss(_weights(job, world, last, OUTPUT), rows, tokens)
    return total, _backward(job, exchange, world, kept, tokens)


def _backward(
    job: TinyJob,
    exchange: Exchange,
    world: tuple[list[tuple[str, ...]], list[Vector]],
    kept: list[dict[str, Matrix]],
    tokens: Tokens,
) -> list[Vector]:
    stages, _ = world
    gradient: Matrix = []
    gradients: list[Vector] = [[] for _ in stages]
    for rank in reversed(range(len(stages))):
        for part in reversed(stages[rank]):
            weights = _weights(job, world, rank, part)
            gradient, part_gradients = backward(
                job.model, part, weights, kept[rank][part], tokens, gradient
            )
            gradients[rank] = vector_of(job.model, part, part_gradients) + gradients[rank]
        if rank:
            gradient = _send(exchange, rank, rank - 1, gradient)
    return gradients


def _weights(
    job: TinyJob, world: tuple[list[tuple[str, ...]], list[Vector]], rank: int, part: str
) -> dict[str, Matrix]:
    stages, vectors = world
    before = stages[rank][: stages[rank].index(part)]
    start = sum(len(part_range(job.model, name)) for name in before)
    size = len(part_range(job.model, part))
    return weights_of(job.model, part, vectors[rank][start : start + size])


def _send(exchange: Exchange, source: int, target: int, rows: Matrix) -> Matrix:
    return split_rows(
        exchange.send(source, target, flatten_rows(rows), "activations"), len(rows[0])
    )
