"""What training keeps for every parameter, and how ZeRO splits it over data-parallel ranks."""

import math
from collections.abc import Mapping
from dataclasses import replace

from engine.catalog.models import Model, head_size, kinds_in, layer_kinds, value_head_size
from engine.core.equation import Equation
from engine.core.record import record
from engine.core.units import Bytes, Count, Parameters, Ratio, Share
from engine.formulas.parameters import (
    embedding_parameters,
    kind_parameters,
    norm_parameters,
    output_parameters,
)
from engine.run.parallelism import (
    LoraLayers,
    Plan,
    Training,
    first_piece,
    last_piece,
    layers_of_stage,
    quantizes,
    scales_blocks,
    shards_all,
)

# MXFP8: 8 bits of scale for each 32 values of 8 bits (OCP Microscaling Formats 2023, section 6.3).
BLOCK_SCALE: Share = 1 / 32


@record
class StateBytes:
    """Bytes of each kind of state for one parameter.

    Attributes:
        parameter: the copy that the matrix products read.
        gradient: the sum over the micro-batches.
        optimizer: full-precision copy, two moments, and what the update holds beside them.
    """

    parameter: Bytes
    gradient: Bytes
    optimizer: Bytes

    @property
    def total(self) -> Bytes:
        """All of them, for one parameter."""
        return self.parameter + self.gradient + self.optimizer

    def replicated(self, zero_stage: Count) -> Bytes:
        """Return what every rank keeps whole of one parameter, whatever the number of ranks.

        Source: Rajbhandari et al. 2020, figure 1, with endless ranks.
        """
        kept = (self.optimizer, self.gradient, self.parameter)[zero_stage:]
        return math.fsum(kept)

    def break_even_ranks(self, zero_stage: Count) -> Ratio:
        """Return the ranks at which a rank's share weighs as much as what it keeps whole.

        Of mixed precision 3 at stage 1 (12 sharded bytes against 4) and 7 at stage 2 (14 against
        2); infinite where nothing is kept whole. Derived from the same figure.
        """
        kept = self.replicated(zero_stage)
        return (self.total - kept) / kept if kept else math.inf


@record
class States:
    """The states on one rank.

    Attributes:
        parameters: the copy that the matrix products read.
        gradients: the sum over the micro-batches.
        optimizer: full-precision copy and moments.
    """

    parameters: Bytes
    gradients: Bytes
    optimizer: Bytes

    @property
    def total(self) -> Bytes:
        """All of them."""
        return self.parameters + self.gradients + self.optimizer


# Rajbhandari et al. 2020: half-precision parameter and gradient; in single precision a copy and
# two moments of Adam.
MIXED_PRECISION = StateBytes(parameter=2.0, gradient=2.0, optimizer=12.0)

# Megatron sums bf16 gradients in single precision, fp16 gradients as they are
# (accumulate_allreduce_grads_in_fp32), and its recipes may keep bf16 gradients in bf16.
_SINGLE_PRECISION_GRADIENTS = StateBytes(parameter=2.0, gradient=4.0, optimizer=12.0)

# Transformer Engine keeps a copy of the weight of every linear layer in 8 or 4 bits, and its
# transpose, beside the bf16 one, or instead of it (`quantized_model_init`; Megatron's
# fp8-param-gather); NVFP4 has 8 bits of scale for each 16 values. No transpose with one scale for
# the tensor where products take 8 bits in either order (`Float8Quantizer::create_tensor` and
# `nvte_is_non_tn_fp8_gemm_supported`: compute capability 10); MXFP8 always has both.
_COPIES: Mapping[str, Bytes] = {"fp8": 2.0, "fp4": 2 * (0.5 + 1 / 16)}
# What SGD and Muon do without: Adam's second moment.
_SECOND_MOMENT: Bytes = 4.0
# The frozen weights beside adapters, in half precision whatever the software; or in NF4: four bits,
# and 0.127 bits for the scales of its blocks, which are quantized as well (Dettmers et al. 2023,
# section 3).
_FROZEN: Bytes = 2.0
NF4: Bytes = (4 + 0.127) / 8

