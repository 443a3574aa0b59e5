"""Mamba-2: a state per head that decays by one number (Dao and Gu 2024, arXiv 2405.21060).

Sizes and projections are those of Nemotron-H; the operations are those that Megatron-LM counts.
The time of the core is derived from its products and its passes over memory, and not measured.
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

CHUNK: Tokens = 128.0
BACKWARD: Ratio = 3.0
_SCAN: Operations = 7.0  # per element of the state and token: Megatron-LM, `mamba_layer_flops`


@record
class Mamba:
    """A layer with Mamba-2.

    Attributes:
        heads: of the state.
        head_size: channels of a head.
        state_size: elements of a channel's state.
        groups: of heads that share what reads and writes the state.
        kernel: tokens that the convolution before it joins.
        alone: the layer has no feed-forward part.
    """

    heads: Count
    head_size: Count
    state_size: Count
    groups: Count
    kernel: Count = 4
    alone: bool = False
    attends = False

    @property
    def parts(self) -> Share:
        """Share of a layer's norms and residual additions."""
        return 0.5 if self.alone else 1.0

    @property
    def inner(self) -> Count:
        """Channels of all heads."""
        return self.heads * self.head_size

    @property
    def filtered(self) -> Count:
        """Channels of the convolution: those of the heads, and what reads and writes the state."""
        return self.inner + 2 * self.groups * self.state_size

    def matrices(self, model: Model) -> tuple[Matrix, ...]:
        """Return the matrices of its projections."""
        columns = self.inner + self.filtered + self.heads
        return (
            ("mamba_in", columns, model.hidden_size, True),
            ("mamba_out", model.hidden_size, self.inner, False),
        )

    def parameters(self, model: Model, attention: Split) -> Split:
        """Return its parameters: (split over heads, on every rank)."""
        split, whole = matrix_elements(self.matrices(model))
        split += (self.kernel + 1) * self.filtered + 3 * self.heads + self.inner
        return split, whole

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
        return _SCAN * self.inner * self.state_size

    def kept(self, model: Model, stored: Bytes, tensor: Count, normed: Bytes) -> Bytes:
        """Return the bytes per token that it keeps, with its norm.

        What the first projection wrote, the result before its norm, and what the last projection
        reads; convolution and states are made anew (`mamba_split_conv1d_scan_combined`).
        """
        wrote = HALF * (self.inner + self.filtered + self.heads)
        result = (HALF + stored) * self.inner
        return normed + (wrote + result) / tensor

    def cached(self, model: Model, sequence_length: Tokens) -> Bytes:
        """Return the bytes of the state that generation keeps of a sequence of any length.

        Its state, in fp32, and the last tokens that the convolution joins, in 16 bits.
        """
        state = SINGLE * self.inner * self.state_size
        return state + HALF * (self.kernel - 1) * self.filtered

    def core(
        self,
        model: Model,
        scores: Any,  # noqa: ANN401
        rank: Any,  # noqa: ANN401
        full: PassTimes,
        block: Tokens,
    ) -> PassTimes:
        """Return the time between the projections, forward and backward.

        Of a chunk of C tokens: scores of each group, 2 C N, their product with the channels, 2 C P
        a head, and states written and read, 4 P N a head. Passes over memory: the convolution and
        the channels six times, the states of a chunk four times in fp32.
        """
        share = scores.heads / model.num_attention_heads
        tokens = scores.sequences * scores.queries * share
        head = 2 * CHUNK * self.head_size + 4 * self.head_size * self.state_size
        products = MULTIPLY_ADD * CHUNK * self.groups * self.state_size + self.heads * head
        moved = HALF * (4 * self.filtered + 5 * self.inner)
        moved += 4 * SINGLE * self.inner * self.state_size / CHUNK
        forward = tokens * max(products / rank.matmul, moved / rank.memory)
        return forward, BACKWARD * forward

    def exchanged(self, model: Model) -> tuple[Count, Count]:
        """Return the elements of a token that context parallelism sends to heads, and back."""
        return self.inner + self.filtered + self.heads, self.inner
