"""Tensor-parallel cuts of each weight matrix, and their reassembly."""

from collections.abc import Sequence
from typing import Literal

from engine.catalog.models import Model
from engine.core.units import Count
from engine.tiny.layout import Parameters, part_names, tensors
from engine.tiny.matrix import Matrix, Vector, flatten_rows, select_columns, split_rows

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
    """Return how a tensor is cut, by its name."""
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
