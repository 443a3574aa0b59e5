"""The operations of a transformer: which matrix products, of which shape, and their total.

One multiplication and one addition count as two operations. What a rank computes for one
micro-batch, forward; the backward pass has two products of the same size for each.
"""

from engine.catalog.models import (
    Model,
    expert_input_size,
    head_size,
    sum_over_layers,
    value_head_size,
    without_mixer,
)
from engine.core.record import record
from engine.core.units import Count, Operations, Parameters, Ratio, Share, Tokens
from engine.run.parallelism import Plan, Training

MULTIPLY_ADD: Operations = 2.0  # per element of a product and per parameter and token
FORWARDS_PER_STEP: Ratio = 3.0  # forward, and twice as much backward


@record
class Gemm:
    """Matrix products of one shape on one rank: (m x k) times (k x n).

    Attributes:
        name: the part of the layer.
        m: rows, the tokens.
        n: columns of the weight.
        k: the dimension that is summed.
        count: products of this shape, one after another or in one grouped kernel.
        linear: a weight takes part, so that fp8 may apply and a weight gradient is due.
    """

    name: str
    m: Tokens
    n: Ratio
    k: Ratio
    count: Ratio = 1.0
    linear: bool = True

    @property
    def operations(self) -> Operations:
        """Of all of them together."""
        return MULTIPLY_ADD * self.m * self.n * self.k * self.count


@record
class Scores:
    """The attention between queries and keys on one rank, scores and weighted sum.

    Attributes:
        sequences: of the micro-batch.
        heads: query heads on this rank.
        key_value_heads: key and value heads on this rank.
        queries: tokens of a sequence on this rank.
        keys: tokens that they attend to, from all ranks of context parallelism.
        head_size: of queries and keys.
        value_head_size: of values.
        visible: share of the query-key pairs that the mask leaves: about a half if causal.
    """

    sequences: Count
    heads: Ratio
    key_value_heads: Ratio
    queries: Tokens
    keys: Tokens
    head_size: Count
    value_head_size: Count
    visible: Share

    @property
    def operations(self) -> Operations:
        """Of the products that the mask leaves."""
        pairs = self.sequences * self.heads * self.queries * self.keys * self.visible
        return MULTIPLY_ADD * pairs * (self.head_size + self.value_head_size)


def local_tokens(plan: Plan, training: Training) -> Tokens:
    """Return the tokens of a micro-batch on one rank of context parallelism."""
    return training.micro_batch_size * training.sequence_length / plan.context_parallel


def attention_gemms(model: Model, plan: Plan, training: Training) -> tuple[Gemm, ...]:
    """Return the projections of one attention on one rank."""
    tokens, hidden = local_tokens(plan, training), model.hidden_size
    if model.mixer:
        own = without_mixer(model) if model.mixer.attends else None
        first = attention_gemms(own, plan, training) if own else ()
        sizes = tokens, tokens / plan.tensor_parallel if plan.sequence_parallel else tokens
        gemms: tuple[Gemm, ...] = model.mixer.products(
            model, first, Gemm, (*sizes, plan.tensor_parallel)
        )
        return gemms
    heads = model.num_attention_heads / plan.tensor_parallel
    output = Gemm(name="output", m=tokens, n=hidden, k=heads * value_head_size(model))
    if model.attention == "mla":
        return (*_latent_gemms(model, plan, tokens), output)
    groups = max(1.0, model.num_key_value_heads / plan.tensor_parallel)
    columns = heads * head_size(model) + groups * (head_size(model) + value_head_size(model))
    return (Gemm(name="query_key_value", m=tokens, n=columns, k=hidden), output)


def _latent_gemms(model: Model, plan: Plan, tokens: Tokens) -> tuple[Gemm, ...]:
    """The low-rank projections run on every rank of tensor parallelism; the rest is split."""
    heads, head = model.num_attention_heads / plan.tensor_parallel, head_size(model)
    latent, rotary, query = (
        model.key_value_latent_size,
        model.rotary_head_size,
        model.query_latent_size,
    )
    shared = tokens / plan.tensor_parallel if plan.sequence_parallel else tokens
    up = heads * (head - rotary + value_head_size(model))
    key_value = (
        Gemm(name="key_value_down", m=shared, n=latent + rotary, k=model.hidden_size),
        Gemm(name="key_value_up", m=tokens, n=up, k=latent),
    )
    if not query:
        return (Gemm(name="query", m=tokens, n=heads * head, k=model.hidden_size), *key_value)
    return (
        Gemm(name="query_down", m=shared, n=query, k=model.hidden_size),
        Gemm(name="query_up", m=tokens, n=heads * head, k=query),
        *key_value,
    )


