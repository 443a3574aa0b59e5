"""What each rank of a mesh sends per step, to whom, and which links carry it.

Collectives are counted as rings in the order of the ranks, experts as a direct all-to-all. What a
library does instead (trees, one copy per node) changes the path and not who belongs together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from engine.basis.units import Bytes, Count, Ratio, Share
from engine.catalog.models import Model, num_sparse_layers
from engine.formulas.axes import tensor_layer_bytes
from engine.formulas.operations import attention_scores, local_tokens
from engine.formulas.volumes import context_ring_bytes_sent, expert_bytes_sent, tensor_passes
from engine.run.parallelism import Plan, Training, num_microbatches
from engine.run.software import SOFTWARE
from engine.simulate.layer_exchange import HALF
from engine.simulate.rank import Axis
from engine.simulate.rank_map import Mesh, Ranks, groups, node_of, place
from engine.simulate.sharding_time import rank_weights

SHOWN: tuple[Axis, ...] = ("tensor", "context", "expert", "data", "pipeline")
# Tokens to their experts and results back, forward and backward.
EXCHANGES = 4


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

    Layers are those of the mean stage; the embedding's and the output layer's are left out.
    """
    layers = model.num_layers / plan.pipeline_parallel
    rounds = num_microbatches(plan, training) * layers
    hidden = HALF * local_tokens(plan, training) * model.hidden_size
    found = {
        "tensor": _tensor(model, plan, training, rounds),
        "context": _context(model, plan, training, rounds),
        "expert": _expert(model, plan, hidden, rounds),
        "data": _data(model, plan, training, mesh),
    }
    if plan.pipeline_parallel > 1:
        each = hidden / plan.tensor_parallel
        messages = 2 * num_microbatches(plan, training)
        found["pipeline"] = (messages * each, messages)
    nothing = 0.0, 0.0
    return {axis: found.get(axis, nothing) for axis in SHOWN}


def _tensor(model: Model, plan: Plan, training: Training, rounds: Ratio) -> tuple[Bytes, Ratio]:
    ranks = plan.tensor_parallel
    if ranks == 1:
        return 0.0, 0.0
    passes = tensor_passes(
        sequence_parallel=plan.sequence_parallel, recompute=training.recompute == "full"
    )
    tokens = local_tokens(plan, training)
    sent = rounds * tensor_layer_bytes(tokens, model.hidden_size, ranks, passes)
    return sent, rounds * (passes if plan.sequence_parallel else passes // 2)


def _context(model: Model, plan: Plan, training: Training, rounds: Ratio) -> tuple[Bytes, Ratio]:
    steps = plan.context_parallel - 1
    scores = attention_scores(model, plan, training)
    width = scores.key_value_heads * (scores.head_size + scores.value_head_size)
    block = HALF * scores.sequences * scores.queries * width
    sent = rounds * context_ring_bytes_sent(block, 1, plan.context_parallel)
    return sent, rounds * 2 * steps


def _expert(model: Model, plan: Plan, hidden: Bytes, rounds: Ratio) -> tuple[Bytes, Ratio]:
    ranks = plan.expert_parallel
    if ranks == 1 or not model.num_experts:
        return 0.0, 0.0
    sparse = rounds * num_sparse_layers(model) / model.num_layers
    own = hidden / plan.tensor_parallel * model.experts_per_token
    return sparse * expert_bytes_sent(own, 1, ranks), sparse * EXCHANGES


def _data(model: Model, plan: Plan, training: Training, mesh: Mesh) -> tuple[Bytes, Ratio]:
    """Gradients are scattered and parameters gathered (ZeRO-1), those of experts over fewer."""
    weights = rank_weights(model, plan)
    each = SOFTWARE[training.framework].gradient + HALF
    total, messages = 0.0, 0
    sizes = mesh.sizes
    copies = sizes["data"] * sizes["context"]
    same_experts = sizes["tensor"] * copies // mesh.expert
    for ranks, held in ((copies, weights.common), (same_experts, weights.experts)):
        if ranks > 1 and held:
            total += each * held * (ranks - 1) / ranks
            messages += 2
    return total, float(messages)


def links(mesh: Mesh, axis: Axis) -> Iterator[tuple[Count, Count, Share]]:
    """Yield (from, to, share of what the sender sends) for every pair of ranks that talk.

    The share of a pipeline's message is one half each way; a rank at its end sends half as much.
    """
    for one in groups(mesh, axis):
        if len(one) > 1:
            yield from peers_of_group(axis, one)


def peers_of_group(axis: Axis, one: Ranks) -> Iterator[tuple[Count, Count, Share]]:
    """Yield the same for one group."""
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
    for one in groups(mesh, axis):
        if axis == "expert":
            counts: dict[Count, Count] = {}
            for rank in one:
                counts[node_of(mesh, rank)] = counts.get(node_of(mesh, rank), 0) + 1
            total += len(one) * (len(one) - 1)
            inside += sum(n * (n - 1) for n in counts.values())
        elif len(one) > 1:
            for a, b, share in peers_of_group(axis, one):
                total += share
                inside += share * (node_of(mesh, a) == node_of(mesh, b))
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


def ends(mesh: Mesh, rank: Count) -> Count:
    """Return how many neighbors a rank has in its pipeline: 0, 1 or 2."""
    at, last = place(mesh, rank, "pipeline"), mesh.sizes["pipeline"] - 1
    return (at > 0) + (at < last)
