"""Training on four ranks that send less than their gradients, with and without error feedback."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from engine.catalog.models import TINY_260
from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import Count, Share
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets, rank_sequences
from engine.tiny.layout import Tensor, tensors
from engine.tiny.matrix import (
    Matrix,
    Vector,
    add_vectors,
    dot,
    flatten_rows,
    product,
    product_transposed,
    split_rows,
    transposed_product,
)
from engine.tiny.single import loss_and_gradient, loss_of

# Gradient compressors: none, top-k, signs, and low rank.
#
# Every compressor is a round of real messages between all ranks. It returns the sum that all ranks
# then hold, and what each rank's own part of it was, from which the rest follows.

KIND = "gradients"
# Signs are packed into whole numbers of so many bits, as four bytes hold.
_BITS: Count = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedSum:
    """Result of one round of a compressor.

    Attributes:
        total: the sum that every rank holds.
        sent: by rank, what of its vector is in that sum.
    """

    total: Vector
    sent: list[Vector]


def sum_whole(exchange: Exchange, vectors: Sequence[Vector]) -> CompressedSum:
    """Return the sum of everything: an all-reduce."""
    return CompressedSum(
        total=exchange.all_reduce(vectors, KIND)[0], sent=[list(vector) for vector in vectors]
    )


def sum_largest(exchange: Exchange, vectors: Sequence[Vector], share: Share) -> CompressedSum:
    """Return the sum of each rank's largest numbers (Strom 2015; Lin et al. 2018).

    Every rank keeps other places, so places travel beside values and nothing can be added on the
    way: an all-gather, after which every rank adds for itself.
    """
    size = len(vectors[0])
    keep = num_kept(size, share)
    parts = []
    for vector in vectors:
        sizes = list(map(abs, vector))
        places = sorted(range(size), key=sizes.__getitem__, reverse=True)[:keep]
        parts.append([*map(float, places), *(vector[i] for i in places)])
    gathered = exchange.all_gather(parts, KIND)[0]
    sent = [
        _scatter(gathered[rank * 2 * keep :][: 2 * keep], keep, size)
        for rank in range(len(vectors))
    ]
    return CompressedSum(total=_sum(sent), sent=sent)


def num_kept(size: Count, share: Share) -> Count:
    """Return the size of a share of a vector, at least one."""
    return max(1, round(share * size))


def _scatter(part: Vector, keep: Count, size: Count) -> Vector:
    vector = [0.0] * size
    for index, value in zip(part[:keep], part[keep:], strict=True):
        vector[int(index)] = value
    return vector


def sum_signs(exchange: Exchange, vectors: Sequence[Vector]) -> CompressedSum:
    """Return the sum of each rank's signs, times its mean size in every tensor.

    One bit a number (Seide et al. 2014), with one scale for each tensor (Karimireddy et al. 2019).
    Bits cannot be added on the way either: an all-gather.
    """
    size, each = len(vectors[0]), tensors(TINY_260)
    parts = []
    for vector in vectors:
        scales = [
            math.fsum(map(abs, vector[tensor.start : tensor.start + tensor.size])) / tensor.size
            for tensor in each
        ]
        parts.append([*_pack_signs(vector), *scales])
    gathered = exchange.all_gather(parts, KIND)[0]
    length, words = len(parts[0]), -(-size // _BITS)
    sent = []
    for rank in range(len(vectors)):
        part = gathered[rank * length : (rank + 1) * length]
        bits = _unpack_signs(part[:words], size)
        scaled: Vector = []
        for tensor, scale in zip(each, part[words:], strict=True):
            scaled += [scale * bit for bit in bits[tensor.start : tensor.start + tensor.size]]
        sent.append(scaled)
    return CompressedSum(total=_sum(sent), sent=sent)


def _pack_signs(vector: Vector) -> Vector:
    """Return the signs as numbers of 32 bits."""
    return [
        float(sum(1 << i for i, number in enumerate(vector[start : start + _BITS]) if number >= 0))
        for start in range(0, len(vector), _BITS)
    ]


def _unpack_signs(words: Vector, size: Count) -> Vector:
    bits = [1.0 if int(word) >> i & 1 else -1.0 for word in words for i in range(_BITS)]
    return bits[:size]


@dataclass(slots=True)
class LowRank:
    """PowerSGD (Vogels et al. 2019): every matrix as a thin product, found by one power iteration.

    Attributes:
        rank: columns of the factors; a matrix that is thinner is sent as thin as it is.
        right: the last right factor of every tensor, where the next iteration starts.
    """

    rank: Count
    right: dict[int, Matrix] = field(default_factory=dict)

    def __call__(self, exchange: Exchange, vectors: Sequence[Vector]) -> CompressedSum:
        """Return the sum of all ranks as thin products; vectors are summed as they are.

        Factors are sums over ranks, so they can be added on the way: two all-reduces. As in
        PyTorch's hook, a rank takes an equal part of the common product for what it sent.
        """
        ranks = len(vectors)
        total: Vector = []
        for tensor in tensors(TINY_260):
            cut = [vector[tensor.start : tensor.start + tensor.size] for vector in vectors]
            if tensor.rows == 1:
                total += exchange.all_reduce(cut, KIND)[0]
            else:
                total += self._matrix(
                    exchange,
                    tensor,
                    [split_rows(rank_numbers, tensor.columns) for rank_numbers in cut],
                )
        part = [number / ranks for number in total]
        return CompressedSum(total=total, sent=[list(part) for _ in range(ranks)])

    def _matrix(self, exchange: Exchange, tensor: Tensor, parts: Sequence[Matrix]) -> Vector:
        width = min(self.rank, tensor.rows, tensor.columns)
        start = self.right.get(tensor.start) or _initial_factor(tensor.columns, width)
        left = _sum_factors(exchange, [product(part, start) for part in parts], width)
        left = orthonormal(left)
        right = _sum_factors(exchange, [transposed_product(part, left) for part in parts], width)
        self.right[tensor.start] = right
        return flatten_rows(product_transposed(left, right))


def _sum_factors(exchange: Exchange, factors: Sequence[Matrix], width: Count) -> Matrix:
    return split_rows(
        exchange.all_reduce([flatten_rows(factor) for factor in factors], KIND)[0], width
    )


def _initial_factor(rows: Count, columns: Count) -> Matrix:
    """Return a right factor to start with, alike on all ranks: waves of different lengths."""
    return [[math.cos((i + 1) * (j + 1)) for j in range(columns)] for i in range(rows)]


def orthonormal(matrix: Matrix) -> Matrix:
    """Return the columns made orthogonal and of length one, one after the other (Gram-Schmidt)."""
    done: Matrix = []
    for column in zip(*matrix, strict=True):
        residual = list(column)
        for other in done:
            along = dot(residual, other)
            residual = [a - along * b for a, b in zip(residual, other, strict=True)]
        # What is left of a column that the others already span is rounding, and no direction.
        length = math.hypot(*residual)
        kept = length > _ROUNDING * math.hypot(*column)
        done.append([a / length if kept else 0.0 for a in residual])
    return [list(row) for row in zip(*done, strict=True)]


def _sum(vectors: Sequence[Vector]) -> Vector:
    total = [0.0] * len(vectors[0])
    for vector in vectors:
        total = add_vectors(total, vector)
    return total


RANKS: Count = 4
STEPS: Count = 48
RATE: float = 0.2
# One sequence of three predicted tokens for each rank.
JOB = TinyJob(batch=example_batch(RANKS, 3), steps=STEPS, learning_rate=RATE)

Compressor = Callable[[Exchange, Sequence[Vector]], CompressedSum]
# A sum that is off by less is off by rounding alone, which another machine does otherwise.
_ROUNDING: Share = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedStep:
    """One compressed step of the first rank.

    Attributes:
        wanted: its gradient, and what it still owes, if it keeps that.
        sent: what of it went into the sum.
        left: the rest.
    """

    wanted: tuple[float, ...]
    sent: tuple[float, ...]
    left: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedTraining:
    """A training with one compressor.

    Attributes:
        losses: before every step, and after the last.
        sent: numbers that the busiest rank sends in a step.
        moments: of the first rank, step by step.
        off: by step, how far the applied sum is from that of the same gradients, over its length.
    """

    losses: tuple[float, ...]
    sent: Count
    moments: tuple[CompressedStep, ...]
    off: tuple[Share, ...]

    @property
    def last(self) -> float:
        """The loss after the last step."""
        return self.losses[-1]


def train(
    method: str, keep: Share = 1.0, rank: Count = 1, *, feedback: bool = True
) -> CompressedTraining:
    """Return the training at once; see `start_training`."""
    return run_to_end(start_training(method, keep, rank, feedback=feedback).rest())


@lru_cache(maxsize=64)
def start_training(
    method: str, keep: Share = 1.0, rank: Count = 1, *, feedback: bool = True
) -> SlicedRun[CompressedTraining]:
    """Return the training as cooperative steps of plain gradient descent.

    Args:
        method: "whole", "largest", "signs" or "low_rank".
        keep: share of the numbers that "largest" sends.
        rank: columns of the factors that "low_rank" sends.
        feedback: whether a rank adds to its next gradient what it has not sent (Seide et al. 2014).
    """
    return SlicedRun(_steps(_compressor(method, keep, rank), feedback=feedback))


def _steps(compress: Compressor, *, feedback: bool) -> Slices[CompressedTraining]:
    exchange = Exchange(RANKS)
    parameters = initial_parameters(TINY_260)
    owed = [[0.0] * len(parameters) for _ in range(RANKS)]
    losses, moments, off = [], [], []
    for step in range(STEPS):
        yield step_progress(step, STEPS)
        loss, gradients = _gradients(parameters)
        losses.append(loss)
        wanted = [add_vectors(*pair) for pair in zip(gradients, owed, strict=True)]
        summed = compress(exchange, wanted)
        unsent = [
            [value - sent for value, sent in zip(*pair, strict=True)]
            for pair in zip(wanted, summed.sent, strict=True)
        ]
        off.append(_relative_error(summed.total, gradients))
        moments.append(
            CompressedStep(
                wanted=tuple(wanted[0]), sent=tuple(summed.sent[0]), left=tuple(unsent[0])
            )
        )
        if feedback:
            owed = unsent
        parameters = [p - RATE * g for p, g in zip(parameters, summed.total, strict=True)]
    count = num_targets(JOB)
    last = [
        loss_of(TINY_260, parameters, rank_sequences(JOB, rank, RANKS), count)
        for rank in range(RANKS)
    ]
    losses.append(math.fsum(last))
    return CompressedTraining(
        losses=tuple(losses),
        sent=max(exchange.sent["gradients"]) // STEPS,
        moments=tuple(moments),
        off=tuple(off),
    )


def _compressor(method: str, keep: Share, rank: Count) -> Compressor:
    if method == "largest":
        return lambda exchange, vectors: sum_largest(exchange, vectors, keep)
    if method == "low_rank":
        return LowRank(rank)
    return {"whole": sum_whole, "signs": sum_signs}[method]


def _gradients(parameters: Vector) -> tuple[float, list[Vector]]:
    """Return the loss of the step, and each rank's part of its gradient."""
    count = num_targets(JOB)
    results = [
        loss_and_gradient(TINY_260, parameters, rank_sequences(JOB, rank, RANKS), count)
        for rank in range(RANKS)
    ]
    return math.fsum(loss for loss, _ in results), [gradient for _, gradient in results]


def _relative_error(total: Vector, gradients: Sequence[Vector]) -> Share:
    right = [math.fsum(numbers) for numbers in zip(*gradients, strict=True)]
    apart = [value - expected for value, expected in zip(total, right, strict=True)]
    off = math.hypot(*apart) / math.hypot(*right)
    return off if off > _ROUNDING else 0.0
