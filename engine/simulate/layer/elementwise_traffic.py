"""Bytes that the element-wise kernels of a layer move, and those that recomputation repeats."""

from engine.catalog.models import Model, expert_input_size, head_size
from engine.core.units import Bytes, Share
from engine.formulas.operations import local_tokens
from engine.formulas.traffic import PASSES, ROUTED_COPY, ROUTED_SCORE, Style
from engine.run.parallelism import CHEAP, Plan, Training
from engine.simulate.layer.device_model import RankRates
from engine.simulate.layer.layer_exchange import HALF

# Modules with activation functions: of routed experts, of shared ones, of a layer without experts.
_ROUTED, _SHARED, _DENSE = {"moe_act", "moe"}, {"act", "moe", "shared_experts"}, {"act", "mlp"}
# Of the passes over the hidden state those of the two norms; the others add residuals.
_NORM_SHARE: Share = 0.4


def kernel_style(training: Training, rank: RankRates) -> Style:
    """Return the fusion style of element-wise kernels."""
    if training.compiled:
        return "fused"
    return "python" if rank.software.python_activations else "eager"


def elementwise_bytes(
    model: Model, plan: Plan, training: Training, rank: RankRates, *, sparse: bool
) -> tuple[Bytes, Bytes]:
    """Return the bytes that element-wise kernels of a layer move, forward and backward."""
    passes = PASSES[kernel_style(training, rank), model.mlp]
    tensor = plan.tensor_parallel
    tokens = local_tokens(plan, training)
    hidden = tokens * model.hidden_size
    rank_hidden = hidden / tensor if plan.sequence_parallel else hidden
    heads = model.num_attention_heads + model.num_key_value_heads
    if model.mixer:
        rank_hidden *= model.mixer.parts
        heads *= model.mixer.attends
    rotated = tokens * heads * head_size(model) / tensor
    inner = sum(inner_values(model, plan, training, rank, sparse=sparse))
    routed = routed_bytes(model, plan, training, rank) if sparse else 0.0
    forward = HALF * (
        rank_hidden * passes.hidden[0] + rotated * passes.heads[0] + inner * passes.inner[0]
    )
    backward = HALF * (
        rank_hidden * passes.hidden[1] + rotated * passes.heads[1] + inner * passes.inner[1]
    )
    if model.biases:
        backward += HALF * (rotated + inner + 2 * hidden)
    return forward + routed, backward + routed


def inner_values(
    model: Model, plan: Plan, training: Training, rank: RankRates, *, sparse: bool
) -> tuple[float, float]:
    """Return the number of activation values: of routed experts, and of other layers."""
    tokens = local_tokens(plan, training) / plan.tensor_parallel
    if not sparse:
        return 0.0, tokens * model.ffn_hidden_size
    each = tokens * model.expert_ffn_hidden_size
    return each * model.experts_per_token * rank.busiest, each * model.num_shared_experts


def routed_bytes(model: Model, plan: Plan, training: Training, rank: RankRates) -> Bytes:
    """Return the bytes of permuting tokens to experts, one way, and of the router's scores."""
    tokens = local_tokens(plan, training) / plan.tensor_parallel
    each = ROUTED_COPY + (0.0 if training.fused_experts else rank.common.unfused_copy)
    if model.biases:
        each += rank.common.expert_biases
    copies = model.experts_per_token * rank.busiest
    return tokens * (each * copies * expert_input_size(model) + ROUTED_SCORE * model.num_experts)


def recomputed_elementwise_bytes(
    model: Model, plan: Plan, training: Training, rank: RankRates, *, sparse: bool
) -> Bytes:
    """Return the bytes that recomputed norms and activations move."""
    modules = set(training.recompute_modules or CHEAP)
    passes = PASSES[kernel_style(training, rank), model.mlp]
    moved = 0.0
    if "layernorm" in modules:
        share = 1 / plan.tensor_parallel if plan.sequence_parallel else 1.0
        rank_hidden = local_tokens(plan, training) * model.hidden_size * share
        moved += HALF * _NORM_SHARE * passes.hidden[0] * rank_hidden
    routed, other = inner_values(model, plan, training, rank, sparse=sparse)
    again = routed if modules & _ROUTED else 0.0
    again += other if modules & (_SHARED if sparse else _DENSE) else 0.0
    moved += HALF * passes.inner[0] * again
    if sparse and "moe" in modules:
        moved += routed_bytes(model, plan, training, rank)
    return moved
