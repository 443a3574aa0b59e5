"""Bytes that a rank sends per step on each parallelism axis; every page uses this count."""

from collections.abc import Mapping

from engine.catalog.models import Model, expert_input_size, num_sparse_layers, residual_size
from engine.core.units import Bytes, Ratio
from engine.formulas.axes import HALF, stage_message, tensor_layer_bytes
from engine.formulas.operations import attention_scores, local_tokens
from engine.formulas.volumes import (
    context_ring_bytes_sent,
    expert_bytes_sent,
    tensor_passes,
    zero_bytes_sent,
)
from engine.run.parallelism import (
    Plan,
    Training,
    expert_sharding_ranks,
    num_microbatches,
    sharding_ranks,
)
from engine.run.software import SOFTWARE, gradient_bytes
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.sharding_time import rank_weights


def axis_bytes_sent(model: Model, plan: Plan, training: Training) -> Mapping[Axis, Bytes]:
    """Return the bytes that a middle rank of each group sends per step, by axis; 0 for one rank.

    Layers are those of the mean stage; the embedding's and the output layer's are left out. Rings
    throughout, tokens to their experts directly.
    """
    rounds = num_microbatches(plan, training) * model.num_layers / plan.pipeline_parallel
    return {
        "tensor": rounds * _tensor_bytes(model, plan, training),
        "context": rounds * _context_bytes(model, plan, training),
        "expert": rounds * _expert_bytes(model, plan, training),
        "data": _data_bytes(model, plan, training),
        "pipeline": _pipeline_bytes(model, plan, training),
    }


def recompute_factor(training: Training) -> Ratio:
    """Return the number of passes through a layer relative to training without recomputation."""
    return 1.5 if training.recompute == "full" else 1.0


def _tensor_bytes(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes of all-reduces, or of reduce-scatters and all-gathers, of hidden states."""
    passes = tensor_passes(
        sequence_parallel=plan.sequence_parallel, recompute=training.recompute == "full"
    )
    tokens = local_tokens(plan, training)
    return tensor_layer_bytes(tokens, model.hidden_size, plan.tensor_parallel, passes)


def context_block_bytes(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes of keys and values that a rank passes around the ring."""
    scores = attention_scores(model, plan, training)
    width = scores.key_value_heads * (scores.head_size + scores.value_head_size)
    return HALF * scores.sequences * scores.queries * width


def _context_bytes(model: Model, plan: Plan, training: Training) -> Bytes:
    return context_ring_bytes_sent(
        context_block_bytes(model, plan, training), 1, plan.context_parallel
    )


def _expert_bytes(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes of token dispatch and combine, forward and backward, of the mean layer."""
    if plan.expert_parallel == 1 or not model.num_experts:
        return 0.0
    own = HALF * local_tokens(plan, training) * expert_input_size(model) / plan.tensor_parallel
    copies = own * model.experts_per_token
    sparse = num_sparse_layers(model) / model.num_layers
    return recompute_factor(training) * sparse * expert_bytes_sent(copies, 1, plan.expert_parallel)


def _data_bytes(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes of gradients and parameters by ZeRO stage; experts have fewer ranks."""
    weights, stage = rank_weights(model, plan), traffic_zero_stage(plan)
    microbatches = num_microbatches(plan, training)
    gradient = gradient_bytes(training, SOFTWARE[training.framework])
    parts = (
        (weights.common, sharding_ranks(plan)),
        (weights.experts, expert_sharding_ranks(plan)),
    )
    return sum(
        zero_bytes_sent(gradient * parameters, HALF * parameters, stage, ranks, microbatches)
        for parameters, ranks in parts
        if ranks > 1
    )


def traffic_zero_stage(plan: Plan) -> int:
    """Return the ZeRO stage whose traffic a plan has: Megatron's stage 2 accumulates as 1 does."""
    return 1 if plan.zero_stage == 2 else plan.zero_stage


def _pipeline_bytes(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes of hidden states and gradients between stages, for all micro-batches."""
    if plan.pipeline_parallel == 1:
        return 0.0
    size = stage_message(local_tokens(plan, training), residual_size(model)) / plan.tensor_parallel
    return 2 * num_microbatches(plan, training) * plan.virtual_pipeline * size
