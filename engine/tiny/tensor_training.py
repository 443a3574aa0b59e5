"""Training with tensor parallelism, for any communication at the region's borders."""

from collections.abc import Callable

from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, initial_parameters, num_targets
from engine.tiny.layout import Parameters
from engine.tiny.parts import token_rows
from engine.tiny.pieces import (
    check_divisible,
    cut_vector,
    join_vectors,
    rank_weights,
    vector_of_pieces,
)
from engine.tiny.result import OPTIMIZER_NUMBERS, StateCounts, TrainingResult, sent_numbers
from engine.tiny.tensor_layers import SplitModel, SplitRegion, gradients

# What is left to do with the gradients of all ranks before Adam.
Finish = Callable[[Exchange, list[Parameters]], None]


@SlicedFunction
def train_tensor_parallel(
    job: TinyJob, ranks: Count, region_of: Callable[[Exchange], SplitRegion], finish: Finish
) -> Slices[TrainingResult]:
    """Return the run on `ranks` ranks, each with its pieces of all matrices.

    Raises:
        ValueError: the ranks do not divide heads, inner width and vocabulary.
    """
    check_divisible(job.model, ranks)
    exchange, losses = Exchange(ranks), []
    vectors = [
        cut_vector(job.model, initial_parameters(job.model), rank, ranks) for rank in range(ranks)
    ]
    moments = [adam.initial_moments(vector) for vector in vectors]
    tokens, region = token_rows(job.batch, num_targets(job)), region_of(exchange)
    for step in range(job.steps):
        yield step_progress(step, job.steps)
        weights = [rank_weights(job.model, vector, ranks) for vector in vectors]
        split = SplitModel(
            model=job.model, weights=weights, exchange=exchange, region=region, tokens=tokens
        )
        loss, rank_gradients = gradients(split)
        losses.append(loss)
        finish(exchange, rank_gradients)
        for rank, own in enumerate(rank_gradients):
            slopes = vector_of_pieces(job.model, own)
            vectors[rank] = adam.step(moments[rank], slopes, job.learning_rate)
    counts = [
        StateCounts(parameters=len(own), gradients=len(own), optimizer=OPTIMIZER_NUMBERS * len(own))
        for own in vectors
    ]
    return TrainingResult(
        job=job,
        parameters=join_vectors(job.model, vectors),
        losses=tuple(losses),
        held=tuple(counts),
        sent=sent_numbers(exchange),
    )
