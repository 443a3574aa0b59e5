"""The memory of a rank over a step: states, gradients and activations, moment by moment.

Two micro-batches and an update. The gradients of the first micro-batch appear layer by layer, as
its backward pass goes; the second finds all of them there, so its fullest moment is that of
`engine.simulate.memory.memory`. The update frees them (`zero_grad(set_to_none=True)`, the default).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.catalog.models import Model
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Seconds, Share
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.allocator import Memory
from engine.simulate.memory.memory_over_step import Moment, memory_over_step
from engine.simulate.memory.saved_tensors import drops_of, saved_layer

MICRO_BATCHES: Count = 2
# Adam reads gradient, copy and moments and writes the last three and the parameter.
_UPDATE_PASSES: Count = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """A moment of the step; what is held stays until the next.

    Attributes:
        time: since the step began.
        phase: "forward", "logits", "backward" or "update".
        microbatch: from 0.
        gradients: that exist.
        activations: kept, and what the running layer works with.
        total: with parameters, optimizer and buffers.
    """

    time: Seconds
    phase: str
    microbatch: Count
    gradients: Bytes
    activations: Bytes
    total: Bytes


def step_memory(
    model: Model,
    plan: Plan,
    training: Training,
    held: Memory,
    rates: tuple[FlopRate, Bandwidth],
) -> tuple[Instant, ...]:
    """Return the moments of a step of a dense model without a pipeline.

    `held` is the memory at its fullest; `rates` are those of large products and of the memory.
    """
    layer = saved_layer(model, plan, training)
    moments = memory_over_step(model, plan, training, layer, drops_of(layer, training.recompute))
    states = held.parameters + held.optimizer + held.buffers
    found: list[Instant] = []
    start: Seconds = 0.0
    for microbatch in range(MICRO_BATCHES):
        for moment, phase in zip(moments, _phases(moments), strict=True):
            share = 1.0 if microbatch else _reduced(moment, phase, model.num_layers)
            gradients = share * held.gradients
            found.append(
                Instant(
                    time=start + moment.done / rates[0],
                    phase=phase,
                    microbatch=microbatch,
                    gradients=gradients,
                    activations=moment.held,
                    total=states + gradients + moment.held,
                )
            )
        start = found[-1].time
    updated = _UPDATE_PASSES * (held.optimizer + held.gradients) / rates[1]
    found += [
        _idle("update", start, held.gradients, states),
        _idle("update", start + updated, 0.0, states),
    ]
    return tuple(found)


def _idle(phase: str, time: Seconds, gradients: Bytes, states: Bytes) -> Instant:
    return Instant(
        time=time,
        phase=phase,
        microbatch=MICRO_BATCHES - 1,
        gradients=gradients,
        activations=0.0,
        total=states + gradients,
    )


def _phases(moments: tuple[Moment, ...]) -> Iterator[str]:
    """Yield the pass that each moment belongs to; what is freed is freed in the backward pass."""
    for moment in moments:
        yield moment.phase if moment.phase in ("forward", "logits") else "backward"


def _reduced(moment: Moment, phase: str, num_layers: Count) -> Share:
    """Return the share of the gradients that exist in the first micro-batch."""
    if phase != "backward":
        return 0.0
    done = num_layers - moment.layer - (1 if moment.phase == "again" else 0)
    return max(0, done) / num_layers


def fullest(instants: tuple[Instant, ...]) -> Instant:
    """Return the fullest moment, the first of them."""
    return max(instants, key=lambda one: one.total)
