"""What the backward pass needs: the tensors that each operator of a layer keeps, in bytes.

Everything is for one micro-batch on one rank. Half precision is 2 bytes, a mask 1. Tensor
parallelism splits what belongs to heads or to the inner width; the rest it replicates, unless
sequence parallelism splits that along the sequence. For a GPT the sums are the formulas of
Korthikanti et al. 2022; the operators of Llama and of experts follow the same rules.
"""

from engine.catalog.models import (
    Model,
    expert_input_size,
    head_size,
    residual_size,
    value_head_size,
    without_mixer,
)
from engine.core.record import record
from engine.core.units import Bytes, Count, Ratio, Share
from engine.formulas.operations import local_tokens
from engine.formulas.states import BLOCK_SCALE
from engine.run.parallelism import (
    CHEAP,
    Plan,
    Training,
    adds_in_place,
    recomputed_share,
    rotates_by_constants,
    scales_blocks,
    shards_all,
)

HALF: Bytes = 2.0
SINGLE: Bytes = 4.0
MASK: Bytes = 1.0
FP8: Bytes = 1.0
FP4: Bytes = 0.5 + 1 / 16  # 4 bits, and 8 bits of scale for each 16 values (NVFP4)


@record
class LayerMemory:
    """One layer, one micro-batch, one rank.

    Attributes:
        kept: from the forward to the backward pass, under the recomputation that was chosen.
        working: on top, while the layer's backward pass runs: what was recomputed, and gradients.
    """

    kept: Bytes
    working: Bytes


def replicated_share(plan: Plan) -> Share:
    """Return the share of the replicated tensors that a rank keeps."""
    return 1 / plan.tensor_parallel if plan.sequence_parallel else 1.0


def _has_dropout(model: Model, training: Training) -> bool:
    """Layers of a GPT keep the masks of their dropouts in Megatron; others have no dropout."""
    return model.mlp == "gelu" and not shards_all(training)


def _is_rotary(model: Model) -> bool:
    return model.mlp == "swiglu"


def linear_input(training: Training) -> Bytes:
    """Return the bytes of one element that a linear layer keeps for its weight gradient.

    Transformer Engine keeps the copy in 8 or 4 bits, with its scales; other software keeps what it
    got and casts it again.
    """
    if training.framework != "megatron":
        return HALF
    if scales_blocks(training):
        return FP8 * (1 + BLOCK_SCALE)
    return {"fp8": FP8, "fp4": FP4}.get(training.precision, HALF)


def feed_forward_input(training: Training) -> Bytes:
    """Return the bytes of one element that a linear layer of the feed-forward part keeps.

    A frozen layer without an adapter has no weight gradient, and keeps nothing for one.
    """
    frozen = training.lora_rank and training.lora_layers == "attention"
    return 0.0 if frozen else linear_input(training)


def norm_input(model: Model, training: Training) -> Bytes:
    """Return the bytes per value of its input that a norm keeps.

    Its input, in 16 bits. In elementary operators of PyTorch, as RMSNorm runs uncompiled in the
    code of Llama: the input in single precision, and what is multiplied by the weight, in 16 bits,
    unless the weight is frozen.
    """
    fused = training.compiled or training.fused_norms
    if training.framework != "fsdp" or fused or model.mlp != "swiglu":
        return HALF
    return SINGLE + (0.0 if training.lora_rank else HALF)


def attention_inputs(model: Model, plan: Plan, *, both: bool = True) -> Bytes:
    """Return queries, keys and values per token, and their copies with positions worked in.

    Without `both` only the copies of queries and keys are kept.
    """
    heads, head, value = model.num_attention_heads, head_size(model), value_head_size(model)
    if model.attention == "mla":
        # The latents are replicated: as they come, and as their norms leave them. Keys are joined
        # anew with their position; values stay a view of what they were projected with.
        latent = 2 * model.query_latent_size + 2 * model.key_value_latent_size
        latent += model.rotary_head_size
        split = heads * (2 * head + (head - model.rotary_head_size) + value)
        return HALF * (latent * replicated_share(plan) + split / plan.tensor_parallel)
    groups = max(model.num_key_value_heads, plan.tensor_parallel)
    # Values stay a view of the one product that made all three, so that its memory stays too.
    rotated = heads * head + groups * head if both and _is_rotary(model) else 0
    return HALF * (heads * head + groups * (head + value) + rotated) / plan.tensor_parallel


