"""The model cut by tensor parallelism, all ranks in step, forward and backward.

`SplitRegion` says what happens where a cut region begins and ends: f and g of Shoeybi et al. 2019,
or their variants with a split sequence of Korthikanti et al. 2022. On the way back each is the
other's inverse: a region is left backward as it is entered forward, and the reverse.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engine.catalog.models import Model, head_size
from engine.tiny import ends
from engine.tiny.attention import (
    AttentionPass,
    attend,
    attend_backward,
    project,
    project_backward,
    visible_keys,
)
from engine.tiny.exchange import Exchange
from engine.tiny.experts import feed_forward, feed_forward_backward
from engine.tiny.layout import EMBEDDING, OUTPUT, Parameters, Weights, layer_name
from engine.tiny.matrix import Matrix, add, product, product_transposed, transposed_product
from engine.tiny.parts import Tokens, norm, norm_backward

# One matrix for each rank.
Across = list[Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRegion:
    """Communication at the entry and the exit of a tensor-parallel region."""

    enter: Callable[[Across], Across]
    leave: Callable[[Across], Across]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitModel:
    """The tensor-parallel model on all ranks: `weights[rank][part]`, and their messages."""

    model: Model
    weights: list[Parameters]
    exchange: Exchange
    region: SplitRegion
    tokens: Tokens


Half = Callable[[Matrix, Weights], Matrix]
HalfBackward = Callable[[Matrix, Weights, Matrix], tuple[Matrix, Weights]]


def gradients(split: SplitModel) -> tuple[float, list[Parameters]]:
    """Return the loss, and every rank's gradients of its own pieces."""
    model, rank_gradients = split.model, [Parameters() for _ in split.weights]
    names = [layer_name(i) for i in range(model.num_layers)]
    rows = split.region.leave(
        [
            ends.embed(split.tokens.inputs, own[EMBEDDING]["tokens"], _first(split, rank))
            for rank, own in enumerate(split.weights)
        ]
    )
    rows, kept = through_layers(split, rows)
    loss, gradient = _output(split, rows, rank_gradients)
    for name, (rows, middle) in zip(reversed(names), reversed(kept), strict=True):
        for own in rank_gradients:
            own[name] = {}
        gradient = _half_backward(
            split, (name, "mlp_norm"), middle, gradient, feed_forward_backward, rank_gradients
        )
        gradient = _half_backward(
            split,
            (name, "attention_norm"),
            rows,
            gradient,
            _attention_backward(split),
            rank_gradients,
        )
    for rank, (own, back) in enumerate(
        zip(rank_gradients, split.region.enter(gradient), strict=True)
    ):
        count = len(split.weights[rank][EMBEDDING]["tokens"])
        table = ends.embed_backward(split.tokens.inputs, back, count, _first(split, rank))
        own[EMBEDDING] = {"tokens": table}
    return loss, rank_gradients


def through_layers(split: SplitModel, rows: Across) -> tuple[Across, list[tuple[Across, Across]]]:
    """Return the output rows of the layers, and the inputs of each half of every layer."""
    kept: list[tuple[Across, Across]] = []
    for name in (layer_name(i) for i in range(split.model.num_layers)):
        middle = _half(split, name, "attention_norm", rows, _attention(split))
        kept.append((rows, middle))
        rows = _half(split, name, "mlp_norm", middle, feed_forward)
    return rows, kept


def _first(split: SplitModel, rank: int) -> int:
    """Return the first token of a rank's piece of the vocabulary."""
    return rank * split.model.vocab_size // len(split.weights)


def _half(split: SplitModel, name: str, scale: str, rows: Across, half: Half) -> Across:
    normed = [
        norm(rank_rows, weights[name][scale])
        for rank_rows, weights in zip(rows, split.weights, strict=True)
    ]
    entered = split.region.enter(normed)
    parts = [
        half(rank_rows, weights[name])
        for weights, rank_rows in zip(split.weights, entered, strict=True)
    ]
    return [
        add(rank_rows, new) for rank_rows, new in zip(rows, split.region.leave(parts), strict=True)
    ]


