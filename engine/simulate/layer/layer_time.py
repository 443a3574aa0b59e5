"""Time of one layer for one micro-batch on one rank, by part."""

from collections.abc import Mapping

from engine.catalog.models import Model
from engine.core.record import record
from engine.core.units import Bytes, Ratio, Seconds, Share
from engine.formulas.compute import BLOCK, flash_attention_time, unfused_attention_time
from engine.formulas.operations import Scores, attention_scores, local_tokens, output_gemm
from engine.formulas.states import NF4
from engine.formulas.traffic import (
    FP8_CONVERSION,
    LOGIT,
    LOGIT_MEASURED,
    PASSES,
    Passes,
)
from engine.run.parallelism import CHEAP, Plan, Training, halves_gradients, recomputed_share
from engine.simulate.layer.adapter_time import adapter_times
from engine.simulate.layer.context_exchange import (
    context_parallel_time,
    gathered_time,
    redistribution_time,
)
from engine.simulate.layer.device_model import RankRates
from engine.simulate.layer.elementwise_traffic import (
    elementwise_bytes,
    kernel_style,
    recomputed_elementwise_bytes,
)
from engine.simulate.layer.layer_exchange import (
    HALF,
    expert_parallel_time,
    tensor_parallel_time,
    vocabulary_time,
)
from engine.simulate.layer.product_time import (
    UP_PROJECTIONS,
    LayerProducts,
    layer_products,
    product_times,
)

# Backward, a fused attention has five products instead of two.
ATTENTION_BACKWARD: Ratio = 2.5
# Bytes per element to transpose a frozen weight in 8 bits for the gradient of its input.
FROZEN_TRANSPOSE: Bytes = 2.0
# Passes over the hidden state to look tokens up and to add their gradients.
LOOKUP_PASSES: Ratio = 8.0
# Of the collectives of a layer's forward pass all but the last, where recomputation stops early.
EARLY_SHARE: Share = 0.75


@record
class LayerTime:
    """Times of one layer and one micro-batch; only exposed communication counts.

    Attributes:
        forward: forward computation.
        backward: backward computation, without recomputation.
        weight_gradient: part of `backward` that only the optimizer waits for.
        repeated: recomputation.
        tensor_parallel: exposed communication of tensor parallelism, recomputation included.
        context_parallel: likewise of context parallelism.
        expert_parallel: likewise of expert parallelism.
    """

    forward: Seconds
    backward: Seconds
    weight_gradient: Seconds
    repeated: Seconds
    tensor_parallel: Seconds
    context_parallel: Seconds
    expert_parallel: Seconds

    @property
    def total(self) -> Seconds:
        """Time of computation and exposed communication."""
        communication = self.tensor_parallel + self.context_parallel + self.expert_parallel
        return self.forward + self.backward + self.repeated + communication


def layer_time(
    model: Model, plan: Plan, training: Training, rank: RankRates, *, sparse: bool
) -> LayerTime:
    """Return the times of one layer; `sparse`: with routed experts."""
    products = layer_products(model, plan, training, rank, sparse=sparse)
    scores = attention_scores(model, plan, training)
    core = attention_core(model, scores, training, rank)
    passes = PASSES[kernel_style(training, rank), model.mlp]
    elementwise = elementwise_bytes(model, plan, training, rank, sparse=sparse)
    score_traffic = _score_bytes(scores, training, passes)
    # Gradients of half the size take half as long to add.
    each = rank.software.accumulate / (2 if halves_gradients(training) else 1)
    accumulate = each * products.apart / rank.memory
    gradients = products.input_gradient + products.weight_gradient
    attention = core[0] + score_traffic[0] / rank.memory
    forward = products.forward + attention + elementwise[0] / rank.memory
    backward = gradients + core[1] + (score_traffic[1] + elementwise[1]) / rank.memory + accumulate
    conversion = _conversion_times(products, training, rank)
    forward, backward = forward + conversion[0], backward + conversion[1]
    forward += passes.kernels[0] * rank.common.kernel_gap
    backward += passes.kernels[1] * rank.common.kernel_gap
    if training.lora_rank:
        adapter = adapter_times(model, plan, training, rank, sparse=sparse)
        forward, backward = forward + adapter[0], backward + adapter[1]
    weight = products.weight_gradient + accumulate
    launches = rank.dense_launches if not sparse else 0.0 if training.cuda_graphs else rank.launches
    idle = _launch_waits(launches, (forward, backward - weight, weight))
    forward, backward, weight = forward + idle[0], backward + idle[1] + idle[2], weight + idle[2]
    share = recomputed_share(model.num_layers, training)
    again = share * _repeated_collective_share(training, rank)
    repeated_elementwise = elementwise[0]
    if training.recompute == "modules":
        repeated_elementwise = recomputed_elementwise_bytes(
            model, plan, training, rank, sparse=sparse
        )
    return LayerTime(
        forward=forward,
        backward=backward,
        weight_gradient=weight,
        repeated=_recompute_time(
            training, rank, products, (forward, attention), repeated_elementwise, share
        ),
        tensor_parallel=tensor_parallel_time(
            model, plan, training, rank, gradients + idle[1] + idle[2], again, sparse=sparse
        ),
        context_parallel=_context_time(
            model, scores, plan, training, rank, (core[0] + idle[0], core[1] + idle[1])
        ),
        expert_parallel=expert_parallel_time(model, plan, training, rank, again, forward + backward)
        if sparse
        else 0.0,
    )


