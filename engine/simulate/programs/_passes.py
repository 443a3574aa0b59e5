"""Forward and backward passes of single layers, with the collectives of tensor parallelism."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from engine.core.units import Count, Share
from engine.simulate.streams.streams import COMPUTE, SCALE_UP, StreamOp
from engine.simulate.streams.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPass:
    """A pass of one layer for one micro-batch; `name` is the key of its last computation."""

    backward: bool
    micro: Count
    layer: Count

    @property
    def name(self) -> str:
        """F0.3 is the forward pass of layer 3 for micro-batch 0, B0.3 its backward pass."""
        return f"{'B' if self.backward else 'F'}{self.micro}.{self.layer}"


def sequential_passes(work: Workload) -> list[LayerPass]:
    """Return the passes of sequential micro-batches, each forward, then backward."""
    return [
        slot
        for micro in range(work.num_microbatches)
        for slot in (*forward_passes(work, micro), *backward_passes(work, micro))
    ]


def forward_passes(work: Workload, micro: Count) -> list[LayerPass]:
    """Return the forward passes of a micro-batch."""
    return [LayerPass(backward=False, micro=micro, layer=layer) for layer in range(work.layers)]


def backward_passes(work: Workload, micro: Count) -> list[LayerPass]:
    """Return the backward passes of a micro-batch, the last layer first."""
    return [
        LayerPass(backward=True, micro=micro, layer=layer) for layer in reversed(range(work.layers))
    ]


def pass_ops(
    work: Workload, slot: LayerPass, needs: Sequence[str] = (), cuts: Sequence[Share] = ()
) -> list[StreamOp]:
    """Return the operations of one pass of one layer.

    Args:
        work: the workload.
        slot: which pass.
        needs: keys that it waits for besides the previous layer: its parameters.
        cuts: shares of the computation after which something else may start; the pieces are
            called B0.3:1, B0.3:2, ... and the last one B0.3. Not with `tensor_chunks`.
    """
    needed = (*needs, *_previous_result(work, slot))
    if not work.tensor_gather:
        return _computation(work, slot, needed, cuts)
    if work.tensor_chunks == 1:
        gather = _keyed_collective(work, slot, "gather", 1.0, _previous_result(work, slot))
        again = _second_gather(work, slot)
        waited = (*needs, gather.key, *(op.key for op in again))
        inner = _computation(work, slot, waited, cuts)
        return [gather, *again, *inner, _keyed_collective(work, slot, "scatter", 1.0, (slot.name,))]
    return _chunked_ops(work, slot, needs)


def append_pass(
    ops: list[StreamOp], pending: list[StreamOp], new_ops: list[StreamOp]
) -> list[StreamOp]:
    """Append a pass to the program; return its scatters, which the next call appends.

    They come behind the next pass's gather where that does not wait for them, so that passes of
    different micro-batches that take turns hide each other's collectives.
    """
    if pending and pending[-1].key in new_ops[0].after:
        ops += pending
        pending = []
    last = [op for op in new_ops if op.stream != COMPUTE and ":scatter" in op.key]
    early = (
        len(new_ops)
        if not last
        else next(i for i, op in enumerate(new_ops) if op.stream == COMPUTE)
    )
    ops += new_ops[:early]
    ops += pending
    ops += new_ops[early : len(new_ops) - len(last)]
    return last


def _previous_result(work: Workload, slot: LayerPass) -> tuple[str, ...]:
    """Return the key of the previous layer's result; empty for the first layer."""
    if not slot.backward and slot.layer == 0:
        return ()
    layer = slot.layer + 1 if slot.backward else slot.layer - 1
    turns = layer == work.layers
    pass_kind = "B" if slot.backward and not turns else "F"
    name = f"{pass_kind}{slot.micro}.{slot.layer if turns else layer}"
    return (f"{name}:scatter" if work.tensor_gather else name,)


def _computation(
    work: Workload, slot: LayerPass, needed: tuple[str, ...], cuts: Sequence[Share]
) -> list[StreamOp]:
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


def _piece(slot: LayerPass, key: str, time: float, after: tuple[str, ...]) -> StreamOp:
    return StreamOp(
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
    """Return the highlighting links of a layer's pass."""
    return f"layer:{layer + 1}", f"microbatch:{micro + 1}"


def _keyed_collective(
    work: Workload, slot: LayerPass, kind: str, share: Share, after: tuple[str, ...]
) -> StreamOp:
    return _collective(work, slot, kind, share, after, f"{slot.name}:{kind}")


def _collective(
    work: Workload, slot: LayerPass, kind: str, share: Share, after: tuple[str, ...], key: str
) -> StreamOp:
    operation = "all-gather" if kind == "gather" else "reduce-scatter"
    return StreamOp(
        key=key,
        stream=SCALE_UP,
        time=share * work.tensor_gather,
        after=after,
        label=f"{operation} of tensor parallelism, layer {slot.layer + 1}",
        size=share * work.tensor_size,
        slowdown=work.slow_down,
        links=links_of(slot.layer, slot.micro),
    )


def _second_gather(work: Workload, slot: LayerPass) -> list[StreamOp]:
    """Return the second gather of the inputs, for the gradients of the weights."""
    if not (work.tensor_again and slot.backward):
        return []
    key = f"{slot.name}:gather:again"
    return [_collective(work, slot, "gather", 1.0, _previous_result(work, slot), key)]


def _chunked_ops(work: Workload, slot: LayerPass, needs: Sequence[str]) -> list[StreamOp]:
    """Return products cut into `tensor_chunks` pieces that run beside their collectives.

    Only the first piece of the gather has no product beside it, and the last of the scatter. Of
    all pieces between, those of one kind are drawn as one: the times are those of single pieces.
    """
    first = 1 / work.tensor_chunks
    name, before = slot.name, _previous_result(work, slot)
    whole = work.backward if slot.backward else work.forward
    head = _collective(work, slot, "gather", first, before, f"{name}:gather:1")
    second_gather = _collective(work, slot, "gather", 1 - first, (), f"{name}:gather")
    start = _piece(slot, f"{name}:1", first * whole, (*needs, head.key))
    middle = _piece(slot, f"{name}:2", max(0.0, 1 - 2 * first) * whole, ())
    end = _piece(slot, name, first * whole, (second_gather.key,))
    early = _collective(work, slot, "scatter", 1 - first, (start.key,), f"{name}:scatter:1")
    late = _collective(work, slot, "scatter", first, (name,), f"{name}:scatter")
    return [head, second_gather, *_second_gather(work, slot), start, middle, end, early, late]
