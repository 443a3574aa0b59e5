"""A prompt through the tiny model's layers on two GPUs: weights gathered, or activations added."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import TINY_260, Model
from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.job import initial_parameters
from engine.tiny.layout import (
    EMBEDDING,
    layer_name,
    part_range,
    unflatten,
    weights_of,
)
from engine.tiny.matrix import Matrix, Vector
from engine.tiny.parts import Tokens, forward, token_rows
from engine.tiny.schemes.tensor_parallel import all_reduce_region
from engine.tiny.tensor_layers import SplitModel, through_layers
from engine.tiny.tensor_training import cut_vector, rank_weights

RANKS: Count = 2
_VOCABULARY: Count = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWays:
    """A forward pass of so many tokens through both layers, three times.

    Attributes:
        weights_sent: numbers that a GPU sends to gather both layers' weights.
        activations_sent: numbers that a GPU sends to add up both layers' results.
        off: the largest difference of a result from one GPU's, of the largest result.
        gathered: the result for the last token, weights gathered.
        added: likewise, activations added.
    """

    weights_sent: Count
    activations_sent: Count
    off: float
    gathered: tuple[float, ...]
    added: tuple[float, ...]


@lru_cache(maxsize=16)
def two_ways(num_tokens: Count) -> TwoWays:
    """Return the forward pass of a prompt of `num_tokens` tokens, in both ways."""
    model, vector = TINY_260, initial_parameters(TINY_260)
    prompt = tuple(i % _VOCABULARY for i in range(num_tokens + 1))
    tokens = token_rows((prompt,), num_tokens)
    parameters = unflatten(model, vector)
    start = forward(model, EMBEDDING, parameters[EMBEDDING], [], tokens)
    alone = start
    for name in _layers(model):
        alone = forward(model, name, parameters[name], alone, tokens)
    gathering, adding = Exchange(RANKS), Exchange(RANKS)
    gathered = _forward_gathering(model, vector, start, tokens, gathering)
    added = _forward_adding(model, vector, start, tokens, adding)
    most = max(abs(x) for row in alone for x in row)
    off = max(
        abs(x - y)
        for result in (gathered, added)
        for row, true in zip(result, alone, strict=True)
        for x, y in zip(row, true, strict=True)
    )
    return TwoWays(
        weights_sent=max(gathering.sent["parameters"]),
        activations_sent=max(adding.sent["activations"]),
        off=off / most,
        gathered=tuple(gathered[-1]),
        added=tuple(added[-1]),
    )


def _layers(model: Model) -> tuple[str, ...]:
    return tuple(layer_name(i) for i in range(model.num_layers))


def _forward_gathering(
    model: Model, vector: Sequence[float], rows: Matrix, tokens: Tokens, exchange: Exchange
) -> Matrix:
    """Return the rows after gathering each layer's weights from both GPUs."""
    for name in _layers(model):
        part = part_range(model, name)
        middle = part.start + len(part) // RANKS
        halves = [vector[part.start : middle], vector[middle : part.stop]]
        whole = exchange.all_gather(halves, "parameters")[0]
        rows = forward(model, name, weights_of(model, name, whole), rows, tokens)
    return rows


def _forward_adding(
    model: Model, vector: Vector, rows: Matrix, tokens: Tokens, exchange: Exchange
) -> Matrix:
    """Return the rows of tensor-parallel layers, whose partial results are added."""
    weights = [
        rank_weights(model, cut_vector(model, vector, rank, RANKS), RANKS) for rank in range(RANKS)
    ]
    split = SplitModel(
        model=model,
        weights=weights,
        exchange=exchange,
        region=all_reduce_region(exchange),
        tokens=tokens,
    )
    return through_layers(split, [rows] * RANKS)[0][0]
