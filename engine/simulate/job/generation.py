"""Generating text on several GPUs: prompt and tokens, by gathered weights or by tensor parallelism.

A forward pass works on the whole prompt, and then on one token of each sequence at a time. With
gathered weights (ZeRO-3) each GPU has sequences of its own, and every layer's weights are gathered
while the layer before it computes. With tensor parallelism all GPUs work on all sequences, and
each layer waits for its two all-reduces. Embedding and output layer are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.catalog.models import Model, head_size
from engine.core.units import Bytes, Count, Operations, Ratio, Seconds, TokenRate, Tokens
from engine.formulas.inference import gathered_weights, summed_activations
from engine.formulas.parameters import dense_layer_parameters
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.simulate.layer.collective import nccl_collective_time
from engine.simulate.layer.device_model import RankRates, rank_group

GenerationScheme = Literal["zero", "tensor"]

HALF: Bytes = 2.0
MULTIPLY_ADD: Operations = 2.0
# Layers' weights that a GPU holds beside its share: the one that computes and the next.
_GATHERED: Count = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingJob:
    """A generation job: model, GPUs, batch and tokens.

    Attributes:
        model: without experts.
        rank: what a GPU can do.
        ranks: GPUs.
        batch: sequences at a time.
        prompt: tokens of each.
        new_tokens: to be generated for each.
    """

    model: Model
    rank: RankRates
    ranks: Count
    batch: Count
    prompt: Tokens
    new_tokens: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardPass:
    """One forward pass through all layers, on the busiest GPU.

    Attributes:
        computing: or reading weights and caches, whichever takes longer.
        communication: alone.
        time: with what overlaps.
        sent: by a GPU.
    """

    computing: Seconds
    communication: Seconds
    time: Seconds
    sent: Bytes


def forward_pass(
    serving: ServingJob, scheme: GenerationScheme, tokens: Tokens, context: Tokens
) -> ForwardPass:
    """Return a forward pass of `tokens` per sequence, which attend to `context` tokens."""
    model, rank, ranks = serving.model, serving.rank, serving.ranks
    parameters = dense_layer_parameters(model).total
    group = rank_group(rank, ranks, 1)
    computing = _layer_compute_time(serving, scheme, tokens, context)
    layers = model.num_layers
    if scheme == "zero":
        gather = scatter_or_gather_time(
            HALF * parameters, ranks, group.nodes, group.bandwidth, group.network
        )
        return ForwardPass(
            computing=layers * computing,
            communication=layers * gather,
            time=layers * max(computing, gather),
            sent=layers * gathered_weights(parameters, ranks, HALF),
        )
    rows = serving.batch * tokens
    sums = 2 * nccl_collective_time(rank, group, HALF * rows * model.hidden_size)
    return ForwardPass(
        computing=layers * computing,
        communication=layers * sums,
        time=layers * (computing + sums),
        sent=layers * summed_activations(rows, model.hidden_size, ranks, HALF),
    )


def computed_sequences(serving: ServingJob, scheme: GenerationScheme) -> Ratio:
    """Return the sequences per GPU, as a fraction with tensor parallelism."""
    if scheme == "tensor":
        return serving.batch / serving.ranks
    return float(-(-serving.batch // serving.ranks))


def cached_sequences(serving: ServingJob, scheme: GenerationScheme) -> Ratio:
    """Return the sequences in the key-value cache of the busiest GPU.

    With more tensor-parallel GPUs than key-value heads, each of these heads is on several.
    """
    if scheme == "tensor":
        return serving.batch / min(serving.ranks, serving.model.num_key_value_heads)
    return computed_sequences(serving, scheme)


def _layer_compute_time(
    serving: ServingJob, scheme: GenerationScheme, tokens: Tokens, context: Tokens
) -> Seconds:
    """Return the compute time of one layer, bound by FLOPs or by memory reads.

    A pass of one token reads all weights that the GPU multiplies with; a prompt reuses them.
    """
    model, rank = serving.model, serving.rank
    parameters = dense_layer_parameters(model).total
    sequences = computed_sequences(serving, scheme)
    width = model.num_attention_heads * head_size(model)
    attended = (context + 1) / 2 if tokens > 1 else context
    products = MULTIPLY_ADD * parameters * sequences * tokens / rank.matmul
    scores = 2 * MULTIPLY_ADD * sequences * tokens * attended * width / rank.attention_forward
    share = 1.0 if scheme == "zero" else 1 / serving.ranks
    cached = cached_sequences(serving, scheme) * context * cache_bytes(model)
    read = HALF * parameters * share + cached
    return max(products + scores, read / rank.memory)


def cache_bytes(model: Model) -> Bytes:
    """Return the cache bytes of one token in one layer."""
    return HALF * 2 * model.num_key_value_heads * head_size(model)


def memory_per_gpu(serving: ServingJob, scheme: GenerationScheme) -> Bytes:
    """Return the memory per GPU: weight shard, key-value caches and gathered weights."""
    model = serving.model
    weights = HALF * model.num_layers * dense_layer_parameters(model).total / serving.ranks
    tokens = cached_sequences(serving, scheme) * (serving.prompt + serving.new_tokens)
    caches = model.num_layers * tokens * cache_bytes(model)
    gathered = _GATHERED * HALF * dense_layer_parameters(model).total if scheme == "zero" else 0.0
    return weights + caches + gathered


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Forward passes of a prompt and its generated tokens.

    Attributes:
        passes: the prompt's, which gives the first token, then one for each further token.
        ends: when each of them is done.
    """

    passes: tuple[ForwardPass, ...]
    ends: tuple[Seconds, ...]

    def passes_done(self, time: Seconds) -> Ratio:
        """Return the passes done by a time, with a fraction for the current one."""
        before = 0.0
        for index, end in enumerate(self.ends):
            if time < end:
                return index + (time - before) / (end - before)
            before = end
        return float(len(self.ends))

    def bytes_sent(self, time: Seconds) -> Bytes:
        """Return the bytes that a GPU has sent by a time."""
        done = self.passes_done(time)
        completed = int(done)
        under_way = (
            (done - completed) * self.passes[completed].sent
            if completed < len(self.passes)
            else 0.0
        )
        return sum(forward.sent for forward in self.passes[:completed]) + under_way


def generate(serving: ServingJob, scheme: GenerationScheme) -> Generation:
    """Return the passes of a prompt and its new tokens."""
    passes = [forward_pass(serving, scheme, serving.prompt, serving.prompt)]
    for token in range(1, serving.new_tokens):
        passes.append(forward_pass(serving, scheme, 1, serving.prompt + token))
    return Generation(
        passes=tuple(passes), ends=tuple(_cumulative_sums([forward.time for forward in passes]))
    )


def _cumulative_sums(times: Sequence[Seconds]) -> list[Seconds]:
    sums, total = [], 0.0
    for time in times:
        total += time
        sums.append(total)
    return sums


def generation_token_rate(serving: ServingJob, scheme: GenerationScheme) -> TokenRate:
    """Return the new tokens per second of all sequences together, prompts not counted."""
    forward = forward_pass(serving, scheme, 1, serving.prompt + serving.new_tokens / 2)
    return serving.batch / forward.time
