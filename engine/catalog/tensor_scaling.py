"""A published 3B run on 2 to 32 ranks of tensor parallelism, the largest micro-batch on each.

Source: tazi2025; shape, sequence and micro-batches from the authors' benchmark (nanotron,
`scripts/scaling_benchmarks.py`): 28 layers, hidden size 3,072, 32 heads, feed-forward 8,192,
vocabulary 131,072 and tied (3.57 billion parameters), 4,096 tokens, sequence parallel, one
replica, one micro-batch. Their TFLOP/s over their tokens per second are 25.7 GFLOP for a token,
which only 4,096 tokens give.
"""

from dataclasses import dataclass

from engine.catalog.models import Model
from engine.core.units import Count, TokenRate

SEQUENCE: Count = 4096
MODEL_3B = Model(
    name="nanotron 3B",
    num_layers=28,
    hidden_size=3072,
    num_attention_heads=32,
    num_key_value_heads=32,
    ffn_hidden_size=8192,
    vocab_size=131_072,
    mlp="swiglu",
    tied_embeddings=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorRun:
    """One of its runs.

    Attributes:
        ranks: of tensor parallelism, and GPUs in all.
        micro_batch_size: sequences, the most that fit.
        rate: tokens per second that each GPU kept.
    """

    ranks: Count
    micro_batch_size: Count
    rate: TokenRate


TENSOR_RUNS: tuple[TensorRun, ...] = (
    TensorRun(ranks=2, micro_batch_size=3, rate=14167.25),
    TensorRun(ranks=4, micro_batch_size=9, rate=13460.16),
    TensorRun(ranks=8, micro_batch_size=18, rate=10888.53),
    TensorRun(ranks=16, micro_batch_size=40, rate=6159.30),
    TensorRun(ranks=32, micro_batch_size=90, rate=3609.73),
)
