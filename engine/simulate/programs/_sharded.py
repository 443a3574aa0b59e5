"""Steps of ranks that share the parameters: gathered layer by layer, just in time, and freed."""

from collections.abc import Sequence

from engine.simulate.programs._passes import Slot, slot_ops
from engine.simulate.programs._replicated import update
from engine.simulate.streams import COMPUTE, Op
from engine.simulate.workload import Workload, layer_gradient


def sharded(work: Workload, slots: Sequence[Slot]) -> tuple[Op, ...]:
    """Return one step of the given passes, in their order.

    A pass's parameters may be gathered while the `prefetch` passes before it compute: no earlier,
    for want of memory. Gradients are reduce-scattered after each backward pass, behind the gather
    that is under way, and summed over the replicas if there are any. A pass's own scatter comes
    behind the next pass's gather, where the next pass does not need it.
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
        found, scatters = _parted(slot_ops(work, slot, (own.key,) if own else ()))
        needed = bool(held) and held[-1].key in found[0].after
        ops += [*held, *found] if needed else [*_early(found), *held, *_rest(found)]
        held = scatters
        waiting = _reductions(work, slot) if slot.backward else []
    ops += [*held, *waiting]
    return (*ops, *update(work, ops[-1].key))


def _parted(ops: list[Op]) -> tuple[list[Op], list[Op]]:
    """Return the operations of a pass without and with its scatters of tensor parallelism."""
    return [op for op in ops if ":scatter" not in op.key], [
        op for op in ops if ":scatter" in op.key
    ]


def _early(ops: list[Op]) -> list[Op]:
    return [op for op in ops if op.stream != COMPUTE]


def _rest(ops: list[Op]) -> list[Op]:
    return [op for op in ops if op.stream == COMPUTE]


def _gather(work: Workload, slots: Sequence[Slot], place: int) -> Op | None:
    """Return the gather for a pass; nothing if the parameters are still there."""
    slot = slots[place]
    if not work.reshard and (slot.backward or slot.micro):
        return None
    size = work.parameters * work.element
    before = place - 1 - work.prefetch
    return Op(
        key=f"{slot.name}:parameters",
        stream=work.data.stream,
        time=work.data.scatter(size),
        after=(slots[before].name,) if before >= 0 else (),
        label=f"gather of parameters, layer {slot.layer + 1}",
        size=work.data.sent(size) / 2,
        slows=work.slow_down,
        links=(f"layer:{slot.layer + 1}", f"microbatch:{slot.micro + 1}"),
    )


def _reductions(work: Workload, slot: Slot) -> list[Op]:
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
