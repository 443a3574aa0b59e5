"""Gated DeltaNet and Kimi Delta Attention: a matrix per head that is corrected token by token.

Yang et al. 2024 (arXiv 2412.06464), Kimi Team 2025 (arXiv 2510.26692). Sizes and projections are
those of the classes of Qwen3-Next and Kimi Linear. The kernels work in chunks of tokens, as those
of flash-linear-attention do; the time of the core is derived from its products and its passes over
memory, and not measured.
"""

from collections.abc import Callable
from typing import Any

from engine.catalog.mixers.projections import (
    HALF,
    MULTIPLY_ADD,
    SINGLE,
    Matrix,
    PassTimes,
    Split,
    matrix_elements,
    matrix_products,
)
from engine.catalog.models import Model
from engine.core.record import record
from engine.core.units import Bytes, Count, Operations, Ratio, Share, Tokens

CHUNK: Tokens = 64.0
# A backward pass makes the states of the chunks anew, and gradients of all that the forward read.
BACKWARD: Ratio = 3.0
# Per token and head: k k^T, v k^T, S (a (I - b k k^T)) and S q, each of the size of the state
# (Megatron-LM, `gdn_layer_flops`).
_STATE_PRODUCTS: Count = 4


@record
class Delta:
    """A layer with the gated delta rule.

    Attributes:
        key_heads: heads of queries and keys.
        value_heads: heads of values, a multiple of them.
        key_size: of a head's queries and keys.
        value_size: of a head's values.
        kernel: tokens that the convolution before it joins.
        channels: the decay is one number per channel (Kimi Delta Attention), not per head.
        gate_rank: rank of its output gate; 0: of a whole matrix.
        alone: the layer has no feed-forward part.
    """

    key_heads: Count
    value_heads: Count
    key_size: Count
    value_size: Count
    kernel: Count = 4
    channels: bool = False
    gate_rank: Count = 0
    alone: bool = False
    attends = False

    @property
    def parts(self) -> Share:
        """Share of a layer's norms and residual additions."""
        return 0.5 if self.alone else 1.0

    @property
    def keys(self) -> Count:
        """Elements of all queries, or all keys, of a token."""
        return self.key_heads * self.key_size

    @property
    def values(self) -> Count:
        """Elements of all values of a token."""
        return self.value_heads * self.value_size

    def matrices(self, model: Model) -> tuple[Matrix, ...]:
        """Return the matrices of its projections."""
        hidden, out = model.hidden_size, ("delta_out", model.hidden_size, self.values, False)
        if not self.channels:
            columns = 2 * self.keys + 2 * self.values + 2 * self.value_heads
            return ("delta_in", columns, hidden, True), out
        columns = 2 * self.keys + self.values + self.value_heads
        decay: tuple[Matrix, ...] = (
            ("decay_down", self.key_size, hidden, None),
            ("decay_up", self.keys, self.key_size, True),
        )
        gate: tuple[Matrix, ...] = (("delta_gate", self.values, hidden, True),)
        if self.gate_rank:
            gate = (
                ("gate_down", self.gate_rank, hidden, None),
                ("gate_up", self.values, self.gate_rank, True),
            )
        return ("delta_in", columns, hidden, True), *decay, *gate, out

    def parameters(self, model: Model, attention: Split) -> Split:
        """Return its parameters: (split over heads, on every rank)."""
        split, whole = matrix_elements(self.matrices(model))
        split += self.kernel * (2 * self.keys + self.values)  # one filter for each channel
        split += self.value_heads + (self.keys if self.channels else self.value_heads)
        return split, whole + self.value_size

    def products(
        self,
        model: Model,
        attention: tuple[Any, ...],
        make: Callable[..., Any],
        sizes: tuple[Ratio, Ratio, Count],
    ) -> tuple[Any, ...]:
        """Return its projections on one rank, as `matrix_products` does."""
        return matrix_products(make, self.matrices(model), sizes)

    def operations(self, model: Model, sequence_length: Tokens, visible: Share) -> Operations:
        """Return the operations of a token between the projections: independent of the length."""
        filters = self.kernel * (2 * self.keys + self.values)
        state = self.value_heads * self.key_size * self.value_size
        return MULTIPLY_ADD * (filters + _STATE_PRODUCTS * state)

    def kept(self, model: Model, stored: Bytes, tensor: Count, normed: Bytes) -> Bytes:
        """Return the bytes per token that it keeps, with its norm.

        `stored` is what an element of a projection's input takes.
        Inputs of the convolution; queries and keys for each head of values, values, decay and
        strength; the inverse of each chunk's triangle (two triangles with a decay per channel); the
        result, its gate, and what the last projection reads (`chunk_gated_delta_rule`).
        """
        heads, triangles = self.value_heads, 2 if self.channels else 1
        filtered = HALF * (2 * self.keys + self.values)
        rule = HALF * (2 * heads * self.key_size + self.values + heads)
        rule += SINGLE * (heads * self.key_size if self.channels else heads)
        rule += HALF * triangles * heads * CHUNK
        gated = 2 * HALF * self.values + stored * self.values
        return normed + (filtered + rule + gated) / tensor

    def cached(self, model: Model, sequence_length: Tokens) -> Bytes:
        """Return the bytes of state that generation keeps of a sequence of any length.

        Its state, in fp32, and the last tokens that the convolution joins, in 16 bits.
        """
        state = self.value_heads * self.key_size * self.value_size
        return SINGLE * state + HALF * (self.kernel - 1) * (2 * self.keys + self.values)

    def core(
        self,
        model: Model,
        scores: Any,  # noqa: ANN401
        rank: Any,  # noqa: ANN401
        full: PassTimes,
        block: Tokens,
    ) -> PassTimes:
        """Return the time between the projections, forward and backward.

        Products of a chunk of C tokens: k k^T, q k^T, and the triangle's inverse with keys, values
        and results, 2 C (3 d_k + 2 d_v) a token; with the state 6 d_k d_v. Passes over memory of
        the five kernels: keys seven times, values six, triangles four, states twice.
        """
        keys, values = self.key_size, self.value_size
        products = 2 * CHUNK * (3 * keys + 2 * values) + 6 * keys * values
        moved = 7 * keys + 6 * values + 4 * CHUNK + 2 * keys * values / CHUNK
        share = scores.heads / model.num_attention_heads
        tokens = scores.sequences * scores.queries * share
        around = 4 * (2 * self.keys + self.values) + 3 * self.values
        swept = HALF * tokens * (self.value_heads * moved + around) / rank.memory
        forward = max(tokens * self.value_heads * products / rank.matmul, swept)
        return forward, BACKWARD * forward

    def exchanged(self, model: Model) -> tuple[Count, Count]:
        """Return the elements of a token that context parallelism sends to heads, and back."""
        return 2 * self.keys + 2 * self.values + 2 * self.value_heads, self.values