def attention_scores_kept(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes per token that the attention core keeps.

    FlashAttention: one normalizer per head and query. Otherwise the softmax, the mask of its
    dropout and what is left: five bytes per head, query and key.
    """
    if model.mixer and not model.mixer.attends:
        return 0.0
    heads = model.num_attention_heads / plan.tensor_parallel
    if training.flash_attention:
        return SINGLE * heads
    return (2 * HALF + MASK) * heads * training.sequence_length


def attention_kept(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes per token that an attention keeps, with its norm, without its core."""
    hidden, share, stored = model.hidden_size, replicated_share(plan), linear_input(training)
    mask = MASK if _has_dropout(model, training) else 0.0
    output = model.num_attention_heads * value_head_size(model) / plan.tensor_parallel
    # The kernel of the attention wants its own output back in half precision.
    produced = HALF if training.flash_attention else stored
    normed = hidden * (norm_input(model, training) + stored + mask) * share
    if model.mixer:
        if model.mixer.attends:
            normed = attention_kept(without_mixer(model), plan, training)
        kept: Bytes = model.mixer.kept(model, stored, plan.tensor_parallel, normed)
        return kept
    inputs = attention_inputs(model, plan, both=not rotates_by_constants(training))
    return normed + inputs + produced * output


def mlp_kept(model: Model, plan: Plan, training: Training, width: Count) -> Bytes:
    """Return the bytes per token that a feed-forward part keeps, without its norm."""
    gates = 2 if model.mlp == "swiglu" else 1
    # Not fused, the gate's activation is kept beside its input.
    gated = HALF if gates == 2 and not training.compiled else 0.0
    stored = FP8 if gates == 2 and training.fp8_activation_inputs else HALF
    return (gates * stored + gated + feed_forward_input(training)) * width / plan.tensor_parallel


def norm_kept(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes per token of a feed-forward part's norm and dropout."""
    mask = MASK if _has_dropout(model, training) else 0.0
    inputs = norm_input(model, training) + feed_forward_input(training) + mask
    return model.hidden_size * inputs * replicated_share(plan)


def expert_rows(model: Model, plan: Plan) -> Ratio:
    """Return the rows that a rank's experts get per local token, evenly routed."""
    return model.experts_per_token * plan.expert_tensor_parallel / plan.tensor_parallel


def experts_kept(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes per token that routed experts keep: dispatched and inner values.

    Their results are not kept: the router's weights are worked in between the two products.
    """
    width = model.expert_ffn_hidden_size / plan.expert_tensor_parallel
    gates = 2 if model.mlp == "swiglu" else 1
    arrived = linear_input(training) * expert_input_size(model)
    # Between two projections the copies are made from the latent, and summed up into another one.
    latents = 2 * HALF * model.expert_hidden_size * replicated_share(plan)
    inner = (gates * HALF + linear_input(training)) * width
    router = 2 * SINGLE * model.num_experts * replicated_share(plan)
    return expert_rows(model, plan) * (arrived + inner) + router + latents


def feed_forward_kept(
    model: Model, plan: Plan, training: Training, *, sparse: bool = False
) -> Bytes:
    """Return the bytes per token that the feed-forward half of a layer keeps."""
    norm = norm_kept(model, plan, training)
    if not sparse and not model.ffn_hidden_size:
        return 0.0
    if not sparse:
        return norm + mlp_kept(model, plan, training, model.ffn_hidden_size)
    shared = model.num_shared_experts * model.expert_ffn_hidden_size
    experts = experts_kept(model, plan, training)
    return norm + experts + mlp_kept(model, plan, training, shared)


def gradients_of_layer(model: Model, plan: Plan, *, sparse: bool = False) -> Bytes:
    """Return the gradients per token that are alive at once in the feed-forward part."""
    gates = 2 if model.mlp == "swiglu" else 1
    if sparse:
        width = model.expert_ffn_hidden_size / plan.expert_tensor_parallel
        outside = expert_input_size(model)
        return expert_rows(model, plan) * HALF * (outside + (gates + 1) * width)
    inner = (gates + 1) * model.ffn_hidden_size / plan.tensor_parallel
    gathered = model.hidden_size if plan.sequence_parallel else 0
    return HALF * (model.hidden_size * replicated_share(plan) + inner + gathered)


def selective_kept(model: Model, plan: Plan, training: Training, *, sparse: bool = False) -> Bytes:
    """Return the bytes per token that a layer keeps under selective recomputation.

    Megatron repeats the core of the attention. torchtitan keeps the layer's input, the result of
    the attention, and of every second matrix product: queries, values, the gate and, unless the
    compiler finds that nothing needs it, the layer's output. Products in 8 bits are not on its list
    (`aten._scaled_mm`): without them the sum after the attention is kept, and nothing else.
    """
    if not shards_all(training) or (model.mixer and not model.mixer.attends):
        return attention_kept(model, plan, training) + feed_forward_kept(
            model, plan, training, sparse=sparse
        )
    heads, value = model.num_attention_heads, value_head_size(model)
    groups = max(model.num_key_value_heads, plan.tensor_parallel)
    hidden = model.hidden_size * replicated_share(plan)
    scores = attention_scores_kept(model, plan, training)
    attended = heads * value
    if training.precision in ("fp8", "fp4") and not training.keeps_quantized_products:
        return HALF * (2 * hidden + attended / plan.tensor_parallel) + scores
    products = heads * head_size(model) + attended + groups * value
    products += 0 if sparse else model.ffn_hidden_size
    residual = (1 if training.compiled else 2) * hidden
    return HALF * (residual + products / plan.tensor_parallel) + scores


def modules_repeated(
    model: Model, plan: Plan, training: Training, *, sparse: bool = False
) -> Bytes:
    """Return the bytes per token saved by recomputing modules of a layer.

    Unless told otherwise, norms, activations and up-projections, whose inputs are kept anyway;
    those of a gated activation in fp8 where products are. DeepSeek-V3 report, sections 3.2.3 and
    3.3.3; Megatron-Core's --recompute-modules layernorm mla_up_proj moe_act. Of core_attn, mlp,
    moe and shared_experts only the inputs stay, which the norms before them keep.
    """
    modules = training.recompute_modules or CHEAP
    share, stored = replicated_share(plan), linear_input(training)
    repeated = 0.0
    if "layernorm" in modules:
        repeated += model.hidden_size * (stored + feed_forward_input(training)) * share
    if "mla_up_proj" in modules and model.attention == "mla":
        latent = model.query_latent_size + model.key_value_latent_size + model.rotary_head_size
        repeated += attention_inputs(model, plan) - HALF * latent * share
    if "core_attn" in modules:
        repeated += attention_scores_kept(model, plan, training)
    if sparse:
        return repeated + _sparse_repeated(model, plan, training, modules)
    if "mlp" in modules:
        return repeated + mlp_kept(model, plan, training, model.ffn_hidden_size)
    inner = _activated(model, training) * model.ffn_hidden_size / plan.tensor_parallel
    return repeated + (inner if "act" in modules else 0.0)


def _activated(model: Model, training: Training) -> Bytes:
    """Return the bytes per inner value that the activation need not keep if it is repeated."""
    stored = linear_input(training)
    return feed_forward_input(training) + (2 * (HALF - stored) if model.mlp == "swiglu" else 0.0)


def _sparse_repeated(
    model: Model, plan: Plan, training: Training, modules: tuple[str, ...]
) -> Bytes:
    """Return the bytes per token saved in the feed-forward half of a layer with experts."""
    width = model.num_shared_experts * model.expert_ffn_hidden_size
    shared = mlp_kept(model, plan, training, width)
    if "moe" in modules:
        return shared + experts_kept(model, plan, training)
    repeated = shared if "shared_experts" in modules else 0.0
    if "moe_act" not in modules:
        return repeated
    rows = expert_rows(model, plan) / plan.expert_tensor_parallel
    if "act" in modules:
        rows += model.num_shared_experts / plan.tensor_parallel
    return repeated + _activated(model, training) * rows * model.expert_ffn_hidden_size


def layer_memory(
    model: Model, plan: Plan, training: Training, *, sparse: bool = False
) -> LayerMemory:
    """Return the memory of one layer for one micro-batch: kept, and added by the backward pass."""
    tokens = local_tokens(plan, training)
    core = attention_scores_kept(model, plan, training)
    everything = (
        attention_kept(model, plan, training)
        + core
        + feed_forward_kept(model, plan, training, sparse=sparse)
    )
    kept = everything
    if training.recompute == "full":
        kept = HALF * residual_size(model) * replicated_share(plan)
    elif training.recompute == "selective":
        kept = selective_kept(model, plan, training, sparse=sparse)
    elif training.recompute == "modules":
        kept = everything - modules_repeated(model, plan, training, sparse=sparse)
    again = 0.0 if training.recompute == "none" else everything - kept
    share = recomputed_share(model.num_layers, training)
    kept = share * kept + (1 - share) * everything  # the mean of layers that are repeated or not
    gradients = gradients_of_layer(model, plan, sparse=sparse)
    return LayerMemory(kept=tokens * kept, working=tokens * (max(0.0, again) + gradients))


def _compiles_loss(plan: Plan, training: Training) -> bool:
    fused = training.compiled and not training.eager_loss
    return training.framework == "fsdp" and fused and plan.tensor_parallel == 1


def logits_memory(model: Model, plan: Plan, training: Training) -> LayerMemory:
    """Return the final norm, the logits and their loss.

    Megatron today: the fused loss of Transformer Engine writes the gradient over the logits, and
    the product behind it returns a placeholder of the output matrix's size. Megatron before:
    logits, a copy in single precision that becomes the softmax, and the gradient. FSDP
    keeps the log-softmax and, while it is differentiated, two more like it; split over ranks of
    tensor parallelism no kernel is fused and two more are alive. A compiled loss casts in registers
    (Inductor fuses the cast with both reductions): it keeps the logits in 16 bits and writes their
    gradient, 4 bytes together; measured under FSDP2 without tensor parallelism. So does the loss of
    the package of the first FlashAttention.
    """
    tokens = local_tokens(plan, training)
    columns = model.vocab_size / plan.tensor_parallel
    norm = (norm_input(model, training) + HALF) * model.hidden_size * replicated_share(plan)
    if training.first_flash_attention or _compiles_loss(plan, training):
        return LayerMemory(kept=tokens * norm, working=tokens * columns * 2 * HALF)
    if shards_all(training):
        copies = 5 if plan.tensor_parallel > 1 else 3
        return LayerMemory(kept=tokens * norm, working=tokens * columns * copies * SINGLE)
    if adds_in_place(training):
        placeholder = HALF * columns * model.hidden_size
        return LayerMemory(kept=tokens * (norm + HALF * columns), working=placeholder)
    return LayerMemory(kept=tokens * (norm + SINGLE * columns), working=tokens * 2 * HALF * columns)


def embedding_kept(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the bytes that the embedding keeps: the mask of its dropout."""
    mask = MASK if _has_dropout(model, training) else 0.0
    return local_tokens(plan, training) * mask * model.hidden_size * replicated_share(plan)
