"""Forward and backward passes of single layers, with the collectives of tensor parallelism."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from engine.core.units import Count, Share
from engine.simulate.streams.streams import COMPUTE, SCALE_UP, Op
from engine.simulate.streams.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One pass of one layer for one micro-batch; its `name` is the key of its last computation."""

    backward: bool
    micro: Count
    layer: Count

    @property
    def name(self) -> str:
        """F0.3 is the forward pass of layer 3 for micro-batch 0, B0.3 its backward pass."""
        return f"{'B' if self.backward else 'F'}{self.micro}.{self.layer}"


def in_turn(work: Workload) -> list[Slot]:
    """Return the passes of one micro-batch after the other: forward, then backward."""
    return [
        slot
        for micro in range(work.num_microbatches)
        for slot in (*forward(work, micro), *backward(work, micro))
    ]


def forward(work: Workload, micro: Count) -> list[Slot]:
    """Return the forward passes of a micro-batch."""
    return [Slot(backward=False, micro=micro, layer=layer) for layer in range(work.layers)]


def backward(work: Workload, micro: Count) -> list[Slot]:
    """Return the backward passes of a micro-batch, the last layer first."""
    return [Slot(backward=True, micro=micro, layer=layer) for layer in reversed(range(work.layers))]


def result(work: Workload, slot: Slot) -> str:
    """Return the key of what the next layer waits for."""
    return f"{slot.name}:scatter" if work.tensor_gather else slot.name


def slot_ops(
    work: Workload, slot: Slot, needs: Sequence[str] = (), cuts: Sequence[Share] = ()
) -> list[Op]:
    """Return the operations of one pass of one layer.

    Args:
        work: what it is for.
        slot: which pass.
        needs: what it waits for besides the layer before it: its parameters.
        cuts: shares of the computation after which something else may start; the pieces are
            called B0.3:1, B0.3:2, ... and the last one B0.3. Not with `tensor_chunks`.
    """
    needed = (*needs, *_before(work, slot))
    if not work.tensor_gather:
        return _computation(work, slot, needed, cuts)
    if work.tensor_chunks == 1:
        gather = _exchange(work, slot, "gather", 1.0, _before(work, slot))
        again = _again(work, slot)
        waited = (*needs, gather.key, *(op.key for op in again))
        inner = _computation(work, slot, waited, cuts)
        return [gather, *again, *inner, _exchange(work, slot, "scatter", 1.0, (slot.name,))]
    return _side_by_side(work, slot, needs)


def weave(ops: list[Op], held: list[Op], found: list[Op]) -> list[Op]:
    """Add a pass to the program; return its scatters, which the next call adds.

    They come behind the next pass's gather where that does not wait for them, so that passes of
    different micro-batches that take turns hide each other's collectives.
    """
    if held and held[-1].key in found[0].after:
        ops += held
        held = []
    last = [op for op in found if op.stream != COMPUTE and ":scatter" in op.key]
    early = (
        len(found) if not last else next(i for i, op in enumerate(found) if op.stream == COMPUTE)
    )
    ops += found[:early]
    ops += held
    ops += found[early : len(found) - len(last)]
    return last


def _before(work: Workload, slot: Slot) -> tuple[str, ...]:
    """Return the pass whose result this one needs; nothing for the first layer."""
    if not slot.backward and slot.layer == 0:
        return ()
    layer = slot.layer + 1 if slot.backward else slot.layer - 1
    turns = layer == work.layers
    way = "B" if slot.backward and not turns else "F"
    name = f"{way}{slot.micro}.{slot.layer if turns else layer}"
    return (f"{name}:scatter" if work.tensor_gather else name,)


def _computation(
    work: Workload, slot: Slot, needed: tuple[str, ...], cuts: Sequence[Share]
) -> list[Op]:
    whole = work.backward if slot.backward else work.forward
    if not cuts:
        return [_piece(slot, slot.name, whole, needed)]
    ends = (0.0, *cuts, 1.0)
    ops = []
    for number, (start, end) in enumerate(pairwise(ends), start=1):
        last = number == len(ends) - 1
        key = slot.name if last else f"{slot.name}:{number}"
        ops.append(_piece(slot, key, (end - start) * whole, needed if number == 1 else ()))
    return ops


def _piece(slot: Slot, key: str, time: float, after: tuple[str, ...]) -> Op:
    return Op(
        key=key,
        stream=COMPUTE,
        time=time,
        after=after,
        label=_label(slot.layer, backward=slot.backward),
        links=links_of(slot.layer, slot.micro),
    )


# Programs of one model say the same words again and again.
@lru_cache(maxsize=1024)
def _label(layer: Count, *, backward: bool) -> str:
    return f"{'backward' if backward else 'forward'}, layer {layer + 1}"


@lru_cache(maxsize=4096)
def links_of(layer: Count, micro: Count) -> tuple[str, ...]:
    """Return the objects that a pass of a layer belongs to."""
    return f"layer:{layer + 1}", f"microbatch:{micro + 1}"


def _exchange(work: Workload, slot: Slot, kind: str, share: Share, after: tuple[str, ...]) -> Op:
    return _named(work, slot, kind, share, after, f"{slot.name}:{kind}")


def _named(
    work: Workload, slot: Slot, kind: str, share: Share, after: tuple[str, ...], key: str
) -> Op:
    what = "all-gather" if kind == "gather" else "reduce-scatter"
    return Op(
        key=key,
        stream=SCALE_UP,
        time=share * work.tensor_gather,
        after=after,
        label=f"{what} of tensor parallelism, layer {slot.layer + 1}",
        size=share * work.tensor_size,
        slows=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )


def _again(work: Workload, slot: Slot) -> list[Op]:
    """Return the second gather of the inputs, for the gradients of the weights."""
    if not (work.tensor_again and slot.backward):
        return []
    key = f"{slot.name}:gather:again"
    return [_named(work, slot, "gather", 1.0, _before(work, slot), key)]


def _side_by_side(work: Workload, slot: Slot, needs: Sequence[str]) -> list[Op]:
    """Return products cut into `tensor_chunks` pieces that run beside their collectives.

    Only the first piece of the gather has no product beside it, and the last of the scatter. Of
    all pieces between, those of one kind are drawn as one: the times are those of single pieces.
    """
    first = 1 / work.tensor_chunks
    name, before = slot.name, _before(work, slot)
    whole = work.backward if slot.backward else work.forward
    head = _named(work, slot, "gather", first, before, f"{name}:gather:1")
    rest = _named(work, slot, "gather", 1 - first, (), f"{name}:gather")
    start = _piece(slot, f"{name}:1", first * whole, (*needs, head.key))
    middle = _piece(slot, f"{name}:2", max(0.0, 1 - 2 * first) * whole, ())
    end = _piece(slot, name, first * whole, (rest.key,))
    early = _named(work, slot, "scatter", 1 - first, (start.key,), f"{name}:scatter:1")
    late = _named(work, slot, "scatter", first, (name,), f"{name}:scatter")
    return [head, rest, *_again(work, slot), start, middle, end, early, late]
