"""Step programs with replicated parameters and several gradient reductions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from engine.core.units import Bytes, Count
from engine.simulate.programs._buckets import LayerBucket, bucket_parameters, pack_layer_buckets
from engine.simulate.programs._passes import LayerPass, append_pass, pass_ops, sequential_passes
from engine.simulate.streams.streams import COMPUTE, StreamOp
from engine.simulate.streams.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientReduction:
    """Method of gradient reduction.

    Attributes:
        cap: a bucket is closed at so many bytes; 0: every tensor alone.
        overlapped: buckets are reduced as they are ready; otherwise after the last backward pass.
        every: after every micro-batch; otherwise only after the last.
        scattered: reduce-scattered to the rank that owns their optimizer states, which is why
            updated parameters are gathered at the start of the step.
    """

    cap: Bytes
    overlapped: bool = True
    every: bool = False
    scattered: bool = False


def replicated_step(work: Workload, style: GradientReduction) -> tuple[StreamOp, ...]:
    """Return the operations of one step with replicated parameters."""
    plan = pack_layer_buckets(work, style.cap) if work.data.ranks > 1 else []
    ops = [_gather(work, bucket) for bucket in reversed(plan)] if style.scattered else []
    sums = {bucket.number: _reduction_op(work, style, bucket) for bucket in plan}
    slots = sequential_passes(work)
    pending: list[StreamOp] = []
    ending: dict[int, list[LayerBucket]] = {}
    gathers: dict[int, list[str]] = {}
    for bucket in plan:
        ending.setdefault(bucket.last, []).append(bucket)
        for layer in bucket.layers if style.scattered else ():
            gathers.setdefault(layer, []).append(f"gather.{bucket.number}")
    for slot in slots:
        if not _is_reduced_after(work, style, slot):
            # The first pass of a layer waits for its updated parameters.
            first = not (slot.backward or slot.micro)
            new_ops = pass_ops(work, slot, gathers.get(slot.layer, ()) if first else ())
            if style.overlapped:
                pending = append_pass(ops, pending, new_ops)
            else:
                ops += new_ops
            continue
        ready = ending.get(slot.layer, [])
        cuts = [] if work.tensor_chunks > 1 else [b.share for b in ready if b.share < 1]
        pending = append_pass(ops, pending, pass_ops(work, slot, cuts=cuts))
        for number, bucket in enumerate(ready, start=1):
            key = f"{slot.name}:{number}" if number <= len(cuts) else slot.name
            ops.append(sums[bucket.number](slot.micro, key))
    ops += pending
    if not style.overlapped:
        last = slots[-1]
        ops += [sum_of(last.micro, last.name) for sum_of in sums.values()]
    return (*ops, *optimizer_ops(work, ops[-1].key))


def optimizer_ops(work: Workload, after: str) -> tuple[StreamOp, ...]:
    """Return the optimizer operation, if it takes any time."""
    if not work.optimizer:
        return ()
    op = StreamOp(
        key="update", stream=COMPUTE, time=work.optimizer, after=(after,), label="optimizer"
    )
    return (op,)


def _is_reduced_after(work: Workload, style: GradientReduction, slot: LayerPass) -> bool:
    last = slot.micro == work.num_microbatches - 1
    return style.overlapped and slot.backward and (style.every or last)


def _gather(work: Workload, bucket: LayerBucket) -> StreamOp:
    size = bucket_parameters(work, bucket) * work.element
    return StreamOp(
        key=f"gather.{bucket.number}",
        stream=work.data.stream,
        time=work.data.scatter(size),
        label=f"gather of updated parameters, bucket {bucket.number}",
        size=work.data.sent(size) / 2,
        slowdown=work.slow_down,
        links=_links(bucket.number, bucket.layers[:4]),
    )


def _reduction_op(
    work: Workload, style: GradientReduction, bucket: LayerBucket
) -> Callable[[Count, str], StreamOp]:
    """Return a function from micro-batch and awaited pass to a bucket's reduction."""
    size = bucket_parameters(work, bucket) * work.gradient
    sent = work.data.sent(size)
    operation = "reduce-scatter" if style.scattered else "all-reduce"
    time = work.data.scatter(size) if style.scattered else work.data.all_reduce(size)
    label = f"{operation}, bucket {bucket.number}"
    links = _links(bucket.number, bucket.layers[:4])

    def op(micro: Count, ready: str) -> StreamOp:
        return StreamOp(
            key=f"reduce{micro}.{bucket.number}",
            stream=work.data.stream,
            time=time,
            after=(ready,),
            label=label,
            size=sent / 2 if style.scattered else sent,
            slowdown=work.slow_down,
            links=links,
        )

    return op


@lru_cache(maxsize=4096)
def _links(number: Count, layers: range) -> tuple[str, ...]:
    return (f"bucket:{number}", *(f"layer:{layer + 1}" for layer in layers))