def _context_time(
    model: Model,
    scores: Scores,
    plan: Plan,
    training: Training,
    rank: RankRates,
    core: tuple[Seconds, Seconds],
) -> Seconds:
    """Return the time of context parallelism in a layer: a ring, a gather, or heads for tokens."""
    if not model.mixer:
        return context_parallel_time(scores, plan, training, rank, core)
    if not model.mixer.attends:
        return redistribution_time(model.mixer.exchanged(model), plan, training, rank)
    if width := model.mixer.gathered(model, plan.tensor_parallel):
        return gathered_time(width, plan, training, rank)
    return context_parallel_time(scores, plan, training, rank, core)


def _launch_waits(
    launches: Seconds, times: tuple[Seconds, Seconds, Seconds]
) -> tuple[Seconds, Seconds, Seconds]:
    """Return the time that a layer waits for kernel launches of the host.

    `times` is the computation forward, for the gradients of the inputs and for those of the
    weights; each has about as many kernels, and what is
    frozen has none. Collectives run meanwhile as they do beside products.
    """
    forward, inputs, weights = (max(0.0, launches - time) if time else 0.0 for time in times)
    return forward, inputs, weights


def kernels_per_layer(model: Model, training: Training, rank: RankRates) -> Ratio:
    """Return the number of kernels of one layer, forward and backward together."""
    return sum(PASSES[kernel_style(training, rank), model.mlp].kernels)


def attention_core(
    model: Model, scores: Scores, training: Training, rank: RankRates
) -> tuple[Seconds, Seconds]:
    """Return the time of the attention between queries and keys, forward and backward.

    Where every second layer attends to a window only, the mean of the two.
    """
    heads = scores.sequences * scores.heads
    size = (scores.head_size + scores.value_head_size) / 2
    shape = (heads, scores.queries, scores.keys, size)
    if not training.flash_attention:
        batched = unfused_attention_time(*shape, rank.matmul)
        return batched, 2 * batched
    forward = flash_attention_time(*shape, rank.attention_forward, rank.sms)
    backward = flash_attention_time(*shape, rank.attention_backward, rank.sms)
    if scores.head_size != scores.value_head_size:
        forward /= rank.common.latent_forward
        backward /= rank.common.latent_backward
    if model.sliding_window:
        inside = min(1.0, 2 * (model.sliding_window + BLOCK) / (scores.keys + BLOCK))
        forward, backward = forward * (1 + inside) / 2, backward * (1 + inside) / 2
    full = forward, ATTENTION_BACKWARD * backward
    if model.mixer:
        full = model.mixer.core(model, scores, rank, full, BLOCK)
    return full


def _score_bytes(scores: Scores, training: Training, passes: Passes) -> tuple[Bytes, Bytes]:
    """Return the bytes of passes over the scores; 0 if the attention is fused."""
    if training.flash_attention:
        return 0.0, 0.0
    count = scores.sequences * scores.heads * scores.queries * scores.keys
    return count * passes.score[0], count * passes.score[1]


