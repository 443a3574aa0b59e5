"""What a row of the published runs says of its run, in the order of the packed rows."""

SWITCHES = (
    "sequence_parallel",
    "zero_stage",
    "precision",
    "recompute",
    "flash_attention",
    "schedule",
    "overlap_gradient_reduce",
    "overlap_tensor_parallel",
    "framework",
    "compiled",
    "half_gradients",
    "cuda_graphs",
    "fused_experts",
)
SIZES = (
    "sequence_length",
    "world_size",
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_pipeline",
    "context_parallel",
    "expert_parallel",
    "shard_group",
    "micro_batch_size",
    "global_batch_size",
)
