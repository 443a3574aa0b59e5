"""Step programs with sharded parameters, gathered layer by layer and freed."""

from collections.abc import Sequence

from engine.core.units import Count
from engine.simulate.programs._closing import closing_ops
from engine.simulate.programs._passes import LayerPass, append_pass, links_of, pass_ops
from engine.simulate.streams.streams import StreamOp
from engine.simulate.streams.workload import CollectiveGroup, Workload, layer_gradient


def sharded_step(work: Workload, slots: Sequence[LayerPass]) -> tuple[StreamOp, ...]:
    """Return the operations of one step with sharded parameters, in the order of the passes.

    A pass's parameters may be gathered while the `prefetch` passes before it compute: no earlier,
    for want of memory. Gradients are reduce-scattered after each backward pass, before the gather
    for the pass after the next, and summed over the replicas if there are any.
    """
    gathers = [_gather(work, slots, turn) for turn in range(len(slots))]
    ops: list[StreamOp] = []
    issued = 0
    waiting: list[StreamOp] = []
    pending: list[StreamOp] = []
    for turn, slot in enumerate(slots):
        # The host issues what reduces a pass before it reaches the next, and gathers for no other
        # micro-batch than the one at work.
        ops += waiting
        ahead = _gathered_ahead(slots, turn, work.prefetch)
        ops += [gather for gather in gathers[issued:ahead] if gather]
        issued = max(issued, ahead)
        slot_gather = gathers[turn]
        before = (
            *((slot_gather.key,) if slot_gather else ()),
            *_awaited_reduction(work, slots, turn),
        )
        pending = append_pass(ops, pending, pass_ops(work, slot, before))
        waiting = _reduction_ops(work, slot) if slot.backward else []
    ops += [*pending, *waiting]
    return (*ops, *closing_ops(work, ops[-1].key))


def _gathered_ahead(slots: Sequence[LayerPass], turn: Count, prefetch: Count) -> Count:
    """Return how many passes have their gathers issued before a pass begins.

    None behind the end of a micro-batch: the host first issues its last reduction.
    """
    for behind in range(turn + 1, min(turn + prefetch + 1, len(slots))):
        before, slot = slots[behind - 1], slots[behind]
        if before.backward and not (before.layer or slot.backward or slot.layer):
            return behind
    return min(turn + prefetch + 1, len(slots))


def _awaited_reduction(work: Workload, slots: Sequence[LayerPass], turn: int) -> tuple[str, ...]:
    """Return the key of the reduction that a backward pass waits for.

    FSDP2 holds the next backward pass until the reduce-scatter before the last one has ended. On a
    single wire the gathers behind it do that by themselves.
    """
    earlier = slots[turn - 2] if turn >= 2 else None
    apart = work.again is not None or work.replicas is not None
    if earlier is None or not earlier.backward or not apart or work.data.ranks == 1:
        return ()
    return (f"{earlier.name}:gradients",)


def _gather(work: Workload, slots: Sequence[LayerPass], turn: int) -> StreamOp | None:
    """Return the all-gather for a pass; None if the parameters are still gathered."""
    slot = slots[turn]
    kept = not work.reshard and (slot.backward or slot.micro > 0)
    if kept or work.data.ranks == 1:
        return None
    size = work.parameters * work.element
    before = turn - 1 - work.prefetch
    wire = work.again if work.again and slot.backward else work.data
    return StreamOp(
        key=f"{slot.name}:parameters",
        stream=wire.stream,
        time=wire.gather(size),
        after=(slots[before].name,) if before >= 0 else (),
        label=f"gather of parameters, layer {slot.layer + 1}",
        size=wire.sent(size) / 2,
        slowdown=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )


def _reduction_ops(work: Workload, slot: LayerPass) -> list[StreamOp]:
    """Return the reductions after a backward pass: reduce-scatter, and sum over replicas."""
    scatter = _scatter(work, slot) if work.data.ranks > 1 else None
    ops = [scatter] if scatter else []
    last = slot.micro == work.num_microbatches - 1
    if work.replicas and (last or not work.sum_once):
        ops.append(
            _replica_all_reduce(work, work.replicas, slot, scatter.key if scatter else slot.name)
        )
    return ops


def _scatter(work: Workload, slot: LayerPass) -> StreamOp:
    size = layer_gradient(work)
    return StreamOp(
        key=f"{slot.name}:gradients",
        stream=work.data.stream,
        time=work.data.scatter(size),
        after=(slot.name,),
        label=f"reduce-scatter of gradients, layer {slot.layer + 1}",
        size=work.data.sent(size) / 2,
        slowdown=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )


def _replica_all_reduce(
    work: Workload, replicas: CollectiveGroup, slot: LayerPass, before: str
) -> StreamOp:
    shard = layer_gradient(work) / work.data.ranks
    return StreamOp(
        key=f"{slot.name}:replicas",
        stream=replicas.stream,
        time=replicas.all_reduce(shard),
        after=(before,),
        label=f"all-reduce of the shard, layer {slot.layer + 1}",
        size=replicas.sent(shard),
        slowdown=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )
