"""The gradients of the tiny model in buckets: computed part by part, summed bucket by bucket."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.core.units import Count
from engine.tiny.data import gradients_by_part
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob, example_batch, initial_parameters, num_targets, rank_sequences
from engine.tiny.layout import part_names, part_range, tensors
from engine.tiny.matrix import Vector
from engine.tiny.result import sent_numbers
from engine.tiny.single import loss_and_gradient

BATCH = example_batch(8, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyBucket:
    """A gradient bucket: tensors that are all-reduced together.

    Attributes:
        places: of their numbers in the flat vector, in the order in which they were packed.
        after: turns of the backward pass that must have ended before it is complete.
    """

    places: tuple[int, ...]
    after: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTurn:
    """One turn of both streams; a part's backward pass takes as long as a bucket's all-reduce.

    Attributes:
        part: whose backward pass runs; empty if none does.
        bucket: whose all-reduce runs, from 0; -1 if none does.
        ready: places whose local gradients were there before.
        summed: places whose sums were.
        sent: numbers that each rank has sent after it.
    """

    part: str
    bucket: int
    ready: frozenset[int]
    summed: frozenset[int]
    sent: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRecord:
    """A backward pass on several ranks.

    Attributes:
        buckets: in the order of their all-reduces.
        local: of every rank, its own gradient.
        sums: over the ranks, as they came out of the buckets.
        alone: the gradient that one GPU finds for all sequences.
        turns: in the order of time.
    """

    buckets: tuple[TinyBucket, ...]
    local: tuple[Vector, ...]
    sums: Vector
    alone: Vector
    turns: tuple[StreamTurn, ...]

    @property
    def off(self) -> float:
        """The largest difference between a sum and one GPU's gradient, of the largest gradient."""
        largest = max(map(abs, self.alone))
        pairs = zip(self.sums, self.alone, strict=True)
        return max(abs(value - expected) for value, expected in pairs) / largest

    @property
    def exposed(self) -> Count:
        """Turns in which buckets are summed and nothing is computed."""
        return sum(1 for turn in self.turns if not turn.part)


@lru_cache(maxsize=64)
def bucket_record(ranks: Count, capacity: Count, *, ready: bool) -> BucketRecord:
    """Return the backward pass of one step.

    Args:
        ranks: GPUs, each with its own sequences.
        capacity: a bucket is closed by the tensor that brings it to so many numbers or beyond.
        ready: packed in the order of the backward pass, not in that of the forward pass.
    """
    job = TinyJob(batch=BATCH)
    model, vector = job.model, initial_parameters(job.model)
    local = []
    for rank in range(ranks):
        rank_gradient: Vector = [0.0] * len(vector)
        for part, gradient in gradients_by_part(job, vector, rank_sequences(job, rank, ranks)):
            places = part_range(model, part)
            rank_gradient[places.start : places.stop] = gradient
        local.append(rank_gradient)
    buckets = _pack_buckets(job, capacity, ready=ready)
    exchange = Exchange(ranks)
    sums: Vector = [0.0] * len(vector)
    sent = []
    for bucket in buckets:
        buffers = [[rank_gradient[place] for place in bucket.places] for rank_gradient in local]
        total = exchange.all_reduce(buffers, "gradients")[0]
        for place, number in zip(bucket.places, total, strict=True):
            sums[place] = number
        sent.append(max(sent_numbers(exchange).get("gradients", (0,))))
    _, alone = loss_and_gradient(model, vector, job.batch, num_targets(job))
    return BucketRecord(
        buckets=buckets,
        local=tuple(local),
        sums=sums,
        alone=alone,
        turns=tuple(_turns(job, buckets, sent)),
    )


def _pack_buckets(job: TinyJob, capacity: Count, *, ready: bool) -> tuple[TinyBucket, ...]:
    order = list(tensors(job.model))
    turn = {part: at for at, part in enumerate(reversed(part_names(job.model)))}
    buckets: list[TinyBucket] = []
    indices: list[int] = []
    after = 0
    for tensor in reversed(order) if ready else order:
        indices += range(tensor.start, tensor.start + tensor.size)
        after = max(after, turn[tensor.part] + 1)
        if len(indices) >= capacity:
            buckets.append(TinyBucket(places=tuple(indices), after=after))
            indices, after = [], 0
    if indices:
        buckets.append(TinyBucket(places=tuple(indices), after=after))
    return tuple(buckets)


def _turns(job: TinyJob, buckets: Sequence[TinyBucket], sent: Sequence[Count]) -> list[StreamTurn]:
    parts = list(reversed(part_names(job.model)))
    turns: list[StreamTurn] = []
    ready: frozenset[int] = frozenset()
    summed: frozenset[int] = frozenset()
    done = 0
    while done < len(buckets) or len(turns) < len(parts):
        at = len(turns)
        part = parts[at] if at < len(parts) else ""
        runs = done < len(buckets) and buckets[done].after <= at
        moved = sent[done] if runs else (sent[done - 1] if done else 0)
        turns.append(
            StreamTurn(
                part=part, bucket=done if runs else -1, ready=ready, summed=summed, sent=moved
            )
        )
        if part:
            ready |= frozenset(part_range(job.model, part))
        if runs:
            summed |= frozenset(buckets[done].places)
            done += 1
    return turns
