"""Exposed time of a layer's collectives: tensor and expert parallelism."""

from engine.catalog.models import Model, expert_input_size
from engine.core.units import Bytes, Ratio, Seconds, Share, Tokens
from engine.formulas.operations import local_tokens
from engine.formulas.transfer_time import scatter_and_gather_time, scatter_or_gather_time
from engine.run.parallelism import Exchange, Plan, Training
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_group
from engine.simulate.layer.expert_exchange import TokenRoutes, exchange_tokens

HALF: Bytes = 2.0


def tensor_parallel_time(
    model: Model,
    plan: Plan,
    training: Training,
    rank: RankRates,
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
    group = rank_group(rank, tensor, 1, "tensor")
    size = HALF * local_tokens(plan, training) * model.hidden_size
    parts: Ratio = 1 if sparse and not model.num_shared_experts else 2
    if model.mixer:
        parts -= 2 * (1 - model.mixer.parts)
    scattered = plan.sequence_parallel
    if scattered:
        ends = (tensor, group.nodes, group.bandwidth, group.network)
        forward = parts * scatter_and_gather_time(size, *ends)
    else:
        forward = parts * nccl_collective_time(rank, group, size)
    backward, beside = forward, 0.0
    if rank.software.hides_backward_tensor_parallel:
        # With scattered sequences the input is gathered a second time, beside the products too.
        backward, beside = (forward / 2, forward) if scattered else (0.0, forward)
    exposed = forward * (1 + again) + backward
    if training.overlap_tensor_parallel:
        exposed *= 1 - rank.common.hidden
    return exposed + max(0.0, beside - rank.common.cover * gradients)


def expert_parallel_time(
    model: Model,
    plan: Plan,
    training: Training,
    rank: RankRates,
    again: Share,
    computation: Seconds,
) -> Seconds:
    """Return the exposed exchange of tokens: dispatch and combine, forward and backward.

    Megatron can run it beside the computation of another micro-batch, and DualPipe does, of one
    that goes the other way (DeepSeek-AI 2024).
    """
    ranks = plan.expert_parallel
    if ranks * plan.expert_tensor_parallel == 1:
        return 0.0
    group = rank_group(rank, ranks, plan.expert_tensor_parallel, "expert")
    tokens = local_tokens(plan, training) / plan.tensor_parallel
    exposed = 2 * (2 + again) * exchange_time(tokens, model, rank, group, training.exchange)
    exposed += 2 * (2 + again) * _expert_gather_time(tokens, model, plan, rank)
    exposed *= rank.busiest
    if training.schedule == "dualpipe":
        return max(0.0, exposed - rank.common.cover * computation)
    hidden = rank.common.exchange_hidden if training.overlap_expert_parallel else 0.0
    return exposed * (1 - hidden)


def _expert_gather_time(tokens: Tokens, model: Model, plan: Plan, rank: RankRates) -> Seconds:
    """Return the time to gather tokens over the ranks of an expert, or to reduce their results."""
    ranks = plan.expert_tensor_parallel
    group = rank_group(rank, ranks, 1)
    size = HALF * tokens * model.experts_per_token * ranks * expert_input_size(model)
    return scatter_or_gather_time(size, ranks, group.nodes, group.bandwidth, group.network)


def exchange_time(
    tokens: Tokens, model: Model, rank: RankRates, group: RankGroup, how: Exchange = "auto"
) -> Seconds:
    """Return the time to send each of a rank's tokens to its experts, or the results back.

    Over the network travels either each copy by itself, or one copy per node, from there on to the
    experts of that node over the links (DeepEP); network and links overlap. Experts are evenly
    used.
    """
    joined = joins_copies(model, how)
    return exchange_tokens(
        tokens,
        HALF * expert_input_size(model),
        TokenRoutes(copies=model.experts_per_token, joined=joined, most=model.nodes_per_token),
        rank,
        group,
    ).time


def joins_copies(model: Model, how: Exchange) -> bool:
    """Return whether one copy crosses the network for all experts of a node."""
    return how in ("deepep", "hybridep") or bool(model.nodes_per_token and how == "auto")


def vocabulary_time(model: Model, plan: Plan, rank: RankRates, tokens: Tokens) -> Seconds:
    """Return the time to gather the input of the split vocabulary and to scatter its gradient."""
    if plan.tensor_parallel == 1:
        return 0.0
    group = rank_group(rank, plan.tensor_parallel, 1, "tensor")
    size = HALF * tokens * model.hidden_size
    return scatter_and_gather_time(size, group.ranks, group.nodes, group.bandwidth, group.network)
