"""Cost-relevant differences between training frameworks, from documentation and source.

Nothing here is fitted. One family is one row; `traffic` in `engine.formulas` holds the passes over
memory that fused and unfused kernels need.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Bytes, MiB, Parameters
from engine.run.parallelism import Framework, GradientPrecision, Training


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """Choices of one training framework that cost or hide time.

    Attributes:
        gradient: bytes of one gradient on the wire.
        adds_in_place: the product of a weight's gradient adds to the sum of the micro-batches.
        accumulate: bytes per parameter that a micro-batch moves to add its gradient, beside what
            the products hide.
        optimizer: bytes moved per parameter in Adam's step, with one fused kernel.
        optimizer_unfused: likewise with one kernel per operation.
        fused_projections: query, key and value are one product, and so are gate and up.
        hides_backward_tensor_parallel: what the products of the backward pass can hide of it, is
            hidden by default (Megatron runs it on a second stream).
        gathers_after_step: updated parameters are gathered when the step is over, nothing beside.
        sharded_ports: network ports of a node that gathers of sharded parameters use; 0 for all.
        current_attention: fused attention uses the newest matrix instructions (cuDNN, FA3);
            otherwise those of Ampere (FlashAttention-2).
        selective_repeats_products: selective recomputation repeats every second matrix product and
            all element-wise passes, not the attention (torchtitan's per-operation policy).
        stops_early: full recomputation ends before the last product of the layer, whose result is
            not needed (PyTorch's checkpoint without re-entrance; Megatron's repeats all of it).
        python_activations: unfused, bias, GELU, dropout and residual are chains of small kernels.
        reduces_whole: below stage 3 gradients are all-reduced, and each rank keeps its shard.
        bucket: parameters whose gradients are reduced in one collective, where not all is sharded.
        bucket_per_rank: likewise, for each rank of the group; the larger of both counts.
        bucket_bytes: of gradients instead, whose bucket is closed by the tensor that reaches the
            limit; 0: by parameters.
        first_bucket_bytes: likewise, of the first bucket.
    """

    gradient: Bytes
    adds_in_place: bool
    accumulate: Bytes
    optimizer: Bytes
    optimizer_unfused: Bytes
    fused_projections: bool
    hides_backward_tensor_parallel: bool
    gathers_after_step: bool
    sharded_ports: int
    current_attention: bool
    selective_repeats_products: bool
    stops_early: bool
    python_activations: bool
    reduces_whole: bool = False
    bucket: Parameters = 4e7
    bucket_per_rank: Parameters = 0.0
    bucket_bytes: Bytes = 0.0
    first_bucket_bytes: Bytes = 0.0


# Bytes of the optimizer's step per parameter of the shard, Adam in mixed precision. Fused: read
# the gradient (4), read and write the master copy and both moments (24), write the parameter (2),
# and read the gradient for its norm (4). Unfused: twelve passes of 4 to 16 bytes.
_ADAM: Bytes = 34.0
_ADAM_UNFUSED: Bytes = 76.0

# `bucket_cap_mb` of PyTorch's DistributedDataParallel, and kDefaultFirstBucketBytes of its
# reducer.hpp: the first bucket is small, so that communication begins early.
DDP_BUCKET: Bytes = 25 * MiB
DDP_FIRST_BUCKET: Bytes = 1 * MiB

SOFTWARE: Mapping[Framework, Software] = {
    # Megatron-LM: fp32 gradients, the product of the weight gradient adds in place. Of the 8 bytes
    # read and written, the products hide all but 3.6 (SimuMax's kernels: 0.36 of them exposed on
    # an A100, 0.64 on a B200).
    "megatron": Software(
        bucket=4e7,
        bucket_per_rank=1e6,
        gradient=4.0,
        adds_in_place=True,
        accumulate=3.6,
        optimizer=_ADAM,
        optimizer_unfused=_ADAM,
        fused_projections=True,
        hides_backward_tensor_parallel=True,
        gathers_after_step=False,
        sharded_ports=0,
        current_attention=True,
        selective_repeats_products=False,
        stops_early=False,
        python_activations=True,
    ),
    # PyTorch FSDP and torchtitan: gradients reduced in fp32, converted on the way.
    # Without sharding that is DDP, with its buckets.
    "fsdp": Software(
        bucket_bytes=DDP_BUCKET,
        first_bucket_bytes=DDP_FIRST_BUCKET,
        gradient=4.0,
        adds_in_place=False,
        accumulate=4.0,
        optimizer=_ADAM,
        optimizer_unfused=_ADAM_UNFUSED,
        fused_projections=False,
        hides_backward_tensor_parallel=False,
        gathers_after_step=False,
        sharded_ports=0,
        current_attention=False,
        selective_repeats_products=True,
        stops_early=True,
        python_activations=False,
    ),
    # DeepSpeed: each bf16 gradient is converted to fp32 and added by separate kernels, then zeroed
    # (2 + 4 + 12 + 2 bytes). Ranks sum them in the type of the model (`communication_data_type` of
    # runtime/engine.py: fp16 or bf16 where that is enabled), in stages 1 and 2 by an all-reduce of
    # buckets with shards of several ranks (`use_multi_rank_bucket_allreduce`, true unasked;
    # BF16_Optimizer all-reduces too). Its gathers of ZeRO-3 run as if over
    # one port of a node, which only the runs of Narayanan et al. 2021, table 2, show: the one entry
    # inferred from measurements.
    "deepspeed": Software(
        reduces_whole=True,
        bucket=5e8,
        gradient=2.0,
        adds_in_place=False,
        accumulate=20.0,
        optimizer=_ADAM,
        optimizer_unfused=_ADAM,
        fused_projections=True,
        hides_backward_tensor_parallel=False,
        gathers_after_step=True,
        sharded_ports=1,
        current_attention=False,
        selective_repeats_products=False,
        stops_early=False,
        python_activations=True,
    ),
    # XLA (MaxText): one compiled step, parameters and moments in single precision, sharded; the
    # compiler fuses what stands between products and orders the collectives beside them.
    "xla": Software(
        gradient=4.0,
        adds_in_place=False,
        accumulate=4.0,
        optimizer=_ADAM,
        optimizer_unfused=_ADAM,
        fused_projections=False,
        hides_backward_tensor_parallel=False,
        gathers_after_step=False,
        sharded_ports=0,
        current_attention=True,
        selective_repeats_products=True,
        stops_early=False,
        python_activations=False,
    ),
}

# Of a gradient in each type.
GRADIENT_BYTES: Mapping[GradientPrecision, Bytes] = {"bf16": 2.0, "fp16": 2.0, "fp32": 4.0}


def gradient_bytes(training: Training, software: Software) -> Bytes:
    """Return the bytes of a gradient on the wire: as the run says, else as the software does."""
    return GRADIENT_BYTES.get(training.gradient_precision, software.gradient)
