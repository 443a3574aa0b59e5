"""Attention of some heads: projections with rotary positions, scores of a block, and backward.

All matrices hold the heads side by side: [n, heads x head size]. A block is any set of queries
against any set of keys, so that one rank, and a ring of ranks that each hold some keys, run the
same code (the blockwise softmax of Dao et al. 2022). The result of a block is normalized by its
own sum; `logs` [n, heads] keeps the logarithm of that sum.
"""

import math
from dataclasses import dataclass
from functools import cache

from engine.basis.units import Count
from engine.tiny.layout import Weights
from engine.tiny.matrix import (
    Matrix,
    add,
    dot,
    product,
    product_transposed,
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
def visible(queries: tuple[Place, ...], keys: tuple[Place, ...]) -> tuple[tuple[int, ...], ...]:
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
    parts = [product_transposed(own, weights[name]) for name, own in back.items()]
    of_weights = {name: transposed_product(rows, own) for name, own in back.items()}
    return add(add(parts[0], parts[1]), parts[2]), of_weights


def rotate(rows: Matrix, places: tuple[Place, ...], head: Count, turn: float = 1.0) -> Matrix:
    """Return the rows with pairs of channels turned by their position (Su et al. 2021).

    `turn` is 1, or -1 to turn back.
    """
    turned = []
    for row, (_, position) in zip(rows, places, strict=True):
        new = list(row)
        for i in range(0, len(row), 2):
            cosine, sine = _turn(position, i % head, head, turn)
            new[i] = row[i] * cosine - row[i + 1] * sine
            new[i + 1] = row[i] * sine + row[i + 1] * cosine
        turned.append(new)
    return turned


@cache
def _turn(position: int, channel: int, head: Count, turn: float) -> tuple[float, float]:
    angle = turn * position * 10_000.0 ** (-channel / head)
    return math.cos(angle), math.sin(angle)


Seen = tuple[tuple[int, ...], ...]


def attend(query: Matrix, block: Heads, seen: Seen, head: Count) -> tuple[Matrix, Matrix]:
    """Return the result [n, heads x head] and `logs` [n, heads] of one block of keys.

    A query that sees no key of the block gets zeros and a logarithm of minus infinity.
    """
    width = len(query[0])
    result, logs = zeros(len(query), width), zeros(len(query), width // head)
    for i, row in enumerate(query):
        for number, start in enumerate(range(0, width, head)):
            cut = slice(start, start + head)
            scores = [dot(row[cut], block.key[j][cut]) / math.sqrt(head) for j in seen[i]]
            top = max(scores, default=-math.inf)
            powers = [math.exp(score - top) for score in scores]
            total = sum(powers)
            logs[i][number] = top + math.log(total) if seen[i] else -math.inf
            for power, j in zip(powers, seen[i], strict=True):
                for channel in range(start, start + head):
                    result[i][channel] += power / total * block.value[j][channel]
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
class Attended:
    """Finished attention of some queries: over all keys, and the gradient that came back."""

    query: Matrix
    result: Matrix
    logs: Matrix
    gradient: Matrix


def attend_backward(done: Attended, block: Heads, seen: Seen, head: Count) -> Heads:
    """Return this block's part of the gradients of queries, keys and values."""
    width = len(done.query[0])
    back = Heads(
        query=zeros(len(done.query), width),
        key=zeros(len(block.key), width),
        value=zeros(len(block.key), width),
    )
    root = math.sqrt(head)
    for i, keys in enumerate(seen):
        for number, start in enumerate(range(0, width, head)):
            cut = slice(start, start + head)
            query, upstream = done.query[i][cut], done.gradient[i][cut]
            mean = dot(upstream, done.result[i][cut])
            for j in keys:
                key, value = block.key[j], block.value[j]
                share = math.exp(dot(query, key[cut]) / root - done.logs[i][number])
                slope = share * (dot(upstream, value[cut]) - mean) / root
                for k in range(head):
                    back.query[i][start + k] += slope * key[start + k]
                    back.key[j][start + k] += slope * query[k]
                    back.value[j][start + k] += share * upstream[k]
    return back
