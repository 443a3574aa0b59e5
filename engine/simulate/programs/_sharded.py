"""Steps of ranks that share the parameters: gathered layer by layer, just in time, and freed."""

from collections.abc import Sequence

from engine.simulate.programs._passes import Slot, links_of, slot_ops, weave
from engine.simulate.programs._replicated import update
from engine.simulate.streams.streams import Op
from engine.simulate.streams.workload import Wire, Workload, layer_gradient


def sharded(work: Workload, slots: Sequence[Slot]) -> tuple[Op, ...]:
    """Return one step of the given passes, in their order.

    A pass's parameters may be gathered while the `prefetch` passes before it compute: no earlier,
    for want of memory. Gradients are reduce-scattered after each backward pass, behind the gather
    that is under way, and summed over the replicas if there are any.
    """
    gathers = [_gather(work, slots, place) for place in range(len(slots))]
    ops: list[Op] = []
    issued = 0
    waiting: list[Op] = []
    held: list[Op] = []
    for place, slot in enumerate(slots):
        ahead = min(place + work.prefetch + 1, len(slots))
        ops += [gather for gather in gathers[issued:ahead] if gather]
        issued = max(issued, ahead)
        ops += waiting
        own = gathers[place]
        before = (*((own.key,) if own else ()), *_reduced(work, slots, place))
        held = weave(ops, held, slot_ops(work, slot, before))
        waiting = _reductions(work, slot) if slot.backward else []
    ops += [*held, *waiting]
    return (*ops, *update(work, ops[-1].key))


def _reduced(work: Workload, slots: Sequence[Slot], place: int) -> tuple[str, ...]:
    """Return the reduction that a backward pass waits for, so that gradients do not pile up.

    FSDP2 holds the next backward pass until the reduce-scatter before the last one has ended. On a
    single wire the gathers behind it do that by themselves.
    """
    two = slots[place - 2] if place >= 2 else None
    apart = work.again is not None or work.replicas is not None
    if two is None or not two.backward or not apart or work.data.ranks == 1:
        return ()
    return (f"{two.name}:gradients",)


def _gather(work: Workload, slots: Sequence[Slot], place: int) -> Op | None:
    """Return the gather for a pass; nothing if the parameters are still there."""
    slot = slots[place]
    kept = not work.reshard and (slot.backward or slot.micro > 0)
    if kept or work.data.ranks == 1:
        return None
    size = work.parameters * work.element
    before = place - 1 - work.prefetch
    wire = work.again if work.again and slot.backward else work.data
    return Op(
        key=f"{slot.name}:parameters",
        stream=wire.stream,
        time=wire.scatter(size),
        after=(slots[before].name,) if before >= 0 else (),
        label=f"gather of parameters, layer {slot.layer + 1}",
        size=wire.sent(size) / 2,
        slows=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )


def _reductions(work: Workload, slot: Slot) -> list[Op]:
    """Return what follows a backward pass: the scatter in the group, the sum over the replicas."""
    scatter = _scatter(work, slot) if work.data.ranks > 1 else None
    found = [scatter] if scatter else []
    last = slot.micro == work.num_microbatches - 1
    if work.replicas and (last or not work.sum_once):
        found.append(_across(work, work.replicas, slot, scatter.key if scatter else slot.name))
    return found


def _scatter(work: Workload, slot: Slot) -> Op:
    size = layer_gradient(work)
    return Op(
        key=f"{slot.name}:gradients",
        stream=work.data.stream,
        time=work.data.scatter(size),
        after=(slot.name,),
        label=f"reduce-scatter of gradients, layer {slot.layer + 1}",
        size=work.data.sent(size) / 2,
        slows=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )


def _across(work: Workload, replicas: Wire, slot: Slot, before: str) -> Op:
    shard = layer_gradient(work) / work.data.ranks
    return Op(
        key=f"{slot.name}:replicas",
        stream=replicas.stream,
        time=replicas.all_reduce(shard),
        after=(before,),
        label=f"all-reduce of the shard, layer {slot.layer + 1}",
        size=replicas.sent(shard),
        slows=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )
