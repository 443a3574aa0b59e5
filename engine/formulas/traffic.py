"""How often the element-wise parts of a layer go through memory, fused and unfused.

A pass is one read or one write of an element. Counted from the kernels: a fused norm reads and
writes (2), a fused residual addition reads two and writes one (3). Backward passes read what was
saved as well. Unfused Llama code converts to fp32 in every norm and rotates in fp32; unfused
Megatron code runs bias, GELU (its tanh formula), dropout and residual as chains of kernels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.core.units import Bytes, Ratio

Style = Literal["fused", "eager", "python"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """Passes per element of one layer, (forward, backward), and bytes per score.

    Attributes:
        hidden: over the hidden state: two norms, two residual additions, dropout.
        heads: over queries and keys: rotation by position.
        inner: over the inner width of the feed-forward part, once, for the activation.
        score: bytes per score of an unfused attention: scale, mask, softmax, dropout, products.
        kernels: launched.
    """

    hidden: tuple[Ratio, Ratio]
    heads: tuple[Ratio, Ratio]
    inner: tuple[Ratio, Ratio]
    score: tuple[Bytes, Bytes]
    kernels: tuple[Ratio, Ratio]


_FUSED_SCORE = (13.0, 20.0)
_SCORE = (31.0, 45.0)

# By style and activation.
PASSES: Mapping[tuple[Style, str], Passes] = {
    ("fused", "gelu"): Passes(
        hidden=(10.0, 12.0), heads=(0, 0), inner=(2, 3), score=_FUSED_SCORE, kernels=(10, 20)
    ),
    ("fused", "swiglu"): Passes(
        hidden=(10.0, 12.0), heads=(2, 2), inner=(3, 5), score=_FUSED_SCORE, kernels=(10, 20)
    ),
    # LayerNorm and GELU are one kernel each in PyTorch.
    ("eager", "gelu"): Passes(
        hidden=(10.0, 20.0), heads=(0, 0), inner=(2, 3), score=_SCORE, kernels=(14, 28)
    ),
    # RMSNorm: to fp32 (3 passes of bf16), square (4), mean (2), scale (4), back (3), weight (2).
    # Rotation: to fp32 (3), complex product (4), back (3), and copies.
    ("eager", "swiglu"): Passes(
        hidden=(42.0, 84.0), heads=(12.5, 12.5), inner=(5, 9), score=_SCORE, kernels=(30, 60)
    ),
    # Bias (2), dropout (2.5, and its mask) and addition (3) beside each norm (2), in 16 bits or
    # converted; GELU by its tanh formula in four kernels.
    ("python", "gelu"): Passes(
        hidden=(26.0, 24.0), heads=(0, 0), inner=(12, 20), score=_SCORE, kernels=(40, 80)
    ),
    ("python", "swiglu"): Passes(
        hidden=(42.0, 84.0), heads=(12.5, 12.5), inner=(5, 9), score=_SCORE, kernels=(30, 60)
    ),
}

# Bytes per logit of the loss: converted to fp32, maximum, exponentials, sum, and back in 16 bits.
LOGIT: Mapping[bool, Bytes] = {True: 24.0, False: 44.0}
# Software of the first FlashAttention (LLM Foundry): the fused loss of its package reads logits
# twice and writes their gradient, in 16 bits (6); two metrics, cross entropy and perplexity,
# convert them to fp32, write the logarithm of the softmax and read it (14 each).
LOGIT_MEASURED: Bytes = 34.0
# Bytes per element of a token's copy for an expert: permuted, summed with weights (read and written
# twice each, once more to apply the weight); per token and expert: the router's scores in fp32.
ROUTED_COPY: Bytes = 10.0
ROUTED_SCORE: Bytes = 24.0
# Bytes per element that conversion to fp8 moves: read 16 bits, write rows and columns in 8 bits.
FP8_CONVERSION: Bytes = 4.0
