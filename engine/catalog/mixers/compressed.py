"""Attention to a window and to compressed keys (DeepSeek-V4), in a block of several streams.

Queries come from a latent, keys are the values, one head of them for all queries, and the results
go through a low-rank projection in groups. Of every 4 tokens (CSA) or 128 (HCA) one key is made;
an indexer chooses among the former. Several residual streams are mixed before and after each part
of the layer (hyper-connections). Sizes and shapes are those of the class DeepseekV4 of Transformers
and of Megatron-Bridge's `num_floating_point_operations`; the time is derived, and not measured.
"""

from collections.abc import Callable
from typing import Any

from engine.catalog.mixers.attention import seen_keys
from engine.catalog.mixers.projections import (
    HALF,
    MULTIPLY_ADD,
    Matrix,
    PassTimes,
    Split,
    matrix_elements,
    matrix_products,
)
from engine.catalog.models import Model, head_size
from engine.core.record import record
from engine.core.units import Bytes, Count, Operations, Ratio, Share, Tokens

CHOSEN_FROM: Count = 4  # tokens of a compressed key that an indexer chooses
_BACKWARD: Ratio = 2.5  # of a fused attention: five products instead of two
# Of a stream: read to be mixed, read to be summed up, read and written to take a part's result.
_STREAM_PASSES: Ratio = 4.0
_PARTS: Count = 2  # of a layer, each between two mixtures of the streams


@record
class Compressed:
    """A layer's attention.

    Attributes:
        window: last tokens whose own keys a query sees.
        ratio: tokens that make one compressed key; 0: there are none.
        query_rank: of the latent of queries.
        output_rank: of a group's part of the output projection.
        output_groups: groups of heads.
        index_heads, index_size, index_tokens: of the indexer, where `ratio` is 4.
        streams: of the residual.
    """

    window: Count
    ratio: Count
    query_rank: Count
    output_rank: Count
    output_groups: Count
    index_heads: Count = 0
    index_size: Count = 0
    index_tokens: Count = 0
    streams: Count = 1
    attends = False
    parts = 1.0

    def matrices(self, model: Model) -> tuple[Matrix, ...]:
        """Return the matrices of its projections.

        Keys of 4 tokens overlap, so that both their contents and their weights are made twice.
        """
        hidden, head, groups = model.hidden_size, head_size(model), self.output_groups
        wide = model.num_attention_heads * head
        matrices: tuple[Matrix, ...] = (
            ("query_down", self.query_rank, hidden, None),
            ("query_up", wide, self.query_rank, True),
            ("key", head, hidden, None),
            ("output_down", self.output_rank, wide, False),
            ("output_up", hidden, groups * self.output_rank, False),
        )
        if self.ratio:
            copies = 4 if self.ratio == CHOSEN_FROM else 2
            matrices += (("compress", copies * head, hidden, None),)
        if self.ratio == CHOSEN_FROM:
            matrices += (
                ("index_compress", 4 * self.index_size, hidden, None),
                ("index_query", self.index_heads * self.index_size, self.query_rank, None),
                ("index_weight", self.index_heads, hidden, None),
            )
        if self.streams > 1:
            mixed = _PARTS * (2 + self.streams) * self.streams
            matrices += (("streams", mixed, self.streams * hidden, None),)
        return matrices

    def parameters(self, model: Model, attention: Split) -> Split:
        """Return its parameters: (split over heads, on every rank)."""
        split, whole = matrix_elements(self.matrices(model))
        return split, whole + self.query_rank + head_size(model) + model.num_attention_heads

    def products(
        self,
        model: Model,
        attention: tuple[Any, ...],
        make: Callable[..., Any],
        sizes: tuple[Ratio, Ratio, Count],
    ) -> tuple[Any, ...]:
        """Return its projections on one rank, as `matrix_products` does."""
        return matrix_products(make, self.matrices(model), sizes)

    def keys(self, length: Tokens) -> Tokens:
        """Return the keys that a query sees in the mean: of its window, and compressed ones."""
        window_keys = seen_keys(length, self.window)
        if not self.ratio:
            return window_keys
        if self.ratio != CHOSEN_FROM:
            return window_keys + length / self.ratio / 2
        most = min(self.index_tokens, length / self.ratio)
        return window_keys + most * (1 - most * self.ratio / (2 * length))

    def _index_pairs(self, length: Tokens) -> Tokens:
        """Return the compressed keys that the indexer scores for a query, in the mean."""
        return length / self.ratio / 2 if self.ratio == CHOSEN_FROM else 0.0

    def operations(self, model: Model, sequence_length: Tokens, visible: Share) -> Operations:
        """Return the operations of a token's scores, sums and indexer, forward."""
        pairs = model.num_attention_heads * 2 * head_size(model) * self.keys(sequence_length)
        index = self.index_heads * self.index_size * self._index_pairs(sequence_length)
        return MULTIPLY_ADD * 2 * visible * (pairs + index)

    def kept(self, model: Model, stored: Bytes, tensor: Count, normed: Bytes) -> Bytes:
        """Return the bytes per token that it keeps, with its norm and the streams of both parts.

        Queries before and after their norm, results before and after their rotation, and what the
        projections read; `stored` is what an element of a projection's input takes.
        """
        head, hidden = head_size(model), model.hidden_size
        wide = model.num_attention_heads * head
        heads = HALF * 4 * wide + stored * (wide + self.output_groups * self.output_rank)
        shared = (HALF + stored) * self.query_rank + 2 * HALF * head
        shared += HALF * sum(
            rows
            for name, rows, _, how in self.matrices(model)
            if "compress" in name and how is None
        )
        streams = HALF * _PARTS * self.streams * hidden if self.streams > 1 else 0.0
        return normed + streams + shared + heads / tensor

    def cached(self, model: Model, sequence_length: Tokens) -> Bytes:
        """Return the bytes of a sequence's compressed keys that generation keeps, in 16 bits.

        Keys of the window, which are its values, compressed keys, and the indexer's.
        """
        keys = min(self.window, sequence_length) * head_size(model)
        if self.ratio:
            keys += sequence_length / self.ratio * (head_size(model) + self.index_size)
        return HALF * keys

    def core(
        self,
        model: Model,
        scores: Any,  # noqa: ANN401
        rank: Any,  # noqa: ANN401
        full: PassTimes,
        block: Tokens,
    ) -> PassTimes:
        """Return the time of the attention, the indexer's scores, and the mixing of the streams.

        Keys are attended to at the rate of a plain attention; the indexer's scores are products.
        """
        tokens = scores.sequences * scores.queries
        pairs = MULTIPLY_ADD * scores.heads * 2 * head_size(model) * self.keys(scores.keys)
        index = MULTIPLY_ADD * self.index_heads * self.index_size * self._index_pairs(scores.keys)
        moved = _PARTS * _STREAM_PASSES * self.streams * model.hidden_size * HALF
        swept = tokens * (moved if self.streams > 1 else 0.0) / rank.memory
        forward = tokens * (pairs / rank.attention_forward + index / rank.matmul)
        backward = _BACKWARD * tokens * pairs / rank.attention_backward
        return forward + swept, backward + 2 * swept

    def exchanged(self, model: Model) -> tuple[Count, Count]:
        """Return the numbers that context parallelism would exchange; such plans are refused."""
        return head_size(model), 0
