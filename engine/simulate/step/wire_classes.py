"""Bytes that a GPU sends per step by class of tensor, and the saving of a narrower format.

The classes add up to the bytes of `engine.simulate.step.axis_bytes`.
"""

from dataclasses import dataclass

from engine.core.units import Bytes, Seconds, Share
from engine.formulas.axes import HALF
from engine.formulas.volumes import tensor_gathers, tensor_passes, zero_bytes_sent
from engine.run.parallelism import expert_sharding_ranks, num_microbatches, sharding_ranks
from engine.run.run import Run
from engine.run.software import SOFTWARE
from engine.simulate.layer.device_model import Axis, rank_rates
from engine.simulate.step.axis_bytes import axis_bytes_sent, traffic_zero_stage
from engine.simulate.step.axis_loads import axis_loads
from engine.simulate.step.sharding_time import rank_weights
from engine.simulate.step.step_time import StepTime, step_time

NARROW_BYTES: Bytes = 1.0


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
    def sent_if_narrow(self) -> Bytes:
        """Bytes sent, in eight bits if selected."""
        return self.sent * NARROW_BYTES / self.element if self.narrow else self.sent


def wire_classes(run: Run, narrow: frozenset[str]) -> tuple[WireClass, ...]:
    """Return the classes in the order of the step, those in `narrow` ticked."""
    axes = axis_bytes_sent(run.model, run.plan, run.training)
    gradient = SOFTWARE[run.training.framework].gradient
    gradients = _data_bytes(run, gradient, 0.0)
    copied = _gathered_share(run) * axes["tensor"]
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


def _gathered_share(run: Run) -> Share:
    """Return the gathered (not summed) share of tensor parallelism's bytes."""
    options = {
        "sequence_parallel": run.plan.sequence_parallel,
        "recompute": run.training.recompute == "full",
    }
    return tensor_gathers(**options) / tensor_passes(**options)


def _data_bytes(run: Run, gradient: Bytes, parameter: Bytes) -> Bytes:
    """Return the bytes of data parallelism for given bytes per gradient and parameter."""
    weights, stage = rank_weights(run.model, run.plan), traffic_zero_stage(run.plan)
    microbatches = num_microbatches(run.plan, run.training)
    parts = (
        (weights.common, sharding_ranks(run.plan)),
        (weights.experts, expert_sharding_ranks(run.plan)),
    )
    return sum(
        zero_bytes_sent(gradient * parameters, parameter * parameters, stage, ranks, microbatches)
        for parameters, ranks in parts
        if ranks > 1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionGain:
    """Upper bound of the step time saved by fewer bytes.

    Attributes:
        step: as it is.
        saved: of the step, at most.
        by_axis: (axis, time alone, exposed, saved at most) of the axes in use.
    """

    step: StepTime
    saved: Seconds
    by_axis: tuple[tuple[str, Seconds, Seconds, Seconds], ...]


def compression_gain(run: Run, classes: tuple[WireClass, ...]) -> CompressionGain:
    """Return the step time that narrower classes can save, at most the exposed communication.

    An axis that sends a share less is that share faster alone, latencies included, and all of it
    may be time that the step waits for.
    """
    step = step_time(run.model, run.cluster, run.plan, run.training)
    rank = rank_rates(run.cluster, run.training)
    rows = []
    for load in axis_loads(run, rank, step, step.compute):
        axis_classes = [traffic for traffic in classes if traffic.axis == load.key]
        saved = _saved_share(axis_classes) * load.alone
        rows.append((load.key, load.alone, load.exposed, min(load.exposed, saved)))
    return CompressionGain(step=step, saved=sum(row[3] for row in rows), by_axis=tuple(rows))


def _saved_share(classes: list[WireClass]) -> Share:
    sent = sum(traffic.sent for traffic in classes)
    return 1 - sum(traffic.sent_if_narrow for traffic in classes) / sent if sent else 0.0
