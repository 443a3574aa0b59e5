"""Attention of some heads: projections with rotary positions, scores of a block, and backward.

All matrices hold the heads side by side: [n, heads x head size]. A block is any set of queries
against any set of keys, so that one rank, and a ring of ranks that each hold some keys, run the
same code (the blockwise softmax of Dao et al. 2022). The result of a block is normalized by its
own sum; `logs` [n, heads] keeps the logarithm of that sum.
"""

import math
from dataclasses import dataclass
from functools import cache
from operator import add as plus

from engine.core.units import Count
from engine.tiny.layout import Weights
from engine.tiny.matrix import (
    Matrix,
    Vector,
    add,
    dot,
    product,
    product_transposed,
    select_columns,
    transposed_product,
    zeros,
)

# Which sequence a row belongs to, and its position there.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """Queries, keys and values of some rows, positions worked in."""

    query: Matrix
    key: Matrix
    value: Matrix


@cache
def visible_keys(
    queries: tuple[Place, ...], keys: tuple[Place, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return the keys that each query may see: of its own sequence, not after it."""
    return tuple(
        tuple(
            index
            for index, (other, position) in enumerate(keys)
            if other == sequence and position <= place
        )
        for sequence, place in queries
    )


def project(rows: Matrix, weights: Weights, places: tuple[Place, ...], head: Count) -> Heads:
    """Return queries, keys and values of the heads in `weights`."""
    return Heads(
        query=rotate(product(rows, weights["query"]), places, head),
        key=rotate(product(rows, weights["key"]), places, head),
        value=product(rows, weights["value"]),
    )


def project_backward(
    rows: Matrix, weights: Weights, places: tuple[Place, ...], head: Count, gradient: Heads
) -> tuple[Matrix, Weights]:
    """Return the gradients of the rows and of the three matrices."""
    back = {
        "query": rotate(gradient.query, places, head, turn=-1.0),
        "key": rotate(gradient.key, places, head, turn=-1.0),
        "value": gradient.value,
    }
    parts = [product_transposed(slopes, weights[name]) for name, slopes in back.items()]
    of_weights = {name: transposed_product(rows, slopes) for name, slopes in back.items()}
    return add(add(parts[0], parts[1]), parts[2]), of_weights


def rotate(rows: Matrix, places: tuple[Place, ...], head: Count, turn: float = 1.0) -> Matrix:
    """Return the rows with pairs of channels turned by their position (Su et al. 2021).

    `turn` is 1, or -1 to turn back.
    """
    turned = []
    for row, (_, position) in zip(rows, places, strict=True):
        new: Vector = []
        turns = _turns(position, len(row), head, turn)
        for even, odd, (cosine, sine) in zip(row[::2], row[1::2], turns, strict=True):
            new += (even * cosine - odd * sine, even * sine + odd * cosine)
        turned.append(new)
    return turned


@cache
def _turns(
    position: int, width: Count, head: Count, turn: float
) -> tuple[tuple[float, float], ...]:
    """Return cosine and sine of the angle of every pair of channels."""
    angles = (turn * position * 10_000.0 ** (-(i % head) / head) for i in range(0, width, 2))
    return tuple((math.cos(angle), math.sin(angle)) for angle in angles)


VisibleKeys = tuple[tuple[int, ...], ...]


def attend(query: Matrix, block: Heads, seen: VisibleKeys, head: Count) -> tuple[Matrix, Matrix]:
    """Return the result [n, heads x head] and `logs` [n, heads] of one block of keys.

    A query that sees no key of the block gets zeros and a logarithm of minus infinity.
    """
    width = len(query[0])
    result: Matrix = [[] for _ in query]
    logs = zeros(len(query), width // head)
    root = math.sqrt(head)
    for number, start in enumerate(range(0, width, head)):
        cut = slice(start, start + head)
        keys, values = select_columns(block.key, cut), select_columns(block.value, cut)
        for i, row in enumerate(query):
            head_query = row[cut]
            scores = [dot(head_query, keys[j]) / root for j in seen[i]]
            top = max(scores, default=-math.inf)
            powers = [math.exp(score - top) for score in scores]
            total = math.fsum(powers)
            logs[i][number] = top + math.log(total) if seen[i] else -math.inf
            sums = [0.0] * head
            for power, j in zip(powers, seen[i], strict=True):
                # Heads are so small that a loop of Python's own costs more than its sums.
                sums = list(map(plus, sums, map((power / total).__mul__, values[j])))
            result[i] += sums
    return result, logs


def merge(
    result: Matrix, logs: Matrix, other: Matrix, other_logs: Matrix, head: Count
) -> tuple[Matrix, Matrix]:
    """Return the result and logarithms of two blocks of keys taken together."""
    merged, sums = [list(row) for row in result], [list(row) for row in logs]
    for i, row in enumerate(logs):
        for number, (own, new) in enumerate(zip(row, other_logs[i], strict=True)):
            if new == -math.inf:
                continue
            top = max(own, new)
            sums[i][number] = top + math.log(math.exp(own - top) + math.exp(new - top))
            keep, take = math.exp(own - sums[i][number]), math.exp(new - sums[i][number])
            for channel in range(number * head, (number + 1) * head):
                merged[i][channel] = keep * result[i][channel] + take * other[i][channel]
    return merged, sums


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionPass:
    """Finished attention of some queries: over all keys, and the gradient that came back."""

    query: Matrix
    result: Matrix
    logs: Matrix
    gradient: Matrix


def attend_backward(attended: AttentionPass, block: Heads, seen: VisibleKeys, head: Count) -> Heads:
    """Return this block's part of the gradients of queries, keys and values."""
    width = len(attended.query[0])
    back: tuple[Matrix, ...] = tuple([[] for _ in rows] for rows in (seen, block.key, block.value))
    for number, start in enumerate(range(0, width, head)):
        cut = slice(start, start + head)
        head_pass = AttentionPass(
            query=select_columns(attended.query, cut),
            result=select_columns(attended.result, cut),
            logs=select_columns(attended.logs, slice(number, number + 1)),
            gradient=select_columns(attended.gradient, cut),
        )
        keys, values = select_columns(block.key, cut), select_columns(block.value, cut)
        for rows, slopes in zip(
            back, _one_head_backward(head_pass, keys, values, seen), strict=True
        ):
            for row, more in zip(rows, slopes, strict=True):
                row += more
    return Heads(query=back[0], key=back[1], value=back[2])


def _one_head_backward(
    attended: AttentionPass, keys: Matrix, values: Matrix, seen: VisibleKeys
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the gradients of queries, keys and values of a head."""
    head = len(attended.query[0])
    root = math.sqrt(head)
    of_query, of_key, of_value = (zeros(len(rows), head) for rows in (seen, keys, keys))
    for i, (query, upstream) in enumerate(zip(attended.query, attended.gradient, strict=True)):
        mean, own = dot(upstream, attended.result[i]), of_query[i]
        for j in seen[i]:
            key, value = keys[j], values[j]
            share = math.exp(dot(query, key) / root - attended.logs[i][0])
            slope = share * (dot(upstream, value) - mean) / root
            own = list(map(plus, own, map(slope.__mul__, key)))
            of_key[j] = list(map(plus, of_key[j], map(slope.__mul__, query)))
            of_value[j] = list(map(plus, of_value[j], map(share.__mul__, upstream)))
        of_query[i] = own
    return of_query, of_key, of_value
