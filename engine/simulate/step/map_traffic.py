"""What each rank of a mesh sends per step, to whom, and which links carry it.

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
from engine.simulate.step.axis_bytes import axis_bytes_sent, passes_again
from engine.simulate.step.rank_map import Mesh, Ranks

SHOWN: tuple[Axis, ...] = ("tensor", "context", "expert", "data", "pipeline")
# Tokens to their experts and results back, forward and backward.
EXCHANGES = 4
# Keys and values once forward, and twice backward, with their gradients.
RING_TURNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """One axis of the step.

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
    """Return (bytes, messages) that a rank sends per step along each axis; 0 where it has one rank.

    The bytes are those of `axis_bytes_sent`.
    """
    sent = axis_bytes_sent(model, plan, training)
    many = num_microbatches(plan, training)
    rounds = many * model.num_layers / plan.pipeline_parallel
    passes = tensor_passes(
        sequence_parallel=plan.sequence_parallel, recompute=training.recompute == "full"
    )
    sparse = num_sparse_layers(model) / model.num_layers
    counts: Mapping[Axis, Ratio] = {
        "tensor": rounds * (passes if plan.sequence_parallel else passes // 2),
        "context": rounds * RING_TURNS * (plan.context_parallel - 1),
        "expert": rounds * sparse * EXCHANGES * passes_again(training),
        "data": 2.0 * _data_groups(model, mesh),
        "pipeline": 2.0 * many * plan.virtual_pipeline,
    }
    return {axis: (sent[axis], counts[axis] if sent[axis] else 0.0) for axis in SHOWN}


def _data_groups(model: Model, mesh: Mesh) -> Count:
    """Return the groups that reduce gradients: of the experts there is one of their own."""
    sizes = mesh.sizes
    copies = sizes["data"] * sizes["context"]
    same_experts = sizes["tensor"] * copies // mesh.expert
    return (copies > 1) + (same_experts > 1 and bool(model.num_experts))


def peers_of_group(axis: Axis, one: Ranks) -> Iterator[tuple[Count, Count, Share]]:
    """Yield (from, to, share of what the sender sends) for every pair of a group that talks.

    The share of a pipeline's message is one half each way; a rank at its end sends half as much.
    """
    if axis == "expert":
        share = 1 / (len(one) - 1)
        yield from ((a, b, share) for a in one for b in one if a != b)
    elif axis == "pipeline":
        for a, b in pairwise(one):
            yield a, b, 0.5
            yield b, a, 0.5
    else:
        yield from ((a, b, 1.0) for a, b in zip(one, one[1:] + one[:1], strict=True))


def share_across(mesh: Mesh, axis: Axis) -> Share:
    """Return the share of the bytes of an axis that leave a node; 0 where nobody talks.

    Counted group by group; within an all-to-all by the ranks on each node.
    """
    inside = total = 0.0
    for one in mesh.groups(axis):
        if axis == "expert":
            counts: dict[Count, Count] = {}
            for rank in one:
                counts[mesh.node_of(rank)] = counts.get(mesh.node_of(rank), 0) + 1
            total += len(one) * (len(one) - 1)
            inside += sum(n * (n - 1) for n in counts.values())
        elif len(one) > 1:
            nodes = [rank // mesh.gpus_per_node for rank in one]
            # Each rank of a ring sends to the next; neighbors of a pipeline send halves both ways.
            peers = nodes[1:] if axis == "pipeline" else nodes[1:] + nodes[:1]
            total += len(peers)
            inside += sum(map(eq, nodes, peers))
    return 1 - inside / total if total else 0.0


def traffic(model: Model, plan: Plan, training: Training, mesh: Mesh) -> Mapping[Axis, Traffic]:
    """Return what each axis moves per step and rank."""
    return {
        axis: Traffic(
            axis=axis,
            sent=sent,
            messages=messages,
            across=share_across(mesh, axis) if sent else 0.0,
        )
        for axis, (sent, messages) in sent_per_step(model, plan, training, mesh).items()
    }
