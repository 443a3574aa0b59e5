"""Bytes that the element-wise kernels of a layer move, and those that recomputation repeats."""

from engine.catalog.models import Model, head_size
from engine.core.units import Bytes, Share
from engine.formulas.operations import local_tokens
from engine.formulas.traffic import PASSES, ROUTED_COPY, ROUTED_SCORE, Style
from engine.run.parallelism import CHEAP, Plan, Training
from engine.simulate.layer.device_model import Rank
from engine.simulate.layer.layer_exchange import HALF

# Modules with activation functions: of routed experts, of shared ones, of a layer without experts.
_ROUTED, _SHARED, _DENSE = {"moe_act", "moe"}, {"act", "moe", "shared_experts"}, {"act", "mlp"}
# Of the passes over the hidden state those of the two norms; the others add residuals.
_NORMS: Share = 0.4


def style(training: Training, rank: Rank) -> Style:
    """Return how element-wise kernels are fused."""
    if training.compiled:
        return "fused"
    return "python" if rank.software.python_activations else "eager"


def swept_bytes(
    model: Model, plan: Plan, training: Training, rank: Rank, *, sparse: bool
) -> tuple[Bytes, Bytes]:
    """Return the bytes that element-wise kernels move, forward and backward."""
    passes = PASSES[style(training, rank), model.mlp]
    tensor = plan.tensor_parallel
    tokens = local_tokens(plan, training)
    hidden = tokens * model.hidden_size
    own = hidden / tensor if plan.sequence_parallel else hidden
    heads = model.num_attention_heads + model.num_key_value_heads
    rotated = tokens * heads * head_size(model) / tensor
    inner = sum(inner_values(model, plan, training, rank, sparse=sparse))
    routed = routed_bytes(model, plan, training, rank) if sparse else 0.0
    forward = HALF * (own * passes.hidden[0] + rotated * passes.heads[0] + inner * passes.inner[0])
    backward = HALF * (own * passes.hidden[1] + rotated * passes.heads[1] + inner * passes.inner[1])
    if model.biases:
        backward += HALF * (rotated + inner + 2 * hidden)
    return forward + routed, backward + routed


def inner_values(
    model: Model, plan: Plan, training: Training, rank: Rank, *, sparse: bool
) -> tuple[float, float]:
    """Return the values that the activation functions work on: routed experts', and others."""
    tokens = local_tokens(plan, training) / plan.tensor_parallel
    if not sparse:
        return 0.0, tokens * model.ffn_hidden_size
    each = tokens * model.expert_ffn_hidden_size
    return each * model.experts_per_token * rank.busiest, each * model.num_shared_experts


def routed_bytes(model: Model, plan: Plan, training: Training, rank: Rank) -> Bytes:
    """Return the bytes that permuting tokens to experts moves, one way, and the router's scores."""
    tokens = local_tokens(plan, training) / plan.tensor_parallel
    each = ROUTED_COPY + (0.0 if training.fused_experts else rank.common.unfused_copy)
    if model.biases:
        each += rank.common.expert_biases
    copies = model.experts_per_token * rank.busiest
    return tokens * (each * copies * model.hidden_size + ROUTED_SCORE * model.num_experts)


def swept_again(model: Model, plan: Plan, training: Training, rank: Rank, *, sparse: bool) -> Bytes:
    """Return the bytes that norms and activations move again where modules are recomputed."""
    modules = set(training.recompute_modules or CHEAP)
    passes = PASSES[style(training, rank), model.mlp]
    moved = 0.0
    if "layernorm" in modules:
        share = 1 / plan.tensor_parallel if plan.sequence_parallel else 1.0
        own = local_tokens(plan, training) * model.hidden_size * share
        moved += HALF * _NORMS * passes.hidden[0] * own
    routed, other = inner_values(model, plan, training, rank, sparse=sparse)
    again = routed if modules & _ROUTED else 0.0
    again += other if modules & (_SHARED if sparse else _DENSE) else 0.0
    moved += HALF * passes.inner[0] * again
    if sparse and "moe" in modules:
        moved += routed_bytes(model, plan, training, rank)
    return moved
