"""Training with tensor parallelism, for any communication at the region's borders."""

from collections.abc import Callable, Sequence
from typing import Literal

from engine.catalog.models import Model
from engine.core.slices import SlicedFunction, Slices, step_progress
from engine.core.units import Count
from engine.tiny import adam
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, initial_parameters, num_targets
from engine.tiny.layout import Parameters, part_names, tensors
from engine.tiny.matrix import Matrix, Vector, flatten_rows, select_columns, split_rows
from engine.tiny.parts import token_rows
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
        state_counts=tuple(counts),
        sent=sent_numbers(exchange),
    )


# Tensor-parallel cuts of each weight matrix, and their reassembly.

Cut = Literal["columns", "rows", "whole"]

# Shoeybi et al. 2019: the first matrix of each half by columns, so that heads and inner channels
# stay together, the second by rows; both vocabularies by tokens; norms are on every rank.
CUTS: dict[str, Cut] = {
    "tokens": "rows",
    "vocabulary": "rows",
    "query": "columns",
    "key": "columns",
    "value": "columns",
    "out": "rows",
    "gate": "columns",
    "up": "columns",
    "down": "rows",
}


def tensor_cut(name: str) -> Cut:
    """Return the cut of a tensor, by its name: rows, columns or whole."""
    return CUTS.get(name, "whole")


def piece(matrix: Matrix, cut: Cut, rank: int, ranks: Count) -> Matrix:
    """Return a rank's piece of a matrix."""
    if cut == "whole":
        return matrix
    if cut == "rows":
        each = len(matrix) // ranks
        return matrix[rank * each : (rank + 1) * each]
    each = len(matrix[0]) // ranks
    return select_columns(matrix, slice(rank * each, (rank + 1) * each))


def join_matrix(pieces: Sequence[Matrix], cut: Cut) -> Matrix:
    """Return the matrix from its pieces; a replicated one is taken from the first rank."""
    if cut == "whole":
        return pieces[0]
    if cut == "rows":
        return [row for part in pieces for row in part]
    return [[value for row in rows for value in row] for rows in zip(*pieces, strict=True)]


def cut_vector(model: Model, vector: Sequence[float], rank: int, ranks: Count) -> Vector:
    """Return a rank's pieces of all tensors as one flat vector."""
    pieces: Vector = []
    for tensor in tensors(model):
        numbers = vector[tensor.start : tensor.start + tensor.size]
        pieces += flatten_rows(
            piece(split_rows(numbers, tensor.columns), tensor_cut(tensor.name), rank, ranks)
        )
    return pieces


def rank_weights(model: Model, vector: Sequence[float], ranks: Count) -> Parameters:
    """Return a rank's weights by part from its own flat vector."""
    weights: Parameters = {part: {} for part in part_names(model)}
    start = 0
    for tensor in tensors(model):
        cut = tensor_cut(tensor.name)
        columns = tensor.columns // (ranks if cut == "columns" else 1)
        size = tensor.size // (1 if cut == "whole" else ranks)
        weights[tensor.part][tensor.name] = split_rows(vector[start : start + size], columns)
        start += size
    return weights


def vector_of_pieces(model: Model, weights: Parameters) -> Vector:
    """Return a rank's weights, or their gradients, as its own flat vector."""
    return [
        number
        for tensor in tensors(model)
        for number in flatten_rows(weights[tensor.part][tensor.name])
    ]


def join_vectors(model: Model, vectors: Sequence[Sequence[float]]) -> Vector:
    """Return the flat vector of the whole model from those of all ranks."""
    own = [rank_weights(model, vector, len(vectors)) for vector in vectors]
    return [
        number
        for tensor in tensors(model)
        for number in flatten_rows(
            join_matrix(
                [weights[tensor.part][tensor.name] for weights in own], tensor_cut(tensor.name)
            )
        )
    ]


def check_divisible(model: Model, ranks: Count) -> None:
    """Raise if the ranks do not divide the model evenly.

    Raises:
        ValueError: it divides not the heads, the inner width or the vocabulary.
    """
    for name in ("num_attention_heads", "ffn_hidden_size", "vocab_size"):
        if getattr(model, name) % ranks:
            raise ValueError(f"{ranks} ranks do not divide {name} {getattr(model, name)}")
