"""Steps of ranks that share the parameters: gathered layer by layer, just in time, and freed."""

from collections.abc import Sequence

from engine.simulate.programs._passes import Slot, slot_ops, weave
from engine.simulate.programs._replicated import update
from engine.simulate.streams import Op
from engine.simulate.workload import Workload, layer_gradient


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
        held = weave(ops, held, slot_ops(work, slot, (own.key,) if own else ()))
        waiting = _reductions(work, slot) if slot.backward else []
    ops += [*held, *waiting]
    return (*ops, *update(work, ops[-1].key))


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
        links=(f"layer:{slot.layer + 1}", f"microbatch:{slot.micro + 1}"),
    )


def _reductions(work: Workload, slot: Slot) -> list[Op]:
    if work.data.ranks == 1:
        return []
    size = layer_gradient(work)
    scatter = Op(
        key=f"{slot.name}:gradients",
        stream=work.data.stream,
        time=work.data.scatter(size),
        after=(slot.name,),
        label=f"reduce-scatter of gradients, layer {slot.layer + 1}",
        size=work.data.sent(size) / 2,
        slows=work.slow_down,
        links=(f"layer:{slot.layer + 1}", f"microbatch:{slot.micro + 1}"),
    )
    if not work.replicas:
        return [scatter]
    shard = size / work.data.ranks
    across = Op(
        key=f"{slot.name}:replicas",
        stream=work.replicas.stream,
        time=work.replicas.all_reduce(shard),
        after=(scatter.key,),
        label=f"all-reduce of the shard, layer {slot.layer + 1}",
        size=work.replicas.sent(shard),
        slows=work.slow_down,
        links=scatter.links,
    )
    return [scatter, across]
