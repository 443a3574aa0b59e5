"""The parts of the model on one rank: what goes in, what comes out, and the way back.

A part is the unit that pipelines place and sharding gathers: embedding, layer, output.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.catalog.models import Model, head_size
from engine.core.units import Count
from engine.tiny import ends
from engine.tiny.attention import (
    Attended,
    Heads,
    Place,
    attend,
    attend_backward,
    project,
    project_backward,
    visible,
)
from engine.tiny.experts import mixture, mixture_backward
from engine.tiny.feed_forward import feed_forward, feed_forward_backward
from engine.tiny.layout import EMBEDDING, OUTPUT, Weights
from engine.tiny.matrix import (
    Matrix,
    add,
    product,
    product_transposed,
    transposed_product,
)
from engine.tiny.norm import norm, norm_backward


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The rows that a rank works on.

    Attributes:
        inputs: one token per row.
        targets: the token that follows each.
        places: sequence and position of each.
        count: targets of the whole step, over which the loss is a mean.
    """

    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    places: tuple[Place, ...]
    count: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """What the first half of a layer computes on its way, which its way back takes again.

    `middle` are the rows after it.
    """

    normed: Matrix
    heads: Heads
    context: Matrix
    logs: Matrix
    middle: Matrix


def tokens_of(sequences: Sequence[tuple[int, ...]], count: Count) -> Tokens:
    """Return whole sequences as rows, one after the other."""
    return Tokens(
        inputs=tuple(token for one in sequences for token in one[:-1]),
        targets=tuple(token for one in sequences for token in one[1:]),
        places=tuple(
            (i, place) for i, one in enumerate(sequences) for place in range(len(one) - 1)
        ),
        count=count,
    )


def forward(model: Model, part: str, weights: Weights, rows: Matrix, tokens: Tokens) -> Matrix:
    """Return what a part but the output makes of its rows (of none, for the embedding)."""
    if part == EMBEDDING:
        return ends.embed(tokens.inputs, weights["tokens"])
    return feed_half(model, weights, attention_half(model, weights, rows, tokens))


def forward_kept(
    model: Model, part: str, weights: Weights, rows: Matrix, tokens: Tokens
) -> tuple[Matrix, Half | None]:
    """Return the same, and of a layer what its way back takes again."""
    if part == EMBEDDING:
        return forward(model, part, weights, rows, tokens), None
    half = halfway(model, weights, rows, tokens)
    return feed_half(model, weights, half.middle), half


def backward(
    model: Model,
    part: str,
    weights: Weights,
    rows: Matrix,
    tokens: Tokens,
    gradient: Matrix,
    half: Half | None = None,
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows that went in and of the weights.

    Everything between is computed again from the rows, unless `half` of it is given. `gradient` is
    that of the rows that came out; the output part starts from the loss and takes none.
    """
    if part == EMBEDDING:
        table = ends.embed_backward(tokens.inputs, gradient, model.vocab_size)
        return [], {"tokens": table}
    if part == OUTPUT:
        return _output_backward(weights, rows, tokens)
    half = half or halfway(model, weights, rows, tokens)
    gradient, found = feed_half_backward(model, weights, half.middle, gradient)
    gradient, others = attention_half_backward(model, weights, rows, tokens, gradient, half)
    return gradient, found | others


def loss(weights: Weights, rows: Matrix, tokens: Tokens) -> float:
    """Return these rows' part of the mean cross entropy of the step."""
    found = ends.logits(norm(rows, weights["norm"]), weights["vocabulary"])
    whole = ends.scores(found, tokens.targets, [max(row) for row in found])
    return ends.loss(whole, tokens.count)


def _output_backward(weights: Weights, rows: Matrix, tokens: Tokens) -> tuple[Matrix, Weights]:
    normed = norm(rows, weights["norm"])
    found = ends.logits(normed, weights["vocabulary"])
    whole = ends.scores(found, tokens.targets, [max(row) for row in found])
    of_logits = ends.logits_backward(found, tokens.targets, whole, tokens.count)
    of_normed, table = ends.vocabulary_backward(normed, weights["vocabulary"], of_logits)
    of_rows, of_norm = norm_backward(rows, weights["norm"], of_normed)
    return of_rows, {"norm": of_norm, "vocabulary": table}


def halfway(model: Model, weights: Weights, rows: Matrix, tokens: Tokens) -> Half:
    """Return the attention of a layer, and what it computed on its way."""
    head = head_size(model)
    normed = norm(rows, weights["attention_norm"])
    heads = project(normed, weights, tokens.places, head)
    context, logs = attend(heads.query, heads, visible(tokens.places, tokens.places), head)
    middle = add(rows, product(context, weights["out"]))
    return Half(normed=normed, heads=heads, context=context, logs=logs, middle=middle)


def attention_half(model: Model, weights: Weights, rows: Matrix, tokens: Tokens) -> Matrix:
    """Return the rows after the attention of a layer."""
    return halfway(model, weights, rows, tokens).middle


def attention_half_backward(
    model: Model,
    weights: Weights,
    rows: Matrix,
    tokens: Tokens,
    gradient: Matrix,
    half: Half | None = None,
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows before the attention of a layer, and of its weights.

    `half` is computed again from the rows where it is not given.
    """
    head, seen = head_size(model), visible(tokens.places, tokens.places)
    half = half or halfway(model, weights, rows, tokens)
    attended = Attended(
        query=half.heads.query,
        result=half.context,
        logs=half.logs,
        gradient=product_transposed(gradient, weights["out"]),
    )
    of_heads = attend_backward(attended, half.heads, seen, head)
    of_normed, found = project_backward(half.normed, weights, tokens.places, head, of_heads)
    of_rows, found["attention_norm"] = norm_backward(rows, weights["attention_norm"], of_normed)
    found["out"] = transposed_product(half.context, gradient)
    return add(gradient, of_rows), found


def feed_half(model: Model, weights: Weights, rows: Matrix) -> Matrix:
    """Return the rows after the feed-forward part, or the experts, of a layer."""
    normed = norm(rows, weights["mlp_norm"])
    if model.num_experts:
        return add(rows, mixture(normed, weights, model.experts_per_token))
    return add(rows, feed_forward(normed, weights))


def feed_half_backward(
    model: Model, weights: Weights, rows: Matrix, gradient: Matrix
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows before the feed-forward part, and of its weights."""
    normed = norm(rows, weights["mlp_norm"])
    if model.num_experts:
        of_normed, found = mixture_backward(normed, weights, model.experts_per_token, gradient)
    else:
        of_normed, found = feed_forward_backward(normed, weights, gradient)
    of_rows, found["mlp_norm"] = norm_backward(rows, weights["mlp_norm"], of_normed)
    return add(gradient, of_rows), found