def attention_scores(model: Model, plan: Plan, training: Training, *, window: Count = 0) -> Scores:
    """Return the core of one attention on one rank; with `window`, of a sliding-window layer."""
    keys = training.sequence_length
    visible = (keys + 1) / (2 * keys)
    if 0 < window < keys:
        visible = (window * (window + 1) / 2 + (keys - window) * window) / keys**2
    return Scores(
        sequences=training.micro_batch_size,
        heads=model.num_attention_heads / plan.tensor_parallel,
        key_value_heads=max(1.0, model.num_key_value_heads / plan.tensor_parallel),
        queries=keys / plan.context_parallel,
        keys=keys,
        head_size=head_size(model),
        value_head_size=value_head_size(model),
        visible=visible,
    )


def mlp_gemms(
    model: Model, plan: Plan, training: Training, width: Count, name: str = "mlp"
) -> tuple[Gemm, ...]:
    """Return the products of a feed-forward part of inner width `width` that runs on all tokens."""
    tokens, columns = local_tokens(plan, training), width / plan.tensor_parallel
    gates = 2 if model.mlp == "swiglu" else 1
    return (
        Gemm(name=f"{name}_up", m=tokens, n=gates * columns, k=model.hidden_size),
        Gemm(name=f"{name}_down", m=tokens, n=model.hidden_size, k=columns),
    )


def expert_gemms(model: Model, plan: Plan, training: Training) -> tuple[Gemm, ...]:
    """Return the grouped products of the routed experts on one rank, tokens evenly routed.

    `expert_parallel` x `expert_tensor_parallel` ranks together work on the tokens that their
    ranks of tensor and context parallelism hold, each token `experts_per_token` times.
    """
    local_experts = model.num_experts / plan.expert_parallel
    rank_tokens = local_tokens(plan, training) / plan.tensor_parallel
    per_group = rank_tokens * plan.expert_tensor_parallel * model.experts_per_token
    rows = per_group / local_experts
    columns = model.expert_ffn_hidden_size / plan.expert_tensor_parallel
    gates = 2 if model.mlp == "swiglu" else 1
    hidden = expert_input_size(model)
    return (
        Gemm(name="experts_up", m=rows, n=gates * columns, k=hidden, count=local_experts),
        Gemm(name="experts_down", m=rows, n=hidden, k=columns, count=local_experts),
    )


def layer_gemms(
    model: Model, plan: Plan, training: Training, *, sparse: bool = False
) -> tuple[Gemm, ...]:
    """Return all matrix products with weights of one layer on one rank, forward."""
    attention = attention_gemms(model, plan, training)
    if not sparse:
        width = model.ffn_hidden_size
        return (*attention, *mlp_gemms(model, plan, training, width)) if width else attention
    tokens = local_tokens(plan, training)
    # The router runs on the rank's own part of the tokens, where sequence parallelism splits them.
    own = tokens / plan.tensor_parallel if plan.sequence_parallel else tokens
    router = Gemm(name="router", m=own, n=model.num_experts, k=model.hidden_size)
    experts = expert_gemms(model, plan, training)
    if latent := model.expert_hidden_size:
        hidden = model.hidden_size
        down = Gemm(name="latent_down", m=own, n=latent, k=hidden)
        experts = (down, *experts, Gemm(name="latent_up", m=own, n=hidden, k=latent))
    if not model.num_shared_experts:
        return (*attention, router, *experts)
    width = model.num_shared_experts * model.expert_ffn_hidden_size
    return (*attention, router, *experts, *mlp_gemms(model, plan, training, width, "shared"))


def output_gemm(model: Model, plan: Plan, training: Training) -> Gemm:
    """Return the product with the output matrix on one rank."""
    columns = model.vocab_size / plan.tensor_parallel
    tokens = local_tokens(plan, training)
    return Gemm(name="logits", m=tokens, n=columns, k=model.hidden_size)


def attention_operations(model: Model, sequence_length: Tokens, visible: Share) -> Operations:
    """Return the operations of scores and weighted sums per token, of all layers, forward.

    `visible` is the share of the query-key pairs that is counted: 1 for all pairs (Narayanan 2021,
    PaLM), 0.5 for a causal mask. The window of every second layer is left out, as published
    formulas do; of a model whose layers differ every kind counts what it does.
    """
    if model.mix:
        return sum_over_layers(
            model, lambda kind: attention_operations(kind[0], sequence_length, visible)
        )
    if model.mixer:
        mixed: Operations = model.mixer.operations(model, sequence_length, visible)
        return mixed
    width = model.num_attention_heads * (head_size(model) + value_head_size(model))
    return MULTIPLY_ADD * model.num_layers * width * sequence_length * visible


def up_projections(model: Model) -> Parameters:
    """Return the elements of the matrices of all layers by which latent attention goes up."""
    if model.mix:
        return sum_over_layers(model, lambda kind: up_projections(kind[0]))
    if model.attention != "mla" or (model.mixer and not model.mixer.attends):
        return 0.0
    heads, head = model.num_attention_heads, head_size(model)
    keys = head - model.rotary_head_size + value_head_size(model)
    each = heads * (model.query_latent_size * head + model.key_value_latent_size * keys)
    return model.num_layers * each
