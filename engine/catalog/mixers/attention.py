"""Attention with a window, a gate, or keys chosen by an indexer, and layers without any mixer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.catalog.mixers.projections import (
    HALF,
    MULTIPLY_ADD,
    Matrix,
    PassTimes,
    Split,
    matrix_elements,
    matrix_products,
)
from engine.catalog.models import Model, head_size, value_head_size
from engine.core.record import record
from engine.core.units import Bytes, Count, Operations, Ratio, Share, Tokens

# A backward pass of a fused attention has five products instead of two (Dao 2023).
_BACKWARD: Ratio = 2.5
_NUMBER: Bytes = 4.0  # of a chosen key


def seen_keys(length: Tokens, window: Tokens) -> Tokens:
    """Return the keys that a query sees in the mean: (s + 1) / 2, or w - w (w - 1) / (2 s)."""
    if not 0 < window < length:
        return (length + 1) / 2
    return window - window * (window - 1) / (2 * length)


def cached_elements(model: Model) -> Count:
    """Return the elements of a token's keys and values, or of the latent that stands for them."""
    if model.attention == "mla":
        return model.key_value_latent_size + model.rotary_head_size
    return model.num_key_value_heads * (head_size(model) + value_head_size(model))


@record
class Attending:
    """Attention that differs from the plain one of the model's sizes.

    Attributes:
        window: tokens that a query sees; 0: all before it.
        gated: each head's result is multiplied by a gate of its own (Qwen3-Next).
        shared: values are the keys, one projection for both (Gemma 4).
        index_heads: heads of the indexer; 0: no indexer, or that of a layer before.
        index_size: of a head of the indexer.
        index_tokens: keys that the indexer leaves to a query; 0: all.
        alone: the layer has no feed-forward part.
    """

    window: Count = 0
    gated: bool = False
    shared: bool = False
    index_heads: Count = 0
    index_size: Count = 0
    index_tokens: Count = 0
    alone: bool = False
    attends = True

    @property
    def parts(self) -> Share:
        """Share of a layer's norms and residual additions."""
        return 0.5 if self.alone else 1.0

    def matrices(self, model: Model) -> tuple[Matrix, ...]:
        """Return the matrices beside those of plain attention.

        The indexer has queries from the latent of queries, one head of keys, and a weight for each
        head.
        """
        hidden, heads = model.hidden_size, model.num_attention_heads
        more: tuple[Matrix, ...] = ()
        if self.gated:
            more += (("gate", heads * value_head_size(model), hidden, True),)
        if self.index_heads:
            columns = self.index_heads * self.index_size
            more += (
                ("index_query", columns, model.query_latent_size or hidden, None),
                ("index_key", self.index_size, hidden, None),
                ("index_weight", self.index_heads, hidden, None),
            )
        return more

    def parameters(self, model: Model, attention: Split) -> Split:
        """Return its parameters, (split over heads, on every rank), beside plain attention's."""
        split, whole = matrix_elements(self.matrices(model))
        if self.shared:
            split -= model.hidden_size * model.num_key_value_heads * value_head_size(model)
        return attention[0] + split, attention[1] + whole + 2 * self.index_size

    def products(
        self,
        model: Model,
        attention: tuple[Any, ...],
        make: Callable[..., Any],
        sizes: tuple[Ratio, Ratio, Count],
    ) -> tuple[Any, ...]:
        """Return its projections on one rank: those of plain `attention` as they are here, more."""
        more = matrix_products(make, self.matrices(model), sizes)
        if not self.shared:
            return attention + more
        saved = model.num_key_value_heads * value_head_size(model) / sizes[2]
        kept = (
            replace(product, n=product.n - saved) if product.name == "query_key_value" else product
            for product in attention
        )
        return (*kept, *more)

    def operations(self, model: Model, sequence_length: Tokens, visible: Share) -> Operations:
        """Return the operations of a token's scores, its weighted sum and its indexer, forward.

        `visible` is 1 where both halves of the pairs are counted. Keys chosen by an indexer are
        attended to in the latent space, by one head of keys and values (Megatron-Bridge,
        `num_floating_point_operations`; equations 1 and 2 of arXiv 2512.02556).
        """
        heads, counted = model.num_attention_heads, 2 * visible
        if not self.index_tokens:
            width = head_size(model) + value_head_size(model)
            keys = counted * seen_keys(sequence_length, self.window)
            if not self.window:
                keys = visible * sequence_length
            return MULTIPLY_ADD * heads * width * keys
        every = self.index_heads * (self.index_size + 1) * seen_keys(sequence_length, 0)
        chosen = heads * self._width(model) * seen_keys(sequence_length, self.index_tokens)
        return MULTIPLY_ADD * counted * (every + chosen)

    def kept(self, model: Model, stored: Bytes, tensor: Count, attention: Bytes) -> Bytes:
        """Return the bytes per token that it keeps; `attention` is what plain attention keeps.

        A gate keeps itself and the result before it; the indexer its queries, its keys and the
        numbers of the keys that it chose.
        """
        gate = 2 * HALF * model.num_attention_heads * value_head_size(model) / tensor
        kept = attention + (gate if self.gated else 0.0)
        if not self.index_heads:
            return kept
        return kept + HALF * (self.index_heads + 1) * self.index_size + _NUMBER * self.index_tokens

    def gathered(self, model: Model, tensor: Count) -> Count:
        """Return the elements of a token that every rank of context parallelism gathers; 0: none.

        Attention in a window knows no ring (Transformer Engine, `attn_forward_func_with_cp`), and
        chosen keys may lie anywhere: their latents and the indexer's keys are gathered
        (Megatron-Core, `dsa.py`). Ranks of tensor parallelism split keys and values by heads.
        """
        if self.index_tokens:
            return cached_elements(model) + (self.index_size if self.index_heads else 0)
        if not self.window:
            return 0
        if model.attention == "mla":
            return model.num_attention_heads // tensor * (head_size(model) + value_head_size(model))
        return cached_elements(model) // min(tensor, model.num_key_value_heads)

    def cached(self, model: Model, sequence_length: Tokens) -> Bytes:
        """Return the bytes of a sequence's keys and values that generation keeps, in 16 bits.

        Keys and values of the tokens that are seen, or their latents; the indexer's keys beside.
        """
        seen = min(self.window, sequence_length) if self.window else sequence_length
        index = self.index_size if self.index_heads else 0
        elements = cached_elements(model) / (2 if self.shared else 1)
        return HALF * (seen * elements + sequence_length * index)

    def core(
        self,
        model: Model,
        scores: Any,  # noqa: ANN401
        rank: Any,  # noqa: ANN401
        full: PassTimes,
        block: Tokens,
    ) -> PassTimes:
        """Return the time of the attention, forward and backward; `full` is that to all keys.

        A window leaves out whole blocks of keys. Chosen keys are attended to at the rate of a
        plain attention, in the latent space; the indexer's scores, of all pairs, are products.
        """
        if self.window:
            inside = min(1.0, 2 * (self.window + block) / (scores.keys + block))
            return full[0] * inside, full[1] * inside
        if not self.index_tokens or scores.keys <= self.index_tokens:
            return full
        tokens = scores.sequences * scores.queries
        pairs = tokens * seen_keys(scores.keys, self.index_tokens)
        chosen = MULTIPLY_ADD * scores.heads * self._width(model) * pairs
        every = self.index_heads * self.index_size * tokens * seen_keys(scores.keys, 0)
        forward = chosen / rank.attention_forward + MULTIPLY_ADD * every / rank.matmul
        return forward, _BACKWARD * chosen / rank.attention_backward

    def _width(self, model: Model) -> Count:
        """Return the elements of a query, a key and a value that a chosen pair multiplies."""
        if model.attention == "mla":
            return 2 * model.key_value_latent_size + model.rotary_head_size
        return head_size(model) + value_head_size(model)


