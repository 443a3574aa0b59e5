"""A prompt through the tiny model's layers on two GPUs: weights gathered, or activations added."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import TINY_260, Model
from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.job import initial
from engine.tiny.layout import (
    EMBEDDING,
    layer_name,
    part_range,
    unflatten,
    weights_of,
)
from engine.tiny.matrix import Matrix, Vector
from engine.tiny.parts import Tokens, forward, tokens_of
from engine.tiny.pieces import cut_vector, pieces_of
from engine.tiny.schemes.tensor_parallel import region
from engine.tiny.tensor_layers import Split, through_layers

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
    """Return the pass of a prompt of so many tokens."""
    model, vector = TINY_260, initial(TINY_260)
    prompt = tuple(i % _VOCABULARY for i in range(num_tokens + 1))
    tokens = tokens_of((prompt,), num_tokens)
    parameters = unflatten(model, vector)
    start = forward(model, EMBEDDING, parameters[EMBEDDING], [], tokens)
    alone = start
    for name in _layers(model):
        alone = forward(model, name, parameters[name], alone, tokens)
    gathering, adding = Exchange(RANKS), Exchange(RANKS)
    gathered = _gathered(model, vector, start, tokens, gathering)
    added = _added(model, vector, start, tokens, adding)
    most = max(abs(x) for row in alone for x in row)
    off = max(
        abs(x - y)
        for found in (gathered, added)
        for row, true in zip(found, alone, strict=True)
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


def _gathered(
    model: Model, vector: Sequence[float], rows: Matrix, tokens: Tokens, exchange: Exchange
) -> Matrix:
    """Each GPU keeps half of a layer's weights; both gather all of them, layer by layer."""
    for name in _layers(model):
        place = part_range(model, name)
        middle = place.start + len(place) // RANKS
        halves = [vector[place.start : middle], vector[middle : place.stop]]
        whole = exchange.all_gather(halves, "parameters")[0]
        rows = forward(model, name, weights_of(model, name, whole), rows, tokens)
    return rows


def _added(
    model: Model, vector: Vector, rows: Matrix, tokens: Tokens, exchange: Exchange
) -> Matrix:
    """Each GPU keeps its columns and rows of a layer's matrices; results are added up."""
    weights = [
        pieces_of(model, cut_vector(model, vector, rank, RANKS), RANKS) for rank in range(RANKS)
    ]
    split = Split(
        model=model, weights=weights, exchange=exchange, region=region(exchange), tokens=tokens
    )
    return through_layers(split, [rows] * RANKS)[0][0]