def _half_backward(
    split: SplitModel,
    where: tuple[str, str],
    rows: Across,
    gradient: Across,
    half: HalfBackward,
    rank_gradients: list[Parameters],
) -> Across:
    name, scale = where
    normed = [
        norm(own, weights[name][scale]) for own, weights in zip(rows, split.weights, strict=True)
    ]
    entered = split.region.enter(normed) if _is_split(split, rows) else normed
    upstream = split.region.enter(gradient)
    parts = []
    for rank, own in enumerate(split.weights):
        back, weights = half(entered[rank], own[name], upstream[rank])
        rank_gradients[rank][name] |= weights
        parts.append(back)
    result = []
    for rank, back in enumerate(split.region.leave(parts)):
        of_rows, of_scale = norm_backward(rows[rank], split.weights[rank][name][scale], back)
        rank_gradients[rank][name][scale] = of_scale
        result.append(add(gradient[rank], of_rows))
    return result


def _is_split(split: SplitModel, rows: Across) -> bool:
    """Return whether the sequence is split, so that the input must be gathered once more."""
    return len(rows[0]) < len(split.tokens.inputs)


def _attention(split: SplitModel) -> Half:
    head, places = head_size(split.model), split.tokens.places

    def run(rows: Matrix, weights: Weights) -> Matrix:
        heads = project(rows, weights, places, head)
        context, _ = attend(heads.query, heads, visible_keys(places, places), head)
        return product(context, weights["out"])

    return run


def _attention_backward(split: SplitModel) -> HalfBackward:
    head, places = head_size(split.model), split.tokens.places

    def run(rows: Matrix, weights: Weights, gradient: Matrix) -> tuple[Matrix, Weights]:
        heads, seen = project(rows, weights, places, head), visible_keys(places, places)
        context, logs = attend(heads.query, heads, seen, head)
        upstream = product_transposed(gradient, weights["out"])
        done = AttentionPass(query=heads.query, result=context, logs=logs, gradient=upstream)
        of_heads = attend_backward(done, heads, seen, head)
        back, slopes = project_backward(rows, weights, places, head, of_heads)
        return back, slopes | {"out": transposed_product(context, gradient)}

    return run


def _output(
    split: SplitModel, rows: Across, rank_gradients: list[Parameters]
) -> tuple[float, Across]:
    """Return the loss and the gradient of the rows; every rank sees its tokens' logits only."""
    exchange, tokens = split.exchange, split.tokens
    weights = [own[OUTPUT] for own in split.weights]
    normed = [
        norm(own, rank_weights["norm"]) for own, rank_weights in zip(rows, weights, strict=True)
    ]
    entered = split.region.enter(normed)
    logits = [
        ends.logits(own, rank_weights["vocabulary"])
        for own, rank_weights in zip(entered, weights, strict=True)
    ]
    tops = exchange.largest([[max(row) for row in own] for own in logits], "scores")
    own_scores = [
        ends.scores(own, tokens.targets, tops[rank], _first(split, rank))
        for rank, own in enumerate(logits)
    ]
    sums = exchange.all_reduce([own.sums for own in own_scores], "scores")
    hits = exchange.all_reduce([own.hits for own in own_scores], "scores")
    parts, wholes = [], []
    for rank, rank_weights in enumerate(weights):
        whole = ends.Scores(tops=tops[rank], sums=sums[rank], hits=hits[rank])
        slopes = ends.logits_backward(
            logits[rank], tokens.targets, whole, tokens.count, _first(split, rank)
        )
        back, table = ends.vocabulary_backward(entered[rank], rank_weights["vocabulary"], slopes)
        rank_gradients[rank][OUTPUT] = {"vocabulary": table}
        parts.append(back)
        wholes.append(whole)
    gradient = []
    for rank, back in enumerate(split.region.leave(parts)):
        of_rows, of_scale = norm_backward(rows[rank], weights[rank]["norm"], back)
        rank_gradients[rank][OUTPUT]["norm"] = of_scale
        gradient.append(of_rows)
    return ends.loss(wholes[0], tokens.count), gradient
