"""A step of DeepSpeed's ZeRO-3 on streams: fetches, prefetches and buckets of gradients."""

from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import MODELS
from engine.core.units import Bytes, Count, Parameters, Seconds
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.simulate.data_parallel.gradient_buckets import Tensor, registered
from engine.simulate.data_parallel.parameter_fetch import (
    Fetched,
    Knobs,
    fetched,
    gathered,
    same_fetches,
)
from engine.simulate.overlap.overlap_job import Job, Setting, job
from engine.simulate.step.prediction_evidence import Evidence
from engine.simulate.streams.stream_account import Stretch, Timed, timed

BUCKET: Parameters = 5e8
_BF16: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """How gradients are reduced.

    Attributes:
        size: `reduce_bucket_size`, elements.
        overlap: `overlap_comm`; off, reductions stand in the compute stream.
    """

    size: Parameters = BUCKET
    overlap: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a step gathers and keeps, whatever it takes.

    Attributes:
        fetched: what was gathered when.
        gathers, reductions: collectives.
        live: gathered parameters, at most.
        bucket: buffer of the gradients, allocated whole.
        persistent: parameters that are never divided.
    """

    fetched: Fetched
    gathers: Count
    reductions: Count
    live: Bytes
    bucket: Bytes
    persistent: Bytes

    @property
    def buffers(self) -> Bytes:
        """What the settings cost beside the states."""
        return self.live + self.bucket + self.persistent


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedStep(Planned):
    """A step that ran.

    Attributes:
        seen: the times of its streams.
        states: that each GPU keeps.
        sent: bytes of each GPU.
        evidence: on which a prediction of the step rests.
    """

    seen: Timed
    states: Bytes
    sent: Bytes
    evidence: Evidence


def planned(model: str, knobs: Knobs, buckets: Buckets) -> Planned:
    """Return what the step of `fetched_step` gathers and keeps; nothing is played."""
    tensors, seen = _fetches(model, knobs)
    return Planned(
        fetched=seen,
        gathers=seen.calls,
        reductions=len(_closed(tensors, seen, buckets.size)),
        live=_BF16 * seen.live,
        bucket=_BF16 * buckets.size,
        persistent=_BF16 * seen.persistent,
    )


def _fetches(model: str, knobs: Knobs) -> tuple[tuple[Tensor, ...], Fetched]:
    tensors = registered(MODELS[model])
    sizes = tuple(tensor.parameters for tensor in tensors)
    return tensors, _fetched(sizes, same_fetches(sizes, knobs))


_fetched = lru_cache(maxsize=64)(fetched)


def _closed(
    tensors: tuple[Tensor, ...], seen: Fetched, size: Parameters
) -> tuple[tuple[Count, Parameters], ...]:
    """Return (visit before which a bucket is closed, its elements); the last at the end."""
    found: list[tuple[Count, Parameters]] = []
    held = 0.0
    for place, visit in enumerate(seen.visits):
        if not visit.backward:
            continue
        elements = tensors[visit.module].parameters
        if held and held + elements > size:
            found.append((place, held))
            held = 0.0
        held += elements
    return *found, (len(seen.visits), held)


@lru_cache(maxsize=64)
def fetched_step(setting: Setting, knobs: Knobs, buckets: Buckets) -> FetchedStep:
    """Return the step of a dense model under ZeRO-3, one micro-batch.

    The host is taken to stand at the module that computes: a module's own fetch starts when the
    module before it has ended, and what is fetched ahead starts beside the module's computation.
    A host that runs ahead of the GPU hides more.
    """
    base, plan = job(setting), planned(setting.model, knobs, buckets)
    tensors, seen = _fetches(setting.model, knobs)
    sizes = [tensor.parameters for tensor in tensors]
    total = sum(sizes)
    ranks = setting.data_parallel
    return FetchedStep(
        fetched=seen,
        seen=_played(base, tensors, seen, buckets),
        gathers=plan.gathers + bool(seen.persistent),
        reductions=plan.reductions,
        live=plan.live,
        bucket=plan.bucket,
        persistent=plan.persistent,
        states=sharded_states(total, MIXED_PRECISION, 3, ranks).total,
        sent=_BF16 * (ranks - 1) / ranks * (gathered(sizes, seen) + total + seen.persistent),
        evidence=base.evidence,
    )


def _played(base: Job, tensors: tuple[Tensor, ...], seen: Fetched, buckets: Buckets) -> Timed:
    """Play all operations in the order of the host, which is the order of both streams."""
    *closed, (_, last) = _closed(tensors, seen, buckets.size)
    full = dict(closed)
    matrices, scatter = base.work.parameters / base.layers, base.work.data.scatter
    # By module, its part of a layer's pass by what is multiplied: forward, and backward.
    passes = [
        [one * tensor.work / matrices for tensor in tensors]
        for one in (base.layer.forward, base.layer.backward)
    ]
    computing: list[Stretch] = []
    sending: list[Stretch] = []
    gathered_at: dict[Count, Seconds] = {}  # module -> end of its last gather
    now = 0.0  # the end of the last computation

    def send(elements: Parameters, ready: Seconds) -> Seconds:
        start = max(ready, sending[-1][1] if sending else 0.0)
        sending.append((start, start + scatter(_BF16 * elements)))
        return sending[-1][1]

    for place, (module, backward, missing, ahead, _, released) in enumerate(seen.visits):
        if missing:
            gathered_at[module] = send(tensors[module].parameters, now)
        start = max(now, gathered_at.get(module, 0.0))
        if ahead:
            end = send(sum(tensors[other].parameters for other in ahead), start)
            gathered_at |= dict.fromkeys(ahead, end)
        if place in full:
            end = send(full[place], now)
            start = start if buckets.overlap else max(start, end)
        now = start + passes[backward][module]
        computing.append((start, now))
        if released:
            gathered_at.pop(module, None)
    send(last, now)
    if seen.persistent:  # DeepSpeed gathers them after each update, with nothing beside it
        send(seen.persistent, now)
    return timed(computing, sending)
