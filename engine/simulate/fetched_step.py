"""A step of DeepSpeed's ZeRO-3 on streams: fetches, prefetches and buckets of gradients."""

from dataclasses import dataclass
from functools import lru_cache

from engine.basis.units import Bytes, Count, Parameters, Seconds
from engine.catalog.models import MODELS
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.run.run import Run
from engine.simulate.gradient_buckets import Tensor, registered
from engine.simulate.overlap_job import Job, Setting, job
from engine.simulate.parameter_fetch import Fetched, Knobs, Visit, fetched, gathered
from engine.simulate.stream_account import Account, account
from engine.simulate.streams import COMPUTE, Op, run_listed

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
        seen: the account of its streams.
        states: that each GPU keeps.
        sent: bytes of each GPU.
        run: the job as every other page has it.
    """

    seen: Account
    states: Bytes
    sent: Bytes
    run: Run


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


@lru_cache(maxsize=64)
def _fetches(model: str, knobs: Knobs) -> tuple[tuple[Tensor, ...], Fetched]:
    tensors = registered(MODELS[model])
    return tensors, fetched([tensor.parameters for tensor in tensors], knobs)


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
    spans = run_listed(_program(base, tensors, seen, buckets))
    sizes = [tensor.parameters for tensor in tensors]
    total = sum(sizes)
    ranks = setting.data_parallel
    return FetchedStep(
        fetched=seen,
        seen=account(spans),
        gathers=plan.gathers,
        reductions=plan.reductions,
        live=plan.live,
        bucket=plan.bucket,
        persistent=plan.persistent,
        states=sharded_states(total, MIXED_PRECISION, 3, ranks).total,
        sent=_BF16 * (ranks - 1) / ranks * (gathered(sizes, seen) + total),
        run=base.run,
    )


def _program(base: Job, tensors: tuple[Tensor, ...], seen: Fetched, buckets: Buckets) -> list[Op]:
    """Return all operations in the order of the host."""
    ops: list[Op] = []
    fetch_of: dict[Count, str] = {}
    *closed, (_, last) = _closed(tensors, seen, buckets.size)
    full, reduced, before = dict(closed), 0, ""
    for place, visit in enumerate(seen.visits):
        tensor = tensors[visit.module]
        waits = [before] if before else []
        if visit.missing:
            ops.append(_gather(base, f"{place}:own", tensor.parameters, tuple(waits)))
            fetch_of[visit.module] = f"{place}:own"
        if visit.module in fetch_of:
            waits.append(fetch_of[visit.module])
        if visit.ahead:
            size = sum(tensors[module].parameters for module in visit.ahead)
            ops.append(_gather(base, f"{place}:ahead", size, tuple(waits)))
            fetch_of |= dict.fromkeys(visit.ahead, f"{place}:ahead")
        if place in full:
            ops.append(_reduction(base, reduced, full[place], before))
            waits += [] if buckets.overlap else [ops[-1].key]
            reduced += 1
        before = f"{place}:compute"
        ops.append(
            Op(
                key=before,
                stream=COMPUTE,
                time=_time(base, tensor, visit),
                after=tuple(dict.fromkeys(waits)),
            )
        )
        if visit.released:
            fetch_of.pop(visit.module, None)
    return [*ops, _reduction(base, reduced, last, before)]


def _gather(base: Job, key: str, elements: Parameters, after: tuple[str, ...]) -> Op:
    wire = base.work.data
    return Op(
        key=key,
        stream=wire.stream,
        time=wire.scatter(_BF16 * elements),
        after=after,
    )


def _reduction(base: Job, number: Count, elements: Parameters, after: str) -> Op:
    wire = base.work.data
    return Op(
        key=f"bucket {number + 1}",
        stream=wire.stream,
        time=wire.scatter(_BF16 * elements),
        after=(after,),
    )


def _time(base: Job, tensor: Tensor, visit: Visit) -> Seconds:
    """Return the tensor's part of a layer's pass, by what is multiplied."""
    matrices = base.work.parameters / base.layers
    one = base.layer.backward if visit.backward else base.layer.forward
    return one * tensor.work / matrices
