"""Steps of ranks that each hold all parameters: what they compute, and how gradients are summed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from engine.core.units import Bytes, Count
from engine.simulate.programs._buckets import Bucket, bucket_parameters, buckets
from engine.simulate.programs._passes import Slot, in_turn, slot_ops, weave
from engine.simulate.streams.streams import COMPUTE, Op
from engine.simulate.streams.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How the gradients are summed.

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


def replicated(work: Workload, style: Style) -> tuple[Op, ...]:
    """Return one step."""
    plan = buckets(work, style.cap) if work.data.ranks > 1 else []
    ops = [_gather(work, bucket) for bucket in reversed(plan)] if style.scattered else []
    sums = {bucket.number: _sum(work, style, bucket) for bucket in plan}
    slots = in_turn(work)
    held: list[Op] = []
    ending: dict[int, list[Bucket]] = {}
    gathers: dict[int, list[str]] = {}
    for bucket in plan:
        ending.setdefault(bucket.last, []).append(bucket)
        for layer in bucket.layers if style.scattered else ():
            gathers.setdefault(layer, []).append(f"gather.{bucket.number}")
    for slot in slots:
        if not _reduces(work, style, slot):
            # The first pass of a layer waits for its updated parameters.
            first = not (slot.backward or slot.micro)
            found = slot_ops(work, slot, gathers.get(slot.layer, ()) if first else ())
            if style.overlapped:
                held = weave(ops, held, found)
            else:
                ops += found
            continue
        ready = ending.get(slot.layer, [])
        cuts = [] if work.tensor_chunks > 1 else [b.share for b in ready if b.share < 1]
        held = weave(ops, held, slot_ops(work, slot, cuts=cuts))
        for number, bucket in enumerate(ready, start=1):
            key = f"{slot.name}:{number}" if number <= len(cuts) else slot.name
            ops.append(sums[bucket.number](slot.micro, key))
    ops += held
    if not style.overlapped:
        last = slots[-1]
        ops += [sum_of(last.micro, last.name) for sum_of in sums.values()]
    return (*ops, *update(work, ops[-1].key))


def update(work: Workload, after: str) -> tuple[Op, ...]:
    """Return the optimizer's pass, if it takes any time."""
    if not work.optimizer:
        return ()
    op = Op(key="update", stream=COMPUTE, time=work.optimizer, after=(after,), label="optimizer")
    return (op,)


def _reduces(work: Workload, style: Style, slot: Slot) -> bool:
    last = slot.micro == work.num_microbatches - 1
    return style.overlapped and slot.backward and (style.every or last)


def _gather(work: Workload, bucket: Bucket) -> Op:
    size = bucket_parameters(work, bucket) * work.element
    return Op(
        key=f"gather.{bucket.number}",
        stream=work.data.stream,
        time=work.data.scatter(size),
        label=f"gather of updated parameters, bucket {bucket.number}",
        size=work.data.sent(size) / 2,
        slows=work.slow_down,
        links=_links(bucket.number, bucket.layers[:4]),
    )


def _sum(work: Workload, style: Style, bucket: Bucket) -> Callable[[Count, str], Op]:
    """Return what sums a bucket after a micro-batch, by that and the pass that it waits for."""
    size = bucket_parameters(work, bucket) * work.gradient
    sent = work.data.sent(size)
    what = "reduce-scatter" if style.scattered else "all-reduce"
    time = work.data.scatter(size) if style.scattered else work.data.all_reduce(size)
    label = f"{what}, bucket {bucket.number}"
    links = _links(bucket.number, bucket.layers[:4])

    def op(micro: Count, ready: str) -> Op:
        return Op(
            key=f"reduce{micro}.{bucket.number}",
            stream=work.data.stream,
            time=time,
            after=(ready,),
            label=label,
            size=sent / 2 if style.scattered else sent,
            slows=work.slow_down,
            links=links,
        )

    return op


@lru_cache(maxsize=4096)
def _links(number: Count, layers: range) -> tuple[str, ...]:
    return (f"bucket:{number}", *(f"layer:{layer + 1}" for layer in layers))
