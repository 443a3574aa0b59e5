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
from engine.simulate.layer.device_model import Rank, group_of
from engine.simulate.layer.layer_exchange import all_reduced

Way = Literal["zero", "tensor"]

HALF: Bytes = 2.0
MULTIPLY_ADD: Operations = 2.0
# Layers' weights that a GPU holds beside its share: the one that computes and the next.
_GATHERED: Count = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A model on some GPUs of one group, and what is asked of it.

    Attributes:
        model: without experts.
        rank: what a GPU can do.
        ranks: GPUs.
        batch: sequences at a time.
        prompt: tokens of each.
        new_tokens: to be generated for each.
    """

    model: Model
    rank: Rank
    ranks: Count
    batch: Count
    prompt: Tokens
    new_tokens: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
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


def forward_pass(serving: Serving, way: Way, tokens: Tokens, context: Tokens) -> Pass:
    """Return a pass of so many tokens of each sequence, which attend to `context` tokens."""
    model, rank, ranks = serving.model, serving.rank, serving.ranks
    parameters = dense_layer_parameters(model).total
    group = group_of(rank, ranks, 1)
    computing = _computing(serving, way, tokens, context)
    layers = model.num_layers
    if way == "zero":
        gather = scatter_or_gather_time(
            HALF * parameters, ranks, group.nodes, group.bandwidth, group.network
        )
        return Pass(
            computing=layers * computing,
            communication=layers * gather,
            time=layers * max(computing, gather),
            sent=layers * gathered_weights(parameters, ranks, HALF),
        )
    rows = serving.batch * tokens
    sums = 2 * all_reduced(HALF * rows * model.hidden_size, group, rank)
    return Pass(
        computing=layers * computing,
        communication=layers * sums,
        time=layers * (computing + sums),
        sent=layers * summed_activations(rows, model.hidden_size, ranks, HALF),
    )


def sequences_of(serving: Serving, way: Way) -> Ratio:
    """Return the sequences that the busiest GPU has to compute, a shared one as a fraction."""
    if way == "tensor":
        return serving.batch / serving.ranks
    return float(-(-serving.batch // serving.ranks))


def cached_sequences(serving: Serving, way: Way) -> Ratio:
    """Return the sequences whose keys and values the busiest GPU holds and reads.

    With more tensor-parallel GPUs than key-value heads, each of these heads is on several.
    """
    if way == "tensor":
        return serving.batch / min(serving.ranks, serving.model.num_key_value_heads)
    return sequences_of(serving, way)


def _computing(serving: Serving, way: Way, tokens: Tokens, context: Tokens) -> Seconds:
    """Return one layer: arithmetic, or reading weights and the cache from memory.

    A pass of one token reads all weights that the GPU multiplies with; a prompt reuses them.
    """
    model, rank = serving.model, serving.rank
    parameters = dense_layer_parameters(model).total
    own = sequences_of(serving, way)
    width = model.num_attention_heads * head_size(model)
    seen = (context + 1) / 2 if tokens > 1 else context
    products = MULTIPLY_ADD * parameters * own * tokens / rank.matmul
    scores = 2 * MULTIPLY_ADD * own * tokens * seen * width / rank.attention_forward
    share = 1.0 if way == "zero" else 1 / serving.ranks
    cached = cached_sequences(serving, way) * context * cache_bytes(model)
    read = HALF * parameters * share + cached
    return max(products + scores, read / rank.memory)


def cache_bytes(model: Model) -> Bytes:
    """Return the keys and values of one token in one layer."""
    return HALF * 2 * model.num_key_value_heads * head_size(model)


def held(serving: Serving, way: Way) -> Bytes:
    """Return what a GPU holds: its share of all weights, caches, and weights that are gathered."""
    model = serving.model
    weights = HALF * model.num_layers * dense_layer_parameters(model).total / serving.ranks
    tokens = cached_sequences(serving, way) * (serving.prompt + serving.new_tokens)
    caches = model.num_layers * tokens * cache_bytes(model)
    gathered = _GATHERED * HALF * dense_layer_parameters(model).total if way == "zero" else 0.0
    return weights + caches + gathered


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A prompt and its tokens.

    Attributes:
        passes: the prompt's, which gives the first token, then one for each further token.
        ends: when each of them is done.
    """

    passes: tuple[Pass, ...]
    ends: tuple[Seconds, ...]

    def done(self, time: Seconds) -> Ratio:
        """Return how many passes are done by then, the one under way as a fraction."""
        before = 0.0
        for index, end in enumerate(self.ends):
            if time < end:
                return index + (time - before) / (end - before)
            before = end
        return float(len(self.ends))

    def sent(self, time: Seconds) -> Bytes:
        """Return what a GPU has sent by then."""
        done = self.done(time)
        whole = int(done)
        under_way = (done - whole) * self.passes[whole].sent if whole < len(self.passes) else 0.0
        return sum(one.sent for one in self.passes[:whole]) + under_way


def generated(serving: Serving, way: Way) -> Generated:
    """Return the passes of a prompt and its new tokens."""
    passes = [forward_pass(serving, way, serving.prompt, serving.prompt)]
    for token in range(1, serving.new_tokens):
        passes.append(forward_pass(serving, way, 1, serving.prompt + token))
    return Generated(passes=tuple(passes), ends=tuple(_sums([one.time for one in passes])))


def _sums(times: Sequence[Seconds]) -> list[Seconds]:
    found, total = [], 0.0
    for time in times:
        total += time
        found.append(total)
    return found


def token_rate(serving: Serving, way: Way) -> TokenRate:
    """Return the new tokens per second of all sequences together, prompts not counted."""
    one = forward_pass(serving, way, 1, serving.prompt + serving.new_tokens / 2)
    return serving.batch / one.time
