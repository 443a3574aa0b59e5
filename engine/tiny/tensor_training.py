"""Training with every matrix cut over the ranks, whatever happens at the borders of the cut."""

from collections.abc import Callable

from engine.core.slices import Sliced, Slices, steps_done
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.job import Job, initial, num_targets
from engine.tiny.layout import Parameters
from engine.tiny.parts import tokens_of
from engine.tiny.pieces import check, cut_vector, joined, pieces_of, vector_of_pieces
from engine.tiny.result import OPTIMIZER_NUMBERS, Held, Run, sent_by
from engine.tiny.tensor_layers import Region, Split, gradients

# What is left to do with the gradients of all ranks before Adam.
Finish = Callable[[Exchange, list[Parameters]], None]


@Sliced
def train_in_columns(
    job: Job, ranks: Count, region_of: Callable[[Exchange], Region], finish: Finish
) -> Slices[Run]:
    """Return the run on `ranks` ranks, each with its pieces of all matrices.

    Raises:
        ValueError: the ranks do not divide heads, inner width and vocabulary.
    """
    check(job.model, ranks)
    exchange, losses = Exchange(ranks), []
    vectors = [cut_vector(job.model, initial(job.model), rank, ranks) for rank in range(ranks)]
    moments = [adam.start(vector) for vector in vectors]
    tokens, region = tokens_of(job.batch, num_targets(job)), region_of(exchange)
    for step in range(job.steps):
        yield steps_done(step, job.steps)
        weights = [pieces_of(job.model, vector, ranks) for vector in vectors]
        split = Split(
            model=job.model, weights=weights, exchange=exchange, region=region, tokens=tokens
        )
        loss, found = gradients(split)
        losses.append(loss)
        finish(exchange, found)
        for rank, own in enumerate(found):
            slopes = vector_of_pieces(job.model, own)
            vectors[rank] = adam.step(moments[rank], slopes, job.learning_rate)
    held = [
        Held(parameters=len(own), gradients=len(own), optimizer=OPTIMIZER_NUMBERS * len(own))
        for own in vectors
    ]
    return Run(
        job=job,
        parameters=joined(job.model, vectors),
        losses=tuple(losses),
        held=tuple(held),
        sent=sent_by(exchange),
    )
