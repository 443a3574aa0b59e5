"""How long one layer takes for one micro-batch on one rank, by what the time is spent on."""

from dataclasses import dataclass

from engine.formulas.compute import (
    EXPONENTIAL_SIZE,
    flash_attention_time,
    matmul_time,
    unfused_attention_time,
)
from engine.formulas.operations import Gemm, Scores, attention_scores, layer_gemms
from engine.formulas.traffic import FP8_CONVERSION, LOGIT, PASSES, Passes, Style
from engine.formulas.transfer_time import all_reduce_time, scatter_or_gather_time, send_time
from engine.models import Model, head_size
from engine.parallelism import Plan, Training
from engine.simulate.rank import Group, Rank, group_of
from engine.units import MICRO, Bytes, Count, Ratio, Seconds, Share, Tokens

HALF: Bytes = 2.0
# From the end of a small kernel to the start of the next.
KERNEL_GAP: Seconds = 2 * MICRO
# Backward, a fused attention has five products instead of two.
ATTENTION_BACKWARD: Ratio = 2.5
# Of a layer's own collectives so much is hidden where the software runs them beside products.
HIDDEN: Share = 0.6
# Of the backward products so much time is long enough to hide a collective issued beside it.
COVER: Share = 0.6
# A layer with experts launches hundreds of small kernels; the host needs this long for them,
# forward, and twice as long backward, however fast the GPU is.
EXPERT_LAUNCHES: Seconds = 2.7e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTime:
    """Seconds of one layer and one micro-batch; communication is what the products do not hide.

    Attributes:
        forward: computation, forward.
        backward: computation, backward, nothing repeated.
        weight_gradient: of `backward`, the products that only the optimizer waits for.
        repeated: computation that recomputation repeats.
        tensor_parallel: exposed, with what recomputation repeats.
        context_parallel: likewise.
        expert_parallel: likewise.
    """

    forward: Seconds
    backward: Seconds
    weight_gradient: Seconds
    repeated: Seconds
    tensor_parallel: Seconds
    context_parallel: Seconds
    expert_parallel: Seconds

    @property
    def computation(self) -> Seconds:
        """All of it."""
        return self.forward + self.backward + self.repeated

    @property
    def total(self) -> Seconds:
        """Computation and exposed communication."""
        communication = self.tensor_parallel + self.context_parallel + self.expert_parallel
        return self.computation + communication


@dataclass(frozen=True, slots=True, kw_only=True)
class _Products:
    forward: Seconds
    input_gradient: Seconds
    weight_gradient: Seconds
    read: Ratio
    written: Ratio
    weights: Ratio


def layer_time(
    model: Model, plan: Plan, training: Training, rank: Rank, *, sparse: bool
) -> LayerTime:
    """Return the times of one layer; `sparse`: with routed experts."""
    products = _products(model, plan, training, rank, sparse)
    scores = attention_scores(model, plan, training)
    core = _attention(scores, training, rank)
    passes = PASSES[_style(training, rank), model.mlp]
    sweeps = _sweeps(model, plan, training, passes, sparse)
    other = _conversions(products, rank)
    forward = products.forward + core[0] + (sweeps[0] + other[0]) / rank.memory
    forward += passes.kernels[0] * KERNEL_GAP
    gradients = products.input_gradient + products.weight_gradient
    accumulate = rank.software.accumulate * products.weights
    backward = gradients + core[1] + (sweeps[1] + other[1] + accumulate) / rank.memory
    backward += passes.kernels[1] * KERNEL_GAP
    if sparse:
        forward, backward = max(forward, EXPERT_LAUNCHES), max(backward, 2 * EXPERT_LAUNCHES)
    repeated, again = _repeated(training, rank, products, forward, core[0], sweeps[0])
    return LayerTime(
        forward=forward,
        backward=backward,
        weight_gradient=products.weight_gradient + accumulate / rank.memory,
        repeated=repeated,
        tensor_parallel=_tensor_parallel(model, plan, training, rank, gradients, again, sparse),
        context_parallel=_context_parallel(scores, plan, training, rank, core),
        expert_parallel=_expert_parallel(model, plan, training, rank, again) if sparse else 0.0,
    )


