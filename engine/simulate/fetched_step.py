"""A step of DeepSpeed's ZeRO-3 on streams: fetches, prefetches and buckets of gradients."""

from dataclasses import dataclass
from functools import lru_cache

from engine.basis.units import Bytes, Count, Parameters, Seconds
from engine.catalog.models import MODELS
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.run.file import Run
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
class FetchedStep:
    """A step that ran.

    Attributes:
        fetched: what was gathered when.
        seen: the account of its streams.
        gathers, reductions: collectives.
        live: gathered parameters, at most.
        bucket: buffer of the gradients, allocated whole.
        persistent: parameters that are never divided.
        states: that each GPU keeps.
        sent: bytes of each GPU.
        run: the job as every other page has it.
    """

    fetched: Fetched
    seen: Account
    gathers: Count
    reductions: Count
    live: Bytes
    bucket: Bytes
    persistent: Bytes
    states: Bytes
    sent: Bytes
    run: Run

    @property
    def buffers(self) -> Bytes:
        """What the settings cost beside the states."""
        return self.live + self.bucket + self.persistent


@lru_cache(maxsize=64)
def fetched_step(setting: Setting, knobs: Knobs, buckets: Buckets) -> FetchedStep:
    """Return the step of a dense model under ZeRO-3, one micro-batch.

    The host is taken to stand at the module that computes: a module's own fetch starts when the
    module before it has ended, and what is fetched ahead starts beside the module's computation.
    A host that runs ahead of the GPU hides more.
    """
    base = job(setting)
    tensors = registered(MODELS[setting.model])
    sizes = [tensor.parameters for tensor in tensors]
    seen = fetched(sizes, knobs)
    ops, reduced = _program(base, tensors, seen, buckets)
    spans = run_listed(ops)
    total = sum(sizes)
    ranks = setting.data_parallel
    return FetchedStep(
        fetched=seen,
        seen=account(spans),
        gathers=seen.calls,
        reductions=len(reduced),
        live=_BF16 * seen.live,
        bucket=_BF16 * buckets.size,
        persistent=_BF16 * seen.persistent,
        states=sharded_states(total, MIXED_PRECISION, 3, ranks).total,
        sent=_BF16 * (ranks - 1) / ranks * (gathered(sizes, seen) + total),
        run=base.run,
    )


def _program(
    base: Job, tensors: tuple[Tensor, ...], seen: Fetched, buckets: Buckets
) -> tuple[list[Op], list[Op]]:
    """Return all operations in the order of the host, and those of them that reduce."""
    ops: list[Op] = []
    reduced: list[Op] = []
    fetch_of: dict[Count, str] = {}
    held, before = 0.0, ""
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
        if visit.backward and held and held + tensor.parameters > buckets.size:
            reduced.append(_reduction(base, len(reduced), held, before))
            ops.append(reduced[-1])
            waits += [] if buckets.overlap else [reduced[-1].key]
            held = 0.0
        before = f"{place}:compute"
        ops.append(
            Op(
                key=before,
                stream=COMPUTE,
                time=_time(base, tensor, visit),
                after=tuple(dict.fromkeys(waits)),
            )
        )
        held += tensor.parameters if visit.backward else 0.0
        if visit.released:
            fetch_of.pop(visit.module, None)
    reduced.append(_reduction(base, len(reduced), held, before))
    return [*ops, reduced[-1]], reduced


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
