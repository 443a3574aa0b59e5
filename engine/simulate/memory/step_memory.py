"""Memory of a rank over a step: states, gradients and activations, moment by moment.

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
from engine.simulate.memory.memory_over_step import (
    MemoryMoment,
    memory_over_step,
    policy_drops,
    saved_layer,
)

MICRO_BATCHES: Count = 2
# Adam reads gradient, copy and moments and writes the last three and the parameter.
_UPDATE_PASSES: Count = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMoment:
    """Memory of a rank from one moment of the step until the next.

    Attributes:
        time: time since the step began.
        phase: "forward", "logits", "backward" or "update".
        microbatch: index of the micro-batch, from 0.
        gradients: existing gradients.
        activations: kept activations, and working memory of the running layer.
        total: memory of the process, whose allocator holds throughout what its peak needs.
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
    memory: Memory,
    rates: tuple[FlopRate, Bandwidth],
) -> tuple[StepMoment, ...]:
    """Return the moments of a step of a dense model without a pipeline.

    `memory` is the memory at its fullest; `rates` are those of large products and of the memory.
    """
    layer = saved_layer(model, plan, training)
    moments = memory_over_step(
        model, plan, training, layer, policy_drops(layer, training.recompute)
    )
    states = memory.parameters + memory.optimizer + memory.buffers + memory.reserve
    instants: list[StepMoment] = []
    start: Seconds = 0.0
    for microbatch in range(MICRO_BATCHES):
        for moment, phase in zip(moments, _phases(moments), strict=True):
            share = 1.0 if microbatch else _gradient_share(moment, phase, model.num_layers)
            gradients = share * memory.gradients
            instants.append(
                StepMoment(
                    time=start + moment.done / rates[0],
                    phase=phase,
                    microbatch=microbatch,
                    gradients=gradients,
                    activations=moment.activations,
                    total=states + gradients + moment.activations,
                )
            )
        start = instants[-1].time
    updated = _UPDATE_PASSES * (memory.optimizer + memory.gradients) / rates[1]
    instants += [
        _update_moment("update", start, memory.gradients, states),
        _update_moment("update", start + updated, 0.0, states),
    ]
    return tuple(instants)


def _update_moment(phase: str, time: Seconds, gradients: Bytes, states: Bytes) -> StepMoment:
    return StepMoment(
        time=time,
        phase=phase,
        microbatch=MICRO_BATCHES - 1,
        gradients=gradients,
        activations=0.0,
        total=states + gradients,
    )


def _phases(moments: tuple[MemoryMoment, ...]) -> Iterator[str]:
    """Yield the pass of each moment; tensors are freed in the backward pass."""
    for moment in moments:
        yield moment.phase if moment.phase in ("forward", "logits") else "backward"


def _gradient_share(moment: MemoryMoment, phase: str, num_layers: Count) -> Share:
    """Return the share of the gradients that exist in the first micro-batch."""
    if phase != "backward":
        return 0.0
    done = num_layers - moment.layer - (1 if moment.phase == "again" else 0)
    return max(0, done) / num_layers


def peak_step_moment(instants: tuple[StepMoment, ...]) -> StepMoment:
    """Return the first moment with the peak memory."""
    return max(instants, key=lambda instant: instant.total)
