"""How many bytes a rank sends in one step, by the axis that it communicates for.

Rings throughout; sizes are of whole buffers. The exact training of `engine.tiny` sends just this.
"""

from engine.core.equation import Equation
from engine.core.units import Bytes, Count
from engine.formulas.communication import ring_bytes_sent

ZERO_BYTES = Equation(
    name="zero_bytes_sent",
    tex=r"\v{V} = \frac{\v{n}-1}{\v{n}} \left(\v{r}\,\v{G} + \v{a}\,\v{P}\right)",
    symbols={
        "V": ("V", "sent by each rank in a step"),
        "n": ("N", "ranks"),
        "r": ("r", "passes of the gradients around the ring"),
        "G": ("G", "all gradients"),
        "a": ("a", "passes of the parameters around the ring"),
        "P": ("P", "all parameters"),
    },
    sources=("rajbhandari2020", "patarasuk2009"),
    title="Bytes sent under ZeRO",
)


def gradient_passes(zero_stage: Count, num_microbatches: Count = 1) -> Count:
    """Return how often the gradients go around the ring in a step.

    Twice in an all-reduce, once in a reduce-scatter. Where only a share is kept (stage 2 and 3),
    every micro-batch is reduced at once.
    """
    if zero_stage < 2:
        return 2 - zero_stage
    return num_microbatches


def parameter_passes(
    zero_stage: Count, num_microbatches: Count = 1, *, reshard: bool = True
) -> Count:
    """Return how often the parameters go around the ring in a step.

    Once after the optimizer (stage 1 and 2); for forward and backward of each micro-batch (3), or
    once for both where they stay after the forward pass (`reshard` off).
    """
    if zero_stage < 3:
        return min(zero_stage, 1)
    return (2 if reshard else 1) * num_microbatches


def zero_bytes_sent(
    gradients: Bytes,
    parameters: Bytes,
    zero_stage: Count,
    ranks: Count,
    num_microbatches: Count = 1,
    *,
    reshard: bool = True,
) -> Bytes:
    """Return what a rank of data parallelism sends: Rajbhandari et al. 2020, section 7.

    Stage 0 all-reduces gradients. With accumulation, stages 0 and 1 wait for the last micro-batch.
    """
    passes = gradient_passes(zero_stage, num_microbatches) * gradients
    passes += parameter_passes(zero_stage, num_microbatches, reshard=reshard) * parameters
    return ring_bytes_sent(passes, ranks) / 2


def tensor_passes(*, sequence_parallel: bool = False, recompute: bool = False) -> Count:
    """Return how often a layer's hidden state goes around the ring of tensor parallelism.

    Attention and feed-forward part each take an all-reduce forward and one backward (Shoeybi et al.
    2019), a ring twice around. With a split sequence an all-reduce is a reduce-scatter and an
    all-gather; backward, Megatron also gathers the input of both parts once more, for the gradients
    of their weights (Korthikanti et al. 2022, section 4.2.2). Full recomputation repeats forward.
    """
    return 8 + (2 if sequence_parallel else 0) + (4 if recompute else 0)


def tensor_gathers(*, sequence_parallel: bool = True, recompute: bool = False) -> Count:
    """Return how many of `tensor_passes` are all-gathers: copies, which no rank adds to.

    With a split sequence both parts gather forward, their gradients and their inputs once more
    backward (Korthikanti et al. 2022, section 4.2.2); otherwise an all-reduce only sums.
    """
    return 6 + (2 if recompute else 0) if sequence_parallel else 0


def tensor_parallel_bytes_sent(
    rows: Bytes, num_layers: Count, ranks: Count, *, sequence_parallel: bool = False
) -> Bytes:
    """Return the bytes sent by a rank of tensor parallelism for hidden states of `rows`.

    The passes of every layer, and an all-reduce, or its halves, for each split vocabulary.
    """
    passes = tensor_passes(sequence_parallel=sequence_parallel) * num_layers + 2 * 2
    return passes * ring_bytes_sent(rows, ranks) / 2


def pipeline_bytes_sent(rows: Bytes, num_microbatches: Count, neighbors: Count) -> Bytes:
    """Return the bytes sent by a stage: rows to one neighbor, gradients to the other."""
    return neighbors * num_microbatches * rows


def context_ring_bytes_sent(block: Bytes, num_layers: Count, ranks: Count) -> Bytes:
    """Return the bytes sent by a rank of the ring; `block` is its keys and values of a layer.

    Once forward; backward once more, and once their gradients (Liu et al. 2023).
    """
    return 3 * num_layers * (ranks - 1) * block


def expert_bytes_sent(copies: Bytes, num_layers: Count, ranks: Count) -> Bytes:
    """Return the bytes sent by a rank whose tokens' `copies` spread evenly over all experts.

    Out and back, forward and backward; what stays at home is not sent (Lepikhin et al. 2021).
    """
    return 4 * num_layers * (ranks - 1) / ranks * copies
