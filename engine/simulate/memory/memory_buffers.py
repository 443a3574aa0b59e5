"""Buffers of a rank: gathered parameters, buckets, placeholders, outputs between stages."""

from engine.catalog.models import Model, head_size, residual_size
from engine.core.units import Bytes, Count, Parameters
from engine.formulas.activations import (
    HALF,
    SINGLE,
    replicated_share,
)
from engine.formulas.operations import local_tokens
from engine.formulas.parameters import (
    embedding_parameters,
    largest_layer,
    output_parameters,
)
from engine.formulas.states import (
    NF4,
    RankParameters,
    rank_parameters,
)
from engine.run.parallelism import (
    Plan,
    Training,
    adds_in_place,
    expert_sharding_ranks,
    halves_gradients,
    layers_of_stage,
    num_microbatches,
    sharding_ranks,
    shards_all,
)

# DeepSpeed reduces and gathers in buckets of 5e8 elements.
_BUCKET: Bytes = 5e8 * HALF
# stage3_max_live_parameters
_LIVE_PARAMETERS: Parameters = 1e9


def rank_buffers(
    model: Model, plan: Plan, training: Training, stage: Count, parameters: RankParameters
) -> Bytes:
    """Return the buffers of a rank of one stage, without kept stage outputs."""
    if shards_all(training):
        return _fsdp_buffers(model, plan, training, stage, parameters)
    if training.framework == "deepspeed":
        return _deepspeed_buffers(model, plan, training, stage, parameters)
    gathered = gathered_bytes(model, plan) if plan.zero_stage >= 3 else 0.0
    in_place = adds_in_place(training) and plan.zero_stage < 2 and not training.lora_rank
    return gathered + (gradient_placeholders(model, plan) if in_place else 0.0)


def _fsdp_buffers(
    model: Model, plan: Plan, training: Training, stage: Count, parameters: RankParameters
) -> Bytes:
    """Return FSDP's gathered parameters, and unsharded gradients until the last micro-batch.

    With a pipeline nothing is freed between micro-batches: resharding after the forward pass is
    off, and gradients are reduced once, behind the last one (`set_reshard_after_forward` and
    `set_requires_gradient_sync` of FSDP2; torchtitan). One layer is copied in and out of its
    collectives at a time.
    """
    whole = parameters.dense + parameters.experts
    if training.nf4_weights:
        return unpacked_bytes(model) + _packed_buffers(model, plan, parameters)
    if plan.pipeline_parallel > 1 and plan.zero_stage:
        waiting = HALF if halves_gradients(training) else SINGLE
        if training.lora_rank or num_microbatches(plan, training) == 1:
            waiting = 0.0
        layers = sum(map(len, layers_of_stage(model, plan, stage, training.schedule)))
        copied = whole / max(1, layers)
        return (HALF + waiting) * (whole + copied)
    if not plan.zero_stage and training.lora_rank:
        return 0.0  # frozen weights are whole and in 16 bits: layers read them as they lie
    if plan.zero_stage < 3:
        # All that was gathered stays until the update.
        return HALF * whole
    if sharding_ranks(plan) == expert_sharding_ranks(plan) == 1:
        # Nothing arrives: each parameter is cast into the tensor that its layer reads, and no next
        # layer is fetched ahead (`FSDPParamGroup.unshard` and `wait_for_unshard`, world size 1).
        return gathered_end_bytes(model, plan) + gathered_layer_bytes(model, plan)
    # What is gathered is there twice: as it arrived and as the layers read it.
    return 2 * gathered_bytes(model, plan)


def gradient_placeholders(model: Model, plan: Plan) -> Bytes:
    """Return the bytes of a layer's placeholder weight gradients, one per matrix shape.

    Transformer Engine's `get_dummy_wgrad`. All experts of a rank share theirs.
    """
    layer = largest_layer(model)
    matrices = layer.matrices / plan.tensor_parallel
    if model.num_experts:
        matrices += layer.experts / model.num_experts / plan.expert_tensor_parallel
    return HALF * matrices


def gathered_bytes(model: Model, plan: Plan) -> Bytes:
    """Return the bytes gathered at once: embedding and output, a layer, and the next layer."""
    return gathered_end_bytes(model, plan) + 2 * gathered_layer_bytes(model, plan)


def _packed_buffers(model: Model, plan: Plan, parameters: RankParameters) -> Bytes:
    """Return what is gathered where the weights of layers travel in NF4: QLoRA under FSDP.

    Nothing on one rank; below stage 3 all that was gathered stays until the update.
    """
    if sharding_ranks(plan) == 1 or not plan.zero_stage:
        return 0.0
    if plan.zero_stage < 3:
        packed = parameters.dense - parameters.ends + parameters.experts
        return NF4 * packed + HALF * parameters.ends
    layers = 2 * NF4 / HALF * gathered_layer_bytes(model, plan)
    return 2 * (gathered_end_bytes(model, plan) + layers)


def unpacked_bytes(model: Model) -> Bytes:
    """Return the largest matrix of a layer in 16 bits, which a product reads unpacked from NF4."""
    widest = max(model.ffn_hidden_size, model.num_attention_heads * head_size(model))
    return HALF * model.hidden_size * widest


def gathered_end_bytes(model: Model, plan: Plan) -> Bytes:
    """Return the bytes of the gathered embedding and output, FSDP's outermost unit."""
    ends = embedding_parameters(model) + (0 if model.tied_embeddings else output_parameters(model))
    return HALF * ends / plan.tensor_parallel


def gathered_layer_bytes(model: Model, plan: Plan) -> Bytes:
    """Return the bytes of a gathered layer."""
    layer = largest_layer(model)
    experts = layer.experts / plan.expert_parallel / plan.expert_tensor_parallel
    return HALF * ((layer.total - layer.experts) / plan.tensor_parallel + experts)


def _deepspeed_buffers(
    model: Model, plan: Plan, training: Training, stage: Count, parameters: RankParameters
) -> Bytes:
    """Return DeepSpeed's buckets, and from ZeRO-3 the live parameters."""
    buckets = _BUCKET if plan.zero_stage else 0.0
    if plan.zero_stage >= 3:
        parameters = rank_parameters(model, plan, training, stage)
        buckets += HALF * min(_LIVE_PARAMETERS, parameters.dense + parameters.experts)
    return buckets


def keeps_stage_outputs(plan: Plan, training: Training) -> bool:
    """Return whether the pipeline engine keeps the stage outputs of micro-batches in flight."""
    if plan.pipeline_parallel == 1:
        return False
    return training.framework == "deepspeed" or (shards_all(training) and plan.zero_stage > 0)


def stage_output_bytes(model: Model, plan: Plan, training: Training, stage: Count) -> Bytes:
    """Return the bytes of stage outputs kept for the micro-batches in flight."""
    output = HALF * local_tokens(plan, training) * residual_size(model) * replicated_share(plan)
    return output * min(plan.pipeline_parallel - stage, num_microbatches(plan, training))
