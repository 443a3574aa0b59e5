"""What a layer's own collectives add to it: tensor, context and expert parallelism, exposed."""

from collections.abc import Mapping

from engine.basis.units import Bandwidth, Bytes, Seconds, Share, Tokens
from engine.catalog.models import Model
from engine.formulas.operations import Scores, local_tokens
from engine.formulas.transfer_time import all_reduce_time, scatter_or_gather_time, send_time
from engine.run.parallelism import Plan, Training
from engine.simulate.rank import Group, Rank, group_of

HALF: Bytes = 2.0
# Bytes per element of the attention's result that each further step of a ring of keys and values
# moves to merge what it found with the steps before, forward and backward. Fused: read and write in
# 16 bits, and the gradients; unfused: in fp32, kernel by kernel (ring-flash-attention).
MERGED: Mapping[bool, tuple[Bytes, Bytes]] = {True: (5.0, 8.0), False: (32.0, 42.0)}


def tensor_parallel_time(
    model: Model,
    plan: Plan,
    training: Training,
    rank: Rank,
    gradients: Seconds,
    again: Share,
    *,
    sparse: bool,
) -> Seconds:
    """Return the exposed collectives of tensor parallelism of one layer.

    Each of attention and feed-forward part gathers and scatters (or reduces) once forward and once
    backward; routed experts are exchanged, not split. `gradients` is the time of the products of
    the backward pass, `again` the share of the forward pass that is repeated.
    """
    tensor = plan.tensor_parallel
    if tensor == 1:
        return 0.0
    group = group_of(rank, tensor, 1, "tensor")
    size = HALF * local_tokens(plan, training) * model.hidden_size
    parts = 1 if sparse and not model.num_shared_experts else 2
    scattered = plan.sequence_parallel
    if scattered:
        one = scatter_or_gather_time(size, tensor, group.nodes, group.bandwidth)
        forward = 2 * parts * one
    else:
        one = all_reduce_time(size, tensor, group.nodes, group.bandwidth, rank.switch_adds)
        forward = parts * one
    backward, beside = forward, 0.0
    if rank.software.hides_backward_tensor_parallel:
        # With scattered sequences the input is gathered a second time, beside the products too.
        backward, beside = (forward / 2, forward) if scattered else (0.0, forward)
    exposed = forward * (1 + again) + backward
    if training.overlap_tensor_parallel:
        exposed *= 1 - rank.common.hidden
    return exposed + max(0.0, beside - rank.common.cover * gradients)


def context_parallel_time(
    scores: Scores, plan: Plan, training: Training, rank: Rank, core: tuple[Seconds, Seconds]
) -> Seconds:
    """Return what the ring of keys and values adds to the attention, forward and backward.

    Each of the steps after the first hides behind the attention to the keys at hand, `core` in
    all; backward, keys, values and their gradients go round.
    """
    ranks = plan.context_parallel
    if ranks == 1:
        return 0.0
    width = scores.key_value_heads * (scores.head_size + scores.value_head_size)
    size = HALF * scores.sequences * scores.queries * width
    group = group_of(rank, ranks, plan.tensor_parallel, "context")
    steps = ranks - 1
    ring = steps * send_time(size, _hop(rank, group), min(2, group.nodes))
    hidden = steps / ranks
    merged = steps * scores.sequences * scores.heads * scores.queries * scores.value_head_size
    each = MERGED[training.compiled]
    forward = max(0.0, ring - core[0] * hidden) + merged * each[0] / rank.memory
    backward = max(0.0, 2 * ring - core[1] * hidden) + merged * each[1] / rank.memory
    return forward * (1 if training.recompute in ("none", "modules") else 2) + backward


def _hop(rank: Rank, group: Group) -> Bandwidth:
    """Return the bandwidth of one hop of a ring: of links, or of the rank's own port."""
    return rank.scale_up if group.nodes == 1 else rank.port


def expert_parallel_time(
    model: Model,
    plan: Plan,
    training: Training,
    rank: Rank,
    again: Share,
    computation: Seconds,
) -> Seconds:
    """Return the exposed exchange of tokens: dispatch and combine, forward and backward.

    Software that runs a layer's collectives beside its products does so with these too. DualPipe
    runs it beside the computation of a micro-batch that goes the other way (DeepSeek-AI 2024).
    """
    ranks = plan.expert_parallel
    if ranks == 1:
        return 0.0
    group = group_of(rank, ranks, plan.expert_tensor_parallel, "expert")
    own = local_tokens(plan, training) / plan.tensor_parallel
    exposed = 2 * (2 + again) * exchange_time(own, model, rank, group)
    if training.schedule == "dualpipe":
        return max(0.0, exposed - rank.common.cover * computation)
    return exposed * (1 - rank.common.hidden) if training.overlap_tensor_parallel else exposed


def exchange_time(tokens: Tokens, model: Model, rank: Rank, group: Group) -> Seconds:
    """Return the time to send each of a rank's tokens to its experts, or the results back.

    One copy per node crosses the network, on to the experts of that node over the links (DeepEP);
    the two overlap. Experts are taken as evenly used.
    """
    token = HALF * model.hidden_size
    copies = model.experts_per_token
    inside = tokens * copies * token * (group.ranks - 1) / group.ranks / rank.scale_up
    nodes = group.nodes
    if nodes == 1:
        return inside + send_time(0.0, rank.scale_up, 1)
    reached = nodes * (1 - (1 - 1 / nodes) ** copies)
    if model.nodes_per_token:
        reached = min(reached, model.nodes_per_token)
    across = tokens * token * reached * (nodes - 1) / nodes
    return max(inside, send_time(across, rank.port, 2))


def vocabulary_time(model: Model, plan: Plan, rank: Rank, tokens: Tokens) -> Seconds:
    """Return the time to gather the input of the split vocabulary and to scatter its gradient."""
    if plan.tensor_parallel == 1:
        return 0.0
    group = group_of(rank, plan.tensor_parallel, 1, "tensor")
    size = HALF * tokens * model.hidden_size
    return 2 * scatter_or_gather_time(size, group.ranks, group.nodes, group.bandwidth)
