"""Step programs with replicated parameters and several gradient reductions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.core.units import Bytes, Count, Share
from engine.simulate.programs._closing import closing_ops
from engine.simulate.programs._passes import LayerPass, append_pass, pass_ops, sequential_passes
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import Workload, layer_gradient

# Gradient buckets in the order of the backward pass.


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerBucket:
    """A bucket of gradient tensors of one or more layers.

    Attributes:
        number: from 1, in the order of the backward pass.
        layers: that have a tensor in it.
        last: the layer whose backward pass completes it.
        share: of that pass, after which it is complete.
        tensors: in it.
    """

    number: Count
    layers: range
    last: Count
    share: Share
    tensors: Count


def pack_layer_buckets(work: Workload, cap: Bytes) -> list[LayerBucket]:
    """Return the gradient buckets; each is closed by the tensor that reaches `cap` bytes.

    Source: Li et al. 2020. Limit: PyTorch's first bucket is smaller (1 MiB), and its tensors are
    not equal.
    """
    tensor_bytes = layer_gradient(work) / work.tensors
    total = work.layers * work.tensors
    tensors_per_bucket = max(1, math.ceil(min(cap / tensor_bytes, total) - 1e-9))
    packed = []
    for number, start in enumerate(range(0, total, tensors_per_bucket), start=1):
        end = min(start + tensors_per_bucket, total)
        newest, inside = divmod(end - 1, work.tensors)
        last = work.layers - 1 - newest
        packed.append(
            LayerBucket(
                number=number,
                layers=range(last, work.layers - start // work.tensors),
                last=last,
                share=(inside + 1) / work.tensors,
                tensors=end - start,
            )
        )
    return packed


def bucket_parameters(work: Workload, bucket: LayerBucket) -> float:
    """Return the number of parameters in a bucket."""
    return work.parameters * bucket.tensors / work.tensors


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
    parameters = _parameter_gathers(work, plan) if style.scattered else []
    ops = [] if work.gathers_last else list(parameters)
    sums = {bucket.number: _reduction_op(work, style, bucket) for bucket in plan}
    slots = sequential_passes(work)
    pending: list[StreamOp] = []
    waits = _awaited_gathers(work, style, plan)
    for slot in slots:
        if _is_reduced_after(work, style, slot):
            pending = _reduced_pass(work, style, slot, (ops, pending, sums, plan))
            continue
        # The first pass of a layer waits for its updated parameters.
        first = not (slot.backward or slot.micro)
        waited = waits.get(slot.layer, ()) if first else _last_reduction(work, style, plan, slot)
        new_ops = pass_ops(_beside_gathers(work, waits) if first else work, slot, waited)
        if style.overlapped:
            pending = append_pass(ops, pending, new_ops)
        else:
            ops += new_ops
    ops += pending
    if not style.overlapped:
        last = slots[-1]
        ops += [sum_of(last.micro, last.name) for sum_of in sums.values()]
        if work.last_bucket and plan:
            ops.append(_embedding_reduction(work, style, last))
    return (*ops, *closing_ops(work, ops[-1].key, parameters if work.gathers_last else ()))


_Reductions = Mapping[Count, Callable[[Count, str], StreamOp]]


def _reduced_pass(
    work: Workload,
    style: GradientReduction,
    slot: LayerPass,
    program: tuple[list[StreamOp], list[StreamOp], _Reductions, Sequence[LayerBucket]],
) -> list[StreamOp]:
    """Append a backward pass and the reductions that it completes; return its pending scatters.

    `program` is what there is: operations, those pending, reductions by bucket, and the buckets.
    """
    ops, pending, sums, plan = program
    ready = [bucket for bucket in plan if bucket.last == slot.layer]
    cuts = [] if work.tensor_chunks > 1 else [b.share for b in ready if b.share < 1]
    beside = replace(work, backward=work.last_backward or work.backward)
    pending = append_pass(ops, pending, pass_ops(beside, slot, cuts=cuts))
    for number, bucket in enumerate(ready, start=1):
        key = f"{slot.name}:{number}" if number <= len(cuts) else slot.name
        ops.append(sums[bucket.number](slot.micro, key))
    if work.last_bucket and plan and not slot.layer:
        ops.append(_embedding_reduction(work, style, slot))
    return pending


def _awaited_gathers(
    work: Workload, style: GradientReduction, plan: Sequence[LayerBucket]
) -> Mapping[int, list[str]]:
    """Return the keys of the gathers that the first pass of each layer waits for."""
    waits: dict[int, list[str]] = {}
    for bucket in plan:
        for layer in bucket.layers if style.scattered and not work.gathers_last else ():
            waits.setdefault(layer, []).append(f"gather.{bucket.number}")
    return waits


def _parameter_gathers(work: Workload, plan: Sequence[LayerBucket]) -> list[StreamOp]:
    """Return the gathers of updated parameters, the first layers' first."""
    ops = [_gather(work, bucket) for bucket in reversed(plan)]
    if not (work.last_bucket and ops):
        return ops
    size = work.last_bucket / work.gradient * work.element
    embedding = StreamOp(
        key="gather.embedding",
        stream=work.data.stream,
        time=work.data.gather(size),
        label="gather of the updated embedding",
        size=work.data.sent(size) / 2,
        links=("bucket:embedding",),
    )
    return [embedding, *ops]


def _embedding_reduction(work: Workload, style: GradientReduction, slot: LayerPass) -> StreamOp:
    """Return the reduction of the embedding's gradient, the last that is there."""
    size, data = work.last_bucket, work.data
    return StreamOp(
        key=f"reduce{slot.micro}.embedding",
        stream=data.stream,
        time=data.scatter(size) if style.scattered else data.all_reduce(size),
        after=(slot.name,),
        label=f"{'reduce-scatter' if style.scattered else 'all-reduce'}, embedding",
        size=data.sent(size) / 2 if style.scattered else data.sent(size),
        links=("bucket:embedding",),
    )


def _beside_gathers(work: Workload, gathers: Mapping[int, Sequence[str]]) -> Workload:
    """Return the workload of passes beside gathers in front of them, if there are any."""
    slower = work.first_forward if gathers else 0.0
    return replace(work, forward=slower or work.forward)


def _last_reduction(
    work: Workload, style: GradientReduction, plan: Sequence[LayerBucket], slot: LayerPass
) -> tuple[str, ...]:
    """Return the reduction that the next micro-batch waits for where each is reduced and freed.

    Source: DeepSpeed's stage_1_and_2.py, which synchronizes at the end of each backward pass.
    """
    begins = style.every and style.scattered and slot.micro and not (slot.backward or slot.layer)
    if not (begins and plan and style.overlapped):
        return ()
    last = "embedding" if work.last_bucket else plan[-1].number
    return (f"reduce{slot.micro - 1}.{last}",)


def _is_reduced_after(work: Workload, style: GradientReduction, slot: LayerPass) -> bool:
    last = slot.micro == work.num_microbatches - 1
    return style.overlapped and slot.backward and (style.every or last)


def _gather(work: Workload, bucket: LayerBucket) -> StreamOp:
    size = bucket_parameters(work, bucket) * work.element
    return StreamOp(
        key=f"gather.{bucket.number}",
        stream=work.data.stream,
        time=work.data.gather(size),
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