@record
class NoMixer:
    """A layer that has a feed-forward part, and nothing before it."""

    attends = False

    @property
    def parts(self) -> Share:
        """Share of a layer's norms and residual additions."""
        return 0.5

    def matrices(self, model: Model) -> tuple[Matrix, ...]:
        """Return no matrices."""
        return ()

    def parameters(self, model: Model, attention: Split) -> Split:
        """Return no parameters."""
        return 0.0, 0.0

    def products(
        self, model: Model, attention: object, make: object, sizes: object
    ) -> tuple[Any, ...]:
        """Return no products."""
        return ()

    def operations(self, model: Model, sequence_length: Tokens, visible: Share) -> Operations:
        """Return no operations."""
        return 0.0

    def kept(self, model: Model, stored: Bytes, tensor: Count, normed: Bytes) -> Bytes:
        """Return no bytes."""
        return 0.0

    def cached(self, model: Model, sequence_length: Tokens) -> Bytes:
        """Return no bytes."""
        return 0.0

    def core(
        self, model: Model, scores: object, rank: object, full: PassTimes, block: Tokens
    ) -> PassTimes:
        """Return no time."""
        return 0.0, 0.0

    def exchanged(self, model: Model) -> tuple[Count, Count]:
        """Return that nothing is exchanged."""
        return 0, 0
