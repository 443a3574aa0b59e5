"""Traffic of a rank mesh per step: bytes sent, peers, and the share that leaves a node.

Collectives are counted as rings in the order of the ranks, experts as a direct all-to-all. What a
library does instead (trees, one copy per node) changes the path and not who belongs together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from operator import eq

from engine.catalog.models import Model, num_sparse_layers
from engine.core.units import Bytes, Count, Ratio, Share
from engine.formulas.volumes import tensor_passes
from engine.run.parallelism import Plan, Training, num_microbatches
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.axis_bytes import axis_bytes_sent, recompute_factor
from engine.simulate.step.rank_map import Mesh, Ranks

TRAFFIC_AXES: tuple[Axis, ...] = ("tensor", "context", "expert", "data", "pipeline")
# Tokens to their experts and results back, forward and backward.
EXPERT_EXCHANGES = 4
# Keys and values once forward, and twice backward, with their gradients.
RING_PASSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisTraffic:
    """Traffic of one parallelism axis per step.

    Attributes:
        axis: its name.
        sent: bytes that a rank in the middle of its group sends per step.
        messages: collectives, or messages, that it starts per step.
        across: share of all bytes of the axis that leave a node.
    """

    axis: Axis
    sent: Bytes
    messages: Ratio
    across: Share


def sent_per_step(
    model: Model, plan: Plan, training: Training, mesh: Mesh
) -> Mapping[Axis, tuple[Bytes, Ratio]]:
    """Return (bytes, messages) that a rank sends per step on each axis; 0 for an axis of one rank.

    The bytes are those of `axis_bytes_sent`.
    """
    sent = axis_bytes_sent(model, plan, training)
    microbatches = num_microbatches(plan, training)
    rounds = microbatches * model.num_layers / plan.pipeline_parallel
    passes = tensor_passes(
        sequence_parallel=plan.sequence_parallel, recompute=training.recompute == "full"
    )
    sparse = num_sparse_layers(model) / model.num_layers
    counts: Mapping[Axis, Ratio] = {
        "tensor": rounds * (passes if plan.sequence_parallel else passes // 2),
        "context": rounds * RING_PASSES * (plan.context_parallel - 1),
        "expert": rounds * sparse * EXPERT_EXCHANGES * recompute_factor(training),
        "data": 2.0 * _num_gradient_groups(model, mesh),
        "pipeline": 2.0 * microbatches * plan.virtual_pipeline,
    }
    return {axis: (sent[axis], counts[axis] if sent[axis] else 0.0) for axis in TRAFFIC_AXES}


def _num_gradient_groups(model: Model, mesh: Mesh) -> Count:
    """Return the number of gradient reduction groups of a rank; experts have their own."""
    sizes = mesh.sizes
    copies = sizes["data"] * sizes["context"]
    same_experts = sizes["tensor"] * copies // mesh.expert
    return (copies > 1) + (same_experts > 1 and bool(model.num_experts))


def group_edges(axis: Axis, group: Ranks) -> Iterator[tuple[Count, Count, Share]]:
    """Yield (sender, receiver, share of the sender's bytes) for every communicating pair.

    The share of a pipeline's message is one half each way; a rank at its end sends half as much.
    """
    if axis == "expert":
        share = 1 / (len(group) - 1)
        yield from (
            (sender, receiver, share)
            for sender in group
            for receiver in group
            if sender != receiver
        )
    elif axis == "pipeline":
        for sender, receiver in pairwise(group):
            yield sender, receiver, 0.5
            yield receiver, sender, 0.5
    else:
        yield from (
            (sender, receiver, 1.0)
            for sender, receiver in zip(group, group[1:] + group[:1], strict=True)
        )


def share_leaving_nodes(mesh: Mesh, axis: Axis) -> Share:
    """Return the share of an axis's bytes that leave a node; 0 without communication.

    Counted group by group; within an all-to-all by the ranks on each node.
    """
    inside = total = 0.0
    for group in mesh.groups(axis):
        if axis == "expert":
            counts: dict[Count, Count] = {}
            for rank in group:
                counts[mesh.node_of(rank)] = counts.get(mesh.node_of(rank), 0) + 1
            total += len(group) * (len(group) - 1)
            inside += sum(n * (n - 1) for n in counts.values())
        elif len(group) > 1:
            nodes = [rank // mesh.gpus_per_node for rank in group]
            # Each rank of a ring sends to the next; neighbors of a pipeline send halves both ways.
            peers = nodes[1:] if axis == "pipeline" else nodes[1:] + nodes[:1]
            total += len(peers)
            inside += sum(map(eq, nodes, peers))
    return 1 - inside / total if total else 0.0


def plan_traffic(
    model: Model, plan: Plan, training: Training, mesh: Mesh
) -> Mapping[Axis, AxisTraffic]:
    """Return the traffic per step and rank of each axis."""
    return {
        axis: AxisTraffic(
            axis=axis,
            sent=sent,
            messages=messages,
            across=share_leaving_nodes(mesh, axis) if sent else 0.0,
        )
        for axis, (sent, messages) in sent_per_step(model, plan, training, mesh).items()
    }