# DeepSpeed's ZeRO optimizer makes a single-precision copy of its part of the gradients.
_DEEPSPEED = StateBytes(parameter=2.0, gradient=2.0, optimizer=16.0)

# Where it sums gradients in fp32 (`data_types.grad_accum_dtype`), stage 1 in bf16 runs as
# BF16_Optimizer, which keeps them in both types and steps on the sum: runtime/bf16_optimizer.py of
# DeepSpeed 0.19.8, `immediate_grad_update` off. From stage 2 on the sum of all types is the same.
_DEEPSPEED_SUMS = StateBytes(parameter=2.0, gradient=6.0, optimizer=12.0)

# FSDP shards single-precision parameters and gradients; half precision exists only while gathered.
_FSDP = StateBytes(parameter=4.0, gradient=4.0, optimizer=8.0)


def state_bytes(training: Training) -> StateBytes:
    """Return what the framework keeps for each parameter, from its documentation.

    SGD has one moment. So has Muon for matrices; that it leaves embedding and output to Adam is
    not counted.
    """
    types = _with_adam(training)
    if training.optimizer == "adam":
        return types
    return replace(types, optimizer=types.optimizer - _SECOND_MOMENT)


def _with_adam(training: Training) -> StateBytes:
    if shards_all(training):
        return _FSDP
    if training.framework == "deepspeed":
        summed = training.gradient_precision == "fp32" and training.precision != "fp16"
        return _DEEPSPEED_SUMS if summed else _DEEPSPEED
    half = training.gradient_precision or ("fp16" if training.precision == "fp16" else "fp32")
    types = MIXED_PRECISION if half != "fp32" else _SINGLE_PRECISION_GRADIENTS
    return replace(types, parameter=_weight(training)) if quantizes(training) else types


def _weight(training: Training) -> Bytes:
    copies = _COPIES[training.precision]
    if scales_blocks(training):
        copies *= 1 + BLOCK_SCALE
    if training.quantized_once and training.precision == "fp8":
        copies /= 2
    return copies if training.quantized_weights else MIXED_PRECISION.parameter + copies


def frozen_bytes(training: Training) -> StateBytes:
    """Return the bytes kept for each frozen parameter.

    A frozen weight that is kept in 8 or 4 bits alone has no transpose: it is made where a product
    needs it (`disable_parameter_transpose_cache`, as NVIDIA's adapters in MLPerf Training are run).
    """
    if training.nf4_weights:
        return StateBytes(parameter=NF4, gradient=0.0, optimizer=0.0)
    weight = _weight(training) if quantizes(training) else _FROZEN
    if quantizes(training) and training.quantized_weights and not training.quantized_once:
        weight /= 2
    return StateBytes(parameter=weight, gradient=0.0, optimizer=0.0)


def unquantized(types: StateBytes) -> StateBytes:
    """Return the same for embedding and output, whose products stay in 16 bits."""
    return replace(types, parameter=MIXED_PRECISION.parameter)


ZERO_MEMORY = Equation(
    name="zero_memory",
    tex=(
        r"\v{M} = \v{P} \left(\frac{\v{p}}{\v{a}} + \frac{\v{g}}{\v{b}}"
        r" + \frac{\v{o}}{\v{c}}\right)"
    ),
    symbols={
        "M": ("M", "states on one rank"),
        "P": ("P", "parameters"),
        "p": (r"\beta_{\mathrm{p}}", "bytes of a parameter"),
        "g": (r"\beta_{\mathrm{g}}", "bytes of a gradient"),
        "o": (r"\beta_{\mathrm{o}}", "bytes of the optimizer"),
        "a": (r"N_{\mathrm{p}}", "ranks that share the parameters (from stage 3)"),
        "b": (r"N_{\mathrm{g}}", "ranks that share the gradients (from stage 2)"),
        "c": (r"N_{\mathrm{o}}", "ranks that share the optimizer (from stage 1)"),
    },
    sources=("rajbhandari2020",),
)