def product_time(gemm: Gemm, rank: Rank, *, linear: bool = True) -> tuple[Seconds, ...]:
    """Return the time of a product forward, of its input gradient and of its weight gradient."""
    rows, columns, inner, count = gemm.m, gemm.n, gemm.k, gemm.count
    rate = rank.linear if linear else rank.matmul
    sms, fill = rank.sms, rank.fill
    return (
        matmul_time(rows, columns, inner, count, rate, sms, fill),
        matmul_time(rows, inner, columns, count, rate, sms, fill),
        matmul_time(columns, inner, rows, count, rate, sms, fill),
    )


def _products(
    model: Model, plan: Plan, training: Training, rank: Rank, sparse: bool
) -> _Products:
    forward = inputs = weights = read = written = parameters = 0.0
    for gemm in _as_launched(layer_gemms(model, plan, training, sparse=sparse), model, plan, rank):
        times = product_time(gemm, rank, linear=gemm.name != "router")
        forward, inputs, weights = forward + times[0], inputs + times[1], weights + times[2]
        read += gemm.m * gemm.k * gemm.count
        written += gemm.m * gemm.n * gemm.count
        parameters += gemm.n * gemm.k * gemm.count
    return _Products(
        forward=forward,
        input_gradient=inputs,
        weight_gradient=weights,
        read=read,
        written=written,
        weights=parameters,
    )


def _as_launched(
    gemms: tuple[Gemm, ...], model: Model, plan: Plan, rank: Rank
) -> tuple[Gemm, ...]:
    """Split the fused projections where the software keeps them apart."""
    if rank.software.fused_projections or model.mlp != "swiglu":
        return gemms
    found = []
    for gemm in gemms:
        if gemm.name == "query_key_value":
            query = model.num_attention_heads * head_size(model) / plan.tensor_parallel
            key = (gemm.n - query) / 2
            found += [_columns(gemm, query), _columns(gemm, key), _columns(gemm, key)]
        elif gemm.name == "mlp_up":
            found += [_columns(gemm, gemm.n / 2)] * 2
        else:
            found.append(gemm)
    return tuple(found)


def _columns(gemm: Gemm, columns: Ratio) -> Gemm:
    return Gemm(name=gemm.name, m=gemm.m, n=columns, k=gemm.k, count=gemm.count)


def _style(training: Training, rank: Rank) -> Style:
    if training.compiled:
        return "fused"
    return "python" if rank.software.python_activations else "eager"


def _attention(scores: Scores, training: Training, rank: Rank) -> tuple[Seconds, Seconds]:
    """Return the time of the attention between queries and keys, forward and backward."""
    heads = scores.sequences * scores.heads
    size = (scores.head_size + scores.value_head_size) / 2
    shape = (heads, scores.queries, scores.keys, size)
    if training.flash_attention:
        forward = flash_attention_time(*shape, rank.attention_forward, rank.sms)
        backward = flash_attention_time(*shape, rank.attention_backward, rank.sms)
        return forward, ATTENTION_BACKWARD * backward
    batched = unfused_attention_time(*shape, rank.matmul)
    return batched, 2 * batched


