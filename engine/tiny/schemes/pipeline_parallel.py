"""Pipeline parallelism: each rank holds some layers; micro-batches pass through (GPipe's order).

All micro-batches go forward, then all go backward; what order they take changes times and memory
but no number, since a stage only adds up their gradients.
"""

from engine.core.slices import Sliced, Slices, steps_done
from engine.core.units import Count
from engine.run.parallelism import piece_of_model
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, Sequence, initial, num_targets
from engine.tiny.layout import (
    EMBEDDING,
    OUTPUT,
    layer_name,
    part_range,
    vector_of,
    weights_of,
)
from engine.tiny.matrix import Matrix, Vector, add_vectors, flat, rows_of
from engine.tiny.parts import Tokens, backward, forward, loss, tokens_of
from engine.tiny.result import OPTIMIZER_NUMBERS, Held, Run, sent_by

TITLE = "Pipeline parallel"
AXIS = "pipeline"
RANKS: tuple[Count, ...] = (1, 2, 4)
NUM_MICROBATCHES: Count = 4


def parts_of(num_layers: Count, rank: int, ranks: Count) -> tuple[str, ...]:
    """Return the parts of one stage."""
    layers = tuple(map(layer_name, piece_of_model(num_layers, ranks, rank)))
    first = (EMBEDDING,) if rank == 0 else ()
    return first + layers + ((OUTPUT,) if rank == ranks - 1 else ())


@Sliced
def train(job: Job, ranks: Count) -> Slices[Run]:
    """Return the run on `ranks` ranks, in four micro-batches."""
    model, exchange, losses = job.model, Exchange(ranks), []
    vector = initial(model)
    stages = [parts_of(model.num_layers, rank, ranks) for rank in range(ranks)]
    vectors = [_own(job, vector, parts) for parts in stages]
    moments = [adam.start(own) for own in vectors]
    for step in range(job.steps):
        yield steps_done(step, job.steps)
        total, slopes = 0.0, [[0.0] * len(own) for own in vectors]
        batches = [job.batch[i::NUM_MICROBATCHES] for i in range(NUM_MICROBATCHES)]
        for sequences in batches:
            one, found = _micro_batch(job, exchange, (stages, vectors), sequences)
            total += one
            slopes = [add_vectors(old, new) for old, new in zip(slopes, found, strict=True)]
        losses.append(total)
        vectors = [
            adam.step(own, slope, job.learning_rate)
            for own, slope in zip(moments, slopes, strict=True)
        ]
    held = [
        Held(parameters=len(own), gradients=len(own), optimizer=OPTIMIZER_NUMBERS * len(own))
        for own in vectors
    ]
    return Run(
        job=job,
        parameters=[number for own in vectors for number in own],
        losses=tuple(losses),
        held=tuple(held),
        sent=sent_by(exchange),
    )


def _own(job: Job, vector: Vector, parts: tuple[str, ...]) -> Vector:
    ranges = [part_range(job.model, part) for part in parts]
    return [number for own in ranges for number in vector[own.start : own.stop]]


def _micro_batch(
    job: Job,
    exchange: Exchange,
    world: tuple[list[tuple[str, ...]], list[Vector]],
    sequences: tuple[Sequence, ...],
) -> tuple[float, list[Vector]]:
    """Return loss and every stage's gradients; rows and their gradients travel between stages."""
    stages, _ = world
    tokens, last = tokens_of(sequences, num_targets(job)), len(stages) - 1
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
    job: Job,
    exchange: Exchange,
    world: tuple[list[tuple[str, ...]], list[Vector]],
    kept: list[dict[str, Matrix]],
    tokens: Tokens,
) -> list[Vector]:
    stages, _ = world
    gradient: Matrix = []
    found: list[Vector] = [[] for _ in stages]
    for rank in reversed(range(len(stages))):
        for part in reversed(stages[rank]):
            weights = _weights(job, world, rank, part)
            gradient, own = backward(job.model, part, weights, kept[rank][part], tokens, gradient)
            found[rank] = vector_of(job.model, part, own) + found[rank]
        if rank:
            gradient = _send(exchange, rank, rank - 1, gradient)
    return found


def _weights(
    job: Job, world: tuple[list[tuple[str, ...]], list[Vector]], rank: int, part: str
) -> dict[str, Matrix]:
    stages, vectors = world
    before = stages[rank][: stages[rank].index(part)]
    start = sum(len(part_range(job.model, name)) for name in before)
    size = len(part_range(job.model, part))
    return weights_of(job.model, part, vectors[rank][start : start + size])


def _send(exchange: Exchange, source: int, target: int, rows: Matrix) -> Matrix:
    return rows_of(exchange.send(source, target, flat(rows), "activations"), len(rows[0]))