def sharded_states(
    parameters: Parameters, types: StateBytes, zero_stage: Count, ranks: Count
) -> States:
    """Return the states on one of so many ranks: Rajbhandari et al. 2020, figure 1.

    Stage 1 splits the optimizer, stage 2 the gradients too, stage 3 the parameters too.
    """
    return States(
        parameters=parameters * types.parameter / (ranks if zero_stage >= 3 else 1),
        gradients=parameters * types.gradient / (ranks if zero_stage >= 2 else 1),
        optimizer=parameters * types.optimizer / (ranks if zero_stage >= 1 else 1),
    )


@record
class RankParameters:
    """The parameters of one rank before any ZeRO sharding.

    Attributes:
        dense: everything but routed experts.
        experts: routed experts.
        ends: of `dense`, embedding and output.
    """

    dense: Parameters
    experts: Parameters
    ends: Parameters


def rank_parameters(
    model: Model, plan: Plan, training: Training, stage: Count = 0
) -> RankParameters:
    """Return the parameters that a rank of pipeline stage `stage` holds.

    The first stage has the embedding, the last the output matrix (its own copy where it is tied
    and there are several stages), the final norm, and a layer of multi-token prediction if any.
    """
    pieces = layers_of_stage(model, plan, stage, training.schedule)
    first = first_piece(plan, stage, training.schedule)
    last = last_piece(plan, stage, training.schedule)
    extra = model.num_prediction_layers if last else 0
    counts = [kinds_in(model, piece) for piece in pieces] + [kinds_in(model, range(0), extra)]
    tensor = plan.tensor_parallel
    ends = _ends(model, plan, first=first, last=last)
    total, experts = ends, 0.0
    group = plan.expert_parallel * plan.expert_tensor_parallel
    for kind, each in zip(layer_kinds(model), zip(*counts, strict=True), strict=True):
        if count := sum(each):
            layer = kind_parameters(kind)
            total += count * (layer.matrices / tensor + layer.replicated)
            experts += count * layer.experts / group
    return RankParameters(dense=total, experts=experts, ends=ends)


def _ends(model: Model, plan: Plan, *, first: bool, last: bool) -> Parameters:
    tensor = plan.tensor_parallel
    total = embedding_parameters(model) / tensor if first else 0.0
    if last:
        # The projection of a prediction layer joins a hidden state and an embedding.
        total += norm_parameters(model) + 2 * model.num_prediction_layers * model.hidden_size**2
        if not model.tied_embeddings or not first:
            total += output_parameters(model) / tensor
    return total


def adapter_parameters(
    model: Model, plan: Plan, lora_rank: Count, num_layers: Count, lora_layers: LoraLayers
) -> Parameters:
    """Return the parameters of the adapters of so many layers: r(in + out) per linear layer.

    Hu et al. 2021. Every linear layer of the attention has one, and of the feed-forward part where
    `lora_layers` says so; routed experts have none. The side that a rank's part of the layer does
    not split is on every rank.
    """
    heads, tensor, hidden = model.num_attention_heads, plan.tensor_parallel, model.hidden_size
    queries, keys = heads * head_size(model), model.num_key_value_heads * head_size(model)
    values, attended = model.num_key_value_heads * value_head_size(model), heads
    attended *= value_head_size(model)
    width = (
        model.num_shared_experts * model.expert_ffn_hidden_size
        if model.num_experts
        else model.ffn_hidden_size
    )
    if lora_layers == "attention":
        width = 0
    matrices = 3 if model.mlp == "swiglu" else 2
    whole = (4 + (matrices if width else 0)) * hidden
    split = queries + keys + values + attended + matrices * width
    return lora_rank * num_layers * (whole + split / tensor)