def _sweeps(
    model: Model, plan: Plan, training: Training, passes: Passes, sparse: bool
) -> tuple[Bytes, Bytes]:
    """Return the bytes that element-wise kernels move, forward and backward."""
    tensor = plan.tensor_parallel
    tokens: Tokens = training.micro_batch_size * training.sequence_length / plan.context_parallel
    own = tokens / tensor if plan.sequence_parallel else tokens
    heads = model.num_attention_heads + model.num_key_value_heads
    rotated = tokens * heads * head_size(model) / tensor
    inner = tokens * model.ffn_hidden_size / tensor
    routed = 0.0
    if sparse:
        copies = tokens * model.experts_per_token / tensor
        width = model.expert_ffn_hidden_size
        inner = copies * width + tokens * model.num_shared_experts * width / tensor
        # Permuted, and summed with weights: read and write each copy twice. Router in fp32.
        routed = 5 * copies * model.hidden_size + 12 * tokens / tensor * model.num_experts
    hidden = own * model.hidden_size
    score = (0.0, 0.0)
    if not training.flash_attention:
        per_rank = tokens * training.sequence_length * model.num_attention_heads / tensor
        score = (per_rank * passes.score[0], per_rank * passes.score[1])
    parts = [
        HALF * (hidden * h + rotated * r + inner * i + routed * extra) + s
        for h, r, i, extra, s in zip(
            passes.hidden, passes.heads, passes.inner, (1.0, 1.2), score, strict=True
        )
    ]
    if model.biases:
        columns = rotated + inner + 2 * tokens * model.hidden_size
        parts[1] += HALF * columns
    return parts[0], parts[1]


def _conversions(products: _Products, rank: Rank) -> tuple[Bytes, Bytes]:
    """Return the bytes that conversions to fp8 move, forward and backward."""
    if not rank.quantized:
        return 0.0, 0.0
    # Without a cache of converted weights (FSDP gathers them anew) they are converted each time.
    weights = 0.0 if rank.software.fused_projections else products.weights
    return FP8_CONVERSION * (products.read + weights), FP8_CONVERSION * products.written


def _repeated(
    training: Training,
    rank: Rank,
    products: _Products,
    forward: Seconds,
    core: Seconds,
    sweeps: Bytes,
) -> tuple[Seconds, Share]:
    """Return the repeated computation, and the repeated share of the forward collectives."""
    if training.recompute == "full":
        return forward, 1.0
    if training.recompute == "none":
        return 0.0, 0.0
    if rank.software.selective_repeats_products:
        return products.forward / 2 + sweeps / rank.memory, 0.5
    return core, 0.0


def _tensor_parallel(
    model: Model,
    plan: Plan,
    training: Training,
    rank: Rank,
    gradients: Seconds,
    again: Share,
    sparse: bool,
) -> Seconds:
    """Return the exposed collectives of tensor parallelism.

    Each of attention and feed-forward part gathers and scatters (or reduces) once forward and once
    backward. Routed experts are exchanged, not split.
    """
    tensor = plan.tensor_parallel
    if tensor == 1:
        return 0.0
    group = group_of(rank, tensor, 1)
    tokens = training.micro_batch_size * training.sequence_length / plan.context_parallel
    size = HALF * tokens * model.hidden_size
    parts = 1 if sparse and not model.num_shared_experts else 2
    scattered = plan.sequence_parallel
    if scattered:
        forward = parts * 2 * scatter_or_gather_time(size, tensor, group.nodes, group.bandwidth)
    else:
        forward = parts * all_reduce_time(
            size, tensor, group.nodes, group.bandwidth, rank.switch_adds
        )
    backward, beside = forward, 0.0
    if rank.software.hides_backward_tensor_parallel:
        # With scattered sequences the input is gathered a second time, beside the products too.
        backward, beside = (forward / 2, forward) if scattered else (0.0, forward)
    exposed = forward * (1 + again) + backward
    if training.overlap_tensor_parallel:
        exposed *= 1 - HIDDEN
    return exposed + max(0.0, beside - COVER * gradients)


