"""Forward and backward pass of each part of the model on one rank.

A part is the unit that pipelines place and sharding gathers: embedding, layer, output.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.catalog.models import Model, head_size
from engine.core.units import Count
from engine.tiny import ends
from engine.tiny.attention import (
    AttentionPass,
    Heads,
    Place,
    attend,
    attend_backward,
    project,
    project_backward,
    visible_keys,
)
from engine.tiny.experts import feed_forward, feed_forward_backward, mixture, mixture_backward
from engine.tiny.layout import EMBEDDING, OUTPUT, Weights
from engine.tiny.matrix import (
    Matrix,
    add,
    dot,
    product,
    product_transposed,
    transposed_product,
)


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
class HalfActivations:
    """Activations of a layer's attention half, reused by the backward pass.

    `middle` are the rows after it.
    """

    normed: Matrix
    heads: Heads
    context: Matrix
    logs: Matrix
    middle: Matrix


def token_rows(sequences: Sequence[tuple[int, ...]], count: Count) -> Tokens:
    """Return whole sequences as rows, one after the other."""
    return Tokens(
        inputs=tuple(token for sequence in sequences for token in sequence[:-1]),
        targets=tuple(token for sequence in sequences for token in sequence[1:]),
        places=tuple(
            (i, position)
            for i, sequence in enumerate(sequences)
            for position in range(len(sequence) - 1)
        ),
        count=count,
    )


def forward(model: Model, part: str, weights: Weights, rows: Matrix, tokens: Tokens) -> Matrix:
    """Return the output rows of a part other than the output (the embedding takes none)."""
    if part == EMBEDDING:
        return ends.embed(tokens.inputs, weights["tokens"])
    return feed_forward_half(model, weights, attention_half(model, weights, rows, tokens))


def forward_with_activations(
    model: Model, part: str, weights: Weights, rows: Matrix, tokens: Tokens
) -> tuple[Matrix, HalfActivations | None]:
    """Return the output rows, and the activations that a layer's backward pass reuses."""
    if part == EMBEDDING:
        return forward(model, part, weights, rows, tokens), None
    half = attention_activations(model, weights, rows, tokens)
    return feed_forward_half(model, weights, half.middle), half


def backward(
    model: Model,
    part: str,
    weights: Weights,
    rows: Matrix,
    tokens: Tokens,
    gradient: Matrix,
    half: HalfActivations | None = None,
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
    half = half or attention_activations(model, weights, rows, tokens)
    gradient, gradients = feed_forward_half_backward(model, weights, half.middle, gradient)
    gradient, others = attention_half_backward(model, weights, rows, tokens, gradient, half)
    return gradient, gradients | others


def loss(weights: Weights, rows: Matrix, tokens: Tokens) -> float:
    """Return these rows' part of the mean cross entropy of the step."""
    logits = ends.logits(norm(rows, weights["norm"]), weights["vocabulary"])
    whole = ends.scores(logits, tokens.targets, [max(row) for row in logits])
    return ends.loss(whole, tokens.count)


def _output_backward(weights: Weights, rows: Matrix, tokens: Tokens) -> tuple[Matrix, Weights]:
    normed = norm(rows, weights["norm"])
    logits = ends.logits(normed, weights["vocabulary"])
    whole = ends.scores(logits, tokens.targets, [max(row) for row in logits])
    of_logits = ends.logits_backward(logits, tokens.targets, whole, tokens.count)
    of_normed, table = ends.vocabulary_backward(normed, weights["vocabulary"], of_logits)
    of_rows, of_norm = norm_backward(rows, weights["norm"], of_normed)
    return of_rows, {"norm": of_norm, "vocabulary": table}


def attention_activations(
    model: Model, weights: Weights, rows: Matrix, tokens: Tokens
) -> HalfActivations:
    """Return the activations of a layer's attention half."""
    head = head_size(model)
    normed = norm(rows, weights["attention_norm"])
    heads = project(normed, weights, tokens.places, head)
    context, logs = attend(heads.query, heads, visible_keys(tokens.places, tokens.places), head)
    middle = add(rows, product(context, weights["out"]))
    return HalfActivations(normed=normed, heads=heads, context=context, logs=logs, middle=middle)


def attention_half(model: Model, weights: Weights, rows: Matrix, tokens: Tokens) -> Matrix:
    """Return the rows after the attention of a layer."""
    return attention_activations(model, weights, rows, tokens).middle


def attention_half_backward(
    model: Model,
    weights: Weights,
    rows: Matrix,
    tokens: Tokens,
    gradient: Matrix,
    half: HalfActivations | None = None,
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows before the attention of a layer, and of its weights.

    `half` is computed again from the rows where it is not given.
    """
    head, seen = head_size(model), visible_keys(tokens.places, tokens.places)
    half = half or attention_activations(model, weights, rows, tokens)
    attended = AttentionPass(
        query=half.heads.query,
        result=half.context,
        logs=half.logs,
        gradient=product_transposed(gradient, weights["out"]),
    )
    of_heads = attend_backward(attended, half.heads, seen, head)
    of_normed, gradients = project_backward(half.normed, weights, tokens.places, head, of_heads)
    of_rows, gradients["attention_norm"] = norm_backward(rows, weights["attention_norm"], of_normed)
    gradients["out"] = transposed_product(half.context, gradient)
    return add(gradient, of_rows), gradients


def feed_forward_half(model: Model, weights: Weights, rows: Matrix) -> Matrix:
    """Return the rows after the feed-forward part, or the experts, of a layer."""
    normed = norm(rows, weights["mlp_norm"])
    if model.num_experts:
        return add(rows, mixture(normed, weights, model.experts_per_token))
    return add(rows, feed_forward(normed, weights))


def feed_forward_half_backward(
    model: Model, weights: Weights, rows: Matrix, gradient: Matrix
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows before the feed-forward part, and of its weights."""
    normed = norm(rows, weights["mlp_norm"])
    if model.num_experts:
        of_normed, gradients = mixture_backward(normed, weights, model.experts_per_token, gradient)
    else:
        of_normed, gradients = feed_forward_backward(normed, weights, gradient)
    of_rows, gradients["mlp_norm"] = norm_backward(rows, weights["mlp_norm"], of_normed)
    return add(gradient, of_rows), gradients


# RMSNorm: each row divided by its root mean square, then scaled (Zhang and Sennrich 2019).

EPSILON = 1e-5


def norm(rows: Matrix, scale: Matrix) -> Matrix:
    """Return the normed rows [n, hidden]; `scale` is [1, hidden]."""
    return [
        [value * factor * weight for value, weight in zip(row, scale[0], strict=True)]
        for row, factor in zip(rows, _factors(rows), strict=True)
    ]


def norm_backward(rows: Matrix, scale: Matrix, gradient: Matrix) -> tuple[Matrix, Matrix]:
    """Return the gradients of the rows [n, hidden] and of the scale [1, hidden]."""
    back: Matrix = []
    of_scale = [0.0] * len(scale[0])
    for row, factor, upstream in zip(rows, _factors(rows), gradient, strict=True):
        scaled = [up * weight for up, weight in zip(upstream, scale[0], strict=True)]
        mean = dot(scaled, row) * factor**3 / len(row)
        back.append([up * factor - value * mean for up, value in zip(scaled, row, strict=True)])
        of_scale = [
            known + up * value * factor
            for known, up, value in zip(of_scale, upstream, row, strict=True)
        ]
    return back, [of_scale]


def _factors(rows: Matrix) -> list[float]:
    return [1 / math.sqrt(dot(row, row) / len(row) + EPSILON) for row in rows]