def _conversion(training: Training) -> Bytes:
    """Return the bytes per element that conversion to fp8 moves.

    Beside a frozen weight no product needs columns: Transformer Engine's quantizers write those for
    weight gradients only (`set_usage(columnwise=...)` of module/linear.py).
    """
    return FP8_CONVERSION - (1.0 if training.lora_rank else 0.0)


def _conversion_times(
    products: LayerProducts, training: Training, rank: RankRates
) -> tuple[Seconds, Seconds]:
    """Return the time of fp8 conversions and transposes, forward and backward.

    Or of unpacking NF4: each weight is read in 4 bits and written in 16 (bitsandbytes'
    `dequantize_4bit` before each product, forward and backward; Dettmers et al. 2023, section 3).
    """
    if training.nf4_weights:
        unpack = (NF4 + HALF) * products.weights / rank.memory
        return unpack, unpack
    if not rank.quantized:
        return 0.0, 0.0
    moved = _conversion(training) * products.written
    if training.lora_rank and not training.quantized_once:
        moved += FROZEN_TRANSPOSE * products.weights
    return _conversion_bytes(products, training, rank) / rank.memory, moved / rank.memory


def _conversion_bytes(products: LayerProducts, training: Training, rank: RankRates) -> Bytes:
    """Return the bytes of fp8 conversions of inputs, and of weights that are not kept."""
    kept = rank.software.fused_projections  # FSDP gathers the weights anew for each micro-batch
    return _conversion(training) * (products.read + (0.0 if kept else products.weights))


def _repeated_collective_share(training: Training, rank: RankRates) -> Share:
    """Return the share of the forward pass's collectives that recomputation repeats."""
    if training.recompute == "selective":
        return 0.5 if rank.software.selective_repeats_products else 0.0
    if training.recompute in ("none", "modules"):
        return 0.0
    return EARLY_SHARE if rank.software.stops_early else 1.0


def _recompute_time(
    training: Training,
    rank: RankRates,
    products: LayerProducts,
    times: tuple[Seconds, Seconds],
    swept: Bytes,
    share: Share,
) -> Seconds:
    """Return the time of the recomputation, the mean of the layers of a rank.

    `times` are those of the forward pass and of its attention, `swept` the bytes that element-wise
    kernels move again, `share` the layers that full recomputation repeats.
    """
    forward, attention = times
    if training.recompute == "full":
        return share * (forward - (products.last if rank.software.stops_early else 0.0))
    if training.recompute == "none":
        return 0.0
    if training.recompute == "modules":
        return _recomputed_module_time(training, products, attention) + swept / rank.memory
    if rank.software.selective_repeats_products:
        return products.forward / 2 + swept / rank.memory
    return attention


# The products that a module of Megatron's --recompute-modules repeats.
_MODULES: Mapping[str, tuple[str, ...]] = {
    "mla_up_proj": UP_PROJECTIONS,
    "mlp": ("mlp_up", "mlp_down"),
    "moe": ("router", "experts_up", "experts_down", "shared_up", "shared_down"),
    "shared_experts": ("shared_up", "shared_down"),
}


def _recomputed_module_time(
    training: Training, products: LayerProducts, attention: Seconds
) -> Seconds:
    """Return the time of the products and the attention of recomputed modules."""
    modules = training.recompute_modules or CHEAP
    names = {name for module in modules for name in _MODULES.get(module, ())}
    again = sum(time for name, time in products.named.items() if name in names)
    return again + (attention if "core_attn" in modules else 0.0)


def output_time(model: Model, plan: Plan, training: Training, rank: RankRates) -> Seconds:
    """Return the time of the output layer and the loss, forward and backward."""
    gemm = output_gemm(model, plan, training)
    products = sum(product_times(gemm, rank, linear=False))
    each = LOGIT_MEASURED if training.first_flash_attention else LOGIT[training.compiled]
    loss = each * gemm.m * gemm.n / rank.memory
    return products + loss + vocabulary_time(model, plan, rank, gemm.m)


def embedding_time(model: Model, plan: Plan, training: Training, rank: RankRates) -> Seconds:
    """Return the time to look the tokens up and to add their gradients."""
    tokens = local_tokens(plan, training)
    lookup = LOOKUP_PASSES * HALF * tokens * model.hidden_size / rank.memory
    return lookup + vocabulary_time(model, plan, rank, tokens)
