"""What a GPU sends in a step, by class of tensor, and what a narrower format takes off it.

The classes add up to the bytes of `engine.simulate.step.axis_bytes`.
"""

from dataclasses import dataclass

from engine.core.units import Bytes, Seconds, Share
from engine.formulas.axes import HALF
from engine.formulas.volumes import tensor_gathers, tensor_passes, zero_bytes_sent
from engine.run.parallelism import expert_sharding_ranks, num_microbatches, sharding_ranks
from engine.run.run import Run
from engine.run.software import SOFTWARE
from engine.simulate.layer.device_model import Axis, rank_of
from engine.simulate.step.axis_bytes import axis_bytes_sent, deferred_stage
from engine.simulate.step.axis_loads import axis_loads
from engine.simulate.step.sharding_time import rank_weights
from engine.simulate.step.step_time import StepTime, step_time

NARROW: Bytes = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WireClass:
    """A class of tensors that a GPU sends.

    Attributes:
        key: of its tick.
        label: what it is.
        axis: that sends it.
        element: bytes of a number today.
        sent: in a step.
        narrow: whether it is ticked.
    """

    key: str
    label: str
    axis: Axis
    element: Bytes
    sent: Bytes
    narrow: bool

    @property
    def left(self) -> Bytes:
        """What is sent in eight bits, if it is ticked."""
        return self.sent * NARROW / self.element if self.narrow else self.sent


def wire_classes(run: Run, narrow: frozenset[str]) -> tuple[WireClass, ...]:
    """Return the classes in the order of the step, those in `narrow` ticked."""
    axes = axis_bytes_sent(run.model, run.plan, run.training)
    gradient = SOFTWARE[run.training.framework].gradient
    gradients = _data(run, gradient, 0.0)
    copied = _copied(run) * axes["tensor"]
    rows: tuple[tuple[str, str, Axis, Bytes, Bytes], ...] = (
        ("gathered", "parameters, gathered", "data", HALF, axes["data"] - gradients),
        ("hidden", "hidden states in a layer, gathered", "tensor", HALF, copied),
        ("summed", "hidden states in a layer, summed", "tensor", HALF, axes["tensor"] - copied),
        ("keys", "keys and values", "context", HALF, axes["context"]),
        ("dispatched", "tokens to their experts", "expert", HALF, axes["expert"] / 2),
        ("combined", "results of the experts", "expert", HALF, axes["expert"] / 2),
        ("stages", "hidden states between stages", "pipeline", HALF, axes["pipeline"]),
        ("reduced", "gradients, summed", "data", gradient, gradients),
    )
    return tuple(
        WireClass(key=key, label=label, axis=axis, element=element, sent=sent, narrow=key in narrow)
        for key, label, axis, element, sent in rows
    )


def _copied(run: Run) -> Share:
    """Return which share of tensor parallelism's bytes is gathered and not summed."""
    how = {
        "sequence_parallel": run.plan.sequence_parallel,
        "recompute": run.training.recompute == "full",
    }
    return tensor_gathers(**how) / tensor_passes(**how)


def _data(run: Run, gradient: Bytes, parameter: Bytes) -> Bytes:
    """Return what data parallelism sends of gradients and parameters of so many bytes each."""
    weights, stage = rank_weights(run.model, run.plan), deferred_stage(run.plan)
    many = num_microbatches(run.plan, run.training)
    parts = (
        (weights.common, sharding_ranks(run.plan)),
        (weights.experts, expert_sharding_ranks(run.plan)),
    )
    return sum(
        zero_bytes_sent(gradient * held, parameter * held, stage, ranks, many)
        for held, ranks in parts
        if ranks > 1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What fewer bytes are worth at most.

    Attributes:
        step: as it is.
        gain: of the step, at most.
        by_axis: (axis, time alone, exposed, saved at most) of the axes in use.
    """

    step: StepTime
    gain: Seconds
    by_axis: tuple[tuple[str, Seconds, Seconds, Seconds], ...]


def most_gained(run: Run, classes: tuple[WireClass, ...]) -> Gain:
    """Return what the ticked classes can take off the step: never more than the step waits for.

    An axis that sends a share less is that share faster alone, latencies included, and all of it
    may be time that the step waits for.
    """
    step = step_time(run.model, run.cluster, run.plan, run.training)
    rank = rank_of(run.cluster, run.training)
    found = []
    for load in axis_loads(run, rank, step, step.compute):
        own = [one for one in classes if one.axis == load.key]
        saved = _share(own) * load.alone
        found.append((load.key, load.alone, load.exposed, min(load.exposed, saved)))
    return Gain(step=step, gain=sum(row[3] for row in found), by_axis=tuple(found))


def _share(classes: list[WireClass]) -> Share:
    sent = sum(one.sent for one in classes)
    return 1 - sum(one.left for one in classes) / sent if sent else 0.0
