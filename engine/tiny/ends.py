"""The two ends of the model: embedding, and logits with their cross entropy.

With some rows of the vocabulary only, both give their part: rows of zeros for other tokens, and
the exponentials of their own logits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.units import Count
from engine.tiny.matrix import Matrix, add_vectors, product, product_transposed, transposed_product


def embed(tokens: Sequence[int], table: Matrix, first: int = 0) -> Matrix:
    """Return the rows of `table` for the tokens; its first row stands for token `first`."""
    nothing = [0.0] * len(table[0])
    return [
        list(table[token - first]) if 0 <= token - first < len(table) else nothing
        for token in tokens
    ]


def embed_backward(tokens: Sequence[int], gradient: Matrix, rows: Count, first: int = 0) -> Matrix:
    """Return the gradient of the table, which has `rows` rows."""
    table = [[0.0] * len(gradient[0]) for _ in range(rows)]
    for token, row in zip(tokens, gradient, strict=True):
        if 0 <= token - first < rows:
            table[token - first] = add_vectors(table[token - first], row)
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Partial softmax statistics of each row over one part of the vocabulary.

    Attributes:
        tops: its largest logit.
        sums: sum of exp(logit - top), under the common top.
        hits: the target's logit; 0 if the target is elsewhere.
    """

    tops: list[float]
    sums: list[float]
    hits: list[float]


def logits(rows: Matrix, vocabulary: Matrix) -> Matrix:
    """Return the logits [n, tokens] of the rows of `vocabulary` [tokens, hidden]."""
    return product_transposed(rows, vocabulary)


def scores(logit_rows: Matrix, targets: Sequence[int], tops: list[float], first: int = 0) -> Scores:
    """Return sums and hits of logits whose largest, over the whole vocabulary, are `tops`."""
    sums = [
        math.fsum(math.exp(value - top) for value in row)
        for row, top in zip(logit_rows, tops, strict=True)
    ]
    hits = [
        row[target - first] if 0 <= target - first < len(row) else 0.0
        for row, target in zip(logit_rows, targets, strict=True)
    ]
    return Scores(tops=tops, sums=sums, hits=hits)


def loss(whole: Scores, count: Count) -> float:
    """Return the sum of the cross entropies over `count`, the targets of the whole step."""
    entropies = (
        top + math.log(total) - hit
        for top, total, hit in zip(whole.tops, whole.sums, whole.hits, strict=True)
    )
    return math.fsum(entropies) / count


def logits_backward(
    logit_rows: Matrix, targets: Sequence[int], whole: Scores, count: Count, first: int = 0
) -> Matrix:
    """Return the gradient of the logits."""
    back = []
    for row, target, top, total in zip(logit_rows, targets, whole.tops, whole.sums, strict=True):
        slopes = [math.exp(value - top) / total / count for value in row]
        if 0 <= target - first < len(row):
            slopes[target - first] -= 1 / count
        back.append(slopes)
    return back


def vocabulary_backward(
    rows: Matrix, vocabulary: Matrix, gradient: Matrix
) -> tuple[Matrix, Matrix]:
    """Return the gradients of the rows and of the vocabulary from those of the logits."""
    return product(gradient, vocabulary), transposed_product(gradient, rows)