def _context_parallel(
    scores: Scores, plan: Plan, training: Training, rank: Rank, core: tuple[Seconds, Seconds]
) -> Seconds:
    """Return what the ring of keys and values adds to the attention, forward and backward."""
    ranks = plan.context_parallel
    if ranks == 1:
        return 0.0
    width = scores.key_value_heads * (scores.head_size + scores.value_head_size)
    size = HALF * scores.sequences * scores.queries * width
    group = group_of(rank, ranks, plan.tensor_parallel)
    steps = ranks - 1
    ring = steps * send_time(size, _hop(rank, group), min(2, group.nodes))
    hidden = steps / ranks
    # Each step is a kernel of its own, and its result is merged with the others'.
    merge = steps * 10 * KERNEL_GAP
    forward = max(0.0, ring - core[0] * hidden) + merge
    backward = max(0.0, 2 * ring - core[1] * hidden) + 2 * merge
    repeats = 0 if training.recompute == "none" else 1
    return forward * (1 + repeats) + backward


def _hop(rank: Rank, group: Group) -> float:
    """Return the bandwidth of one hop of a ring: of links, or of the rank's own port."""
    return rank.scale_up if group.nodes == 1 else rank.port


def _expert_parallel(
    model: Model, plan: Plan, training: Training, rank: Rank, again: Share
) -> Seconds:
    """Return the exposed exchange of tokens: dispatch and combine, forward and backward."""
    ranks = plan.expert_parallel
    if ranks == 1:
        return 0.0
    group = group_of(rank, ranks, plan.expert_tensor_parallel)
    tokens = training.micro_batch_size * training.sequence_length
    own = tokens / plan.context_parallel / plan.tensor_parallel
    one = exchange_time(own, model, rank, group)
    exposed = one * 2 * (2 + again)
    return exposed * (1 - HIDDEN) if training.overlap_tensor_parallel else exposed


def exchange_time(tokens: Tokens, model: Model, rank: Rank, group: Group) -> Seconds:
    """Return the time to send each of a rank's tokens to its experts, or the results back.

    One copy per node crosses the network, on to the experts of that node over the links (DeepEP);
    the two overlap.
    """
    token = HALF * model.hidden_size
    copies = model.experts_per_token
    inside = tokens * copies * token * (group.ranks - 1) / group.ranks / rank.scale_up
    if group.nodes == 1:
        return inside + send_time(0.0, rank.scale_up, 1)
    nodes = group.nodes
    reached = nodes * (1 - (1 - 1 / nodes) ** copies)  # with evenly spread experts
    across = tokens * token * reached * (nodes - 1) / nodes
    return max(inside, send_time(across, rank.port, 2))


def output_time(model: Model, plan: Plan, training: Training, rank: Rank, gemm: Gemm) -> Seconds:
    """Return the time of the output layer and the loss, forward and backward."""
    products = sum(product_time(gemm, rank, linear=False))
    loss = LOGIT[training.compiled] * gemm.m * gemm.n / rank.memory
    return products + loss + _vocabulary_exchange(model, plan, rank, gemm.m)


def embedding_time(model: Model, plan: Plan, rank: Rank, tokens: Tokens) -> Seconds:
    """Return the time to look the tokens up and to add their gradients."""
    lookup = 8 * HALF * tokens * model.hidden_size / rank.memory
    return lookup + _vocabulary_exchange(model, plan, rank, tokens)


def _vocabulary_exchange(model: Model, plan: Plan, rank: Rank, tokens: Tokens) -> Seconds:
    """Gather the input of the output layer and scatter its gradient, over the split vocabulary."""
    if plan.tensor_parallel == 1:
        return 0.0
    group = group_of(rank, plan.tensor_parallel, 1)
    size = HALF * tokens * model.hidden_size
    return 2 * scatter_or_gather_time(size, group.ranks, group.nodes, group.bandwidth)


__all__ = ["EXPONENTIAL_SIZE", "LayerTime", "embedding_time", "layer_time", "output_time"]


def tokens_of(plan: Plan, training: Training) -> Count:
    """Return the tokens of a micro-batch on one rank of context parallelism."""
    return training.micro_batch_size * training.sequence_length // plan.context_parallel
