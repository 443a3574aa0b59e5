"""What a rank sends in a step for each axis of a plan: one count for every page that shows it."""

from collections.abc import Mapping

from engine.catalog.models import Model, num_sparse_layers
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
from engine.run.software import SOFTWARE
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.sharding_time import rank_weights


def axis_bytes_sent(model: Model, plan: Plan, training: Training) -> Mapping[Axis, Bytes]:
    """Return what a rank in the middle of its groups sends, by axis; 0 where it has one rank.

    Layers are those of the mean stage; the embedding's and the output layer's are left out. Rings
    throughout, tokens to their experts directly.
    """
    rounds = num_microbatches(plan, training) * model.num_layers / plan.pipeline_parallel
    return {
        "tensor": rounds * _tensor(model, plan, training),
        "context": rounds * _context(model, plan, training),
        "expert": rounds * _expert(model, plan, training),
        "data": _data(model, plan, training),
        "pipeline": _pipeline(model, plan, training),
    }


def passes_again(training: Training) -> Ratio:
    """Return passes through a layer over those without recomputation, for its collectives."""
    return 1.5 if training.recompute == "full" else 1.0


def _tensor(model: Model, plan: Plan, training: Training) -> Bytes:
    """All-reduces of the hidden state, or each as a reduce-scatter and an all-gather."""
    passes = tensor_passes(
        sequence_parallel=plan.sequence_parallel, recompute=training.recompute == "full"
    )
    tokens = local_tokens(plan, training)
    return tensor_layer_bytes(tokens, model.hidden_size, plan.tensor_parallel, passes)


def context_block(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the keys and values of a rank, as they go around the ring."""
    scores = attention_scores(model, plan, training)
    width = scores.key_value_heads * (scores.head_size + scores.value_head_size)
    return HALF * scores.sequences * scores.queries * width


def _context(model: Model, plan: Plan, training: Training) -> Bytes:
    return context_ring_bytes_sent(context_block(model, plan, training), 1, plan.context_parallel)


def _expert(model: Model, plan: Plan, training: Training) -> Bytes:
    """Tokens to their experts and back, forward and backward; of the mean layer."""
    if plan.expert_parallel == 1 or not model.num_experts:
        return 0.0
    own = HALF * local_tokens(plan, training) * model.hidden_size / plan.tensor_parallel
    copies = own * model.experts_per_token
    sparse = num_sparse_layers(model) / model.num_layers
    return passes_again(training) * sparse * expert_bytes_sent(copies, 1, plan.expert_parallel)


def _data(model: Model, plan: Plan, training: Training) -> Bytes:
    """Gradients and parameters by the stage of ZeRO, those of experts over fewer ranks."""
    weights, stage = rank_weights(model, plan), deferred_stage(plan)
    many, gradient = num_microbatches(plan, training), SOFTWARE[training.framework].gradient
    parts = (
        (weights.common, sharding_ranks(plan)),
        (weights.experts, expert_sharding_ranks(plan)),
    )
    return sum(
        zero_bytes_sent(gradient * held, HALF * held, stage, ranks, many)
        for held, ranks in parts
        if ranks > 1
    )


def deferred_stage(plan: Plan) -> int:
    """Return the stage whose traffic a plan has: Megatron's stage 2 also adds up first."""
    return 1 if plan.zero_stage == 2 else plan.zero_stage


def _pipeline(model: Model, plan: Plan, training: Training) -> Bytes:
    """A hidden state on and a gradient back for every micro-batch and piece, one share each."""
    if plan.pipeline_parallel == 1:
        return 0.0
    size = stage_message(local_tokens(plan, training), model.hidden_size) / plan.tensor_parallel
    return 2 * num_microbatches(plan, training) * plan.virtual_pipeline * size
