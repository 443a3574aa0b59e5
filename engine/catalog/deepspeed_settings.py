"""ZeRO settings of DeepSpeed: default, stages that read them, effect.

Source: DeepSpeed 0.19.8, deepspeed/runtime/zero/config.py, offload_config.py and
deepspeed/runtime/config.py (what was removed). The documentation prints 5e8 for the prefetch
bucket; the code has 5e7.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.core.units import Count

VERSION = "DeepSpeed 0.19.8"
Kind = Literal["elements", "count", "switch", "text", "object"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroSetting:
    """One key under `zero_optimization`.

    Attributes:
        kind: what its value is.
        default: as a file would write it; empty: none.
        stages: that read it.
        effect: one sentence.
        replacement: deprecated; what replaces it.
        gone: the version that removed it; DeepSpeed refuses to start with it.
    """

    kind: Kind
    default: str
    stages: tuple[Count, ...]
    effect: str
    replacement: str = ""
    gone: str = ""


_ALL, _LOW, _THREE = (1, 2, 3), (1, 2), (3,)


def _setting(
    kind: Kind, default: str, stages: tuple[Count, ...], does: str, old: str = ""
) -> ZeroSetting:
    return ZeroSetting(kind=kind, default=default, stages=stages, effect=does, replacement=old)


def _removed_setting(kind: Kind, default: str, version: str) -> ZeroSetting:
    return ZeroSetting(kind=kind, default=default, stages=_THREE, effect="", gone=version)


SETTINGS: Mapping[str, ZeroSetting] = {
    "stage": _setting("count", "0", (0, 1, 2, 3), "What is divided among the ranks."),
    "reduce_bucket_size": _setting(
        "elements", "5e8", _ALL, "Gradients that are reduced together; the buffer is whole."
    ),
    "overlap_comm": _setting(
        "switch",
        "true (stage 3)",
        _ALL,
        "Reductions run on a stream of their own; false for the other stages.",
    ),
    "contiguous_gradients": _setting(
        "switch", "true", _ALL, "Gradients are copied into the buffer of the bucket."
    ),
    "reduce_scatter": _setting(
        "switch", "true", _ALL, "Off: all-reduce instead of reduce-scatter."
    ),
    "use_multi_rank_bucket_allreduce": _setting(
        "switch", "true", _LOW, "One all-reduce of a bucket instead of a reduction per owner."
    ),
    "allgather_partitions": _setting(
        "switch", "true", _LOW, "Updated parameters by all-gather, not by broadcasts."
    ),
    "allgather_bucket_size": _setting(
        "elements", "5e8", _LOW, "Updated parameters that are gathered together after the step."
    ),
    "stage3_max_live_parameters": _setting(
        "elements", "1e9", _THREE, "No prefetch begins while this many elements are gathered."
    ),
    "stage3_max_reuse_distance": _setting(
        "elements", "1e9", _THREE, "A tensor stays if used again before this many others."
    ),
    "stage3_prefetch_bucket_size": _setting(
        "elements", "5e7", _THREE, "What one prefetch gathers; every module starts one."
    ),
    "stage3_param_persistence_threshold": _setting(
        "elements", "1e5", _THREE, "Tensors up to this size stay whole on every rank."
    ),
    "stage3_model_persistence_threshold": _setting(
        "elements", "sys.maxsize", _THREE, "The most that persistent tensors may add up to."
    ),
    "stage3_module_granularity_threshold": _setting(
        "elements", "0", _THREE, "Modules finer than this are fetched as one."
    ),
    "stage3_gather_16bit_weights_on_model_save": _setting(
        "switch", "false", _THREE, "Gather all parameters when the model is saved."
    ),
    "stage3_use_all_reduce_for_fetch_params": _setting(
        "switch", "false", _THREE, "Gather by all-reduce, to spare the host copies."
    ),
    "stage3_allgather_sequential": _setting(
        "switch", "false", _THREE, "Gather tensors one by one, without a buffer."
    ),
    "sub_group_size": _setting(
        "elements", "1e9", _THREE, "Elements that the optimizer updates at a time."
    ),
    "zero_hpz_partition_size": _setting(
        "count", "1", _THREE, "Ranks that share a second copy of the parameters (hpZ)."
    ),
    "mics_shard_size": _removed_setting("count", "-1", "0.19.7"),
    "mics_hierarchical_params_gather": _removed_setting("switch", "false", "0.19.7"),
    "zero_quantized_weights": _setting("switch", "false", _THREE, "Gather in 8 bits (qwZ)."),
    "zero_quantized_nontrainable_weights": _setting(
        "switch", "false", _THREE, "Keep frozen weights in 8 bits."
    ),
    "zero_quantized_gradients": _setting("switch", "false", _THREE, "Reduce in 4 bits (qgZ)."),
    "zeropp_loco_param": _removed_setting("object", "", "0.19.8"),
    "offload_optimizer": _setting("object", "", _ALL, "The optimizer on the host or on NVMe."),
    "offload_param": _setting("object", "", _THREE, "The parameters on the host or on NVMe."),
    "round_robin_gradients": _setting(
        "switch",
        "false",
        _LOW,
        "With offload, the ranks share the copying of gradients to the host.",
    ),
    "compute_grad_norm": _setting(
        "switch", "true", _LOW, "The norm of all gradients; off only without clipping."
    ),
    "parameter_alignment": _setting(
        "switch", "false", _LOW, "Every tensor starts at a multiple of 16 bytes in the buffers."
    ),
    "ignore_unused_parameters": _setting(
        "switch", "true", _LOW, "Parameters without a gradient are no error."
    ),
    "load_from_fp32_weights": _setting("switch", "true", _ALL, "Master weights from a checkpoint."),
    "elastic_checkpoint": _setting("switch", "false", _LOW, "Old; use universal checkpoints."),
    "legacy_stage1": _setting("switch", "false", (1,), "An old stage 1; no longer supported."),
    "memory_efficient_linear": _setting(
        "switch", "true", _THREE, "A linear layer that keeps less."
    ),
    "pipeline_loading_checkpoint": _setting(
        "switch", "false", _THREE, "Load a checkpoint in turn."
    ),
    "override_module_apply": _setting(
        "switch", "true", _THREE, "Module.apply on gathered tensors."
    ),
    "log_trace_cache_warnings": _setting("switch", "false", _THREE, "Say when the order changes."),
    "enable_sanity_checks": _setting("switch", "false", _THREE, "Compare ranks while training."),
    "save_muon_momentum_buffer_in_memory": _setting(
        "switch", "false", _THREE, "Muon's momentum stays off NVMe."
    ),
    "leaf_module": _setting("object", "", _THREE, "Modules that are fetched as a whole."),
    "zenflow": _setting("object", "", _ALL, "Updates the important gradients first."),
    "cpu_offload": _setting("switch", "", _ALL, "", "offload_optimizer"),
    "cpu_offload_param": _setting("switch", "", _THREE, "", "offload_param"),
    "cpu_offload_use_pin_memory": _setting("switch", "", _ALL, "", "pin_memory of the offload"),
    "stage3_gather_fp16_weights_on_model_save": _setting(
        "switch", "", _THREE, "", "stage3_gather_16bit_weights_on_model_save"
    ),
}

# Names of the fields behind the aliases, which are read too.
ALIASES: Mapping[str, str] = {
    name.removeprefix("stage3_"): name
    for name, setting in SETTINGS.items()
    if name.startswith("stage3_") and not setting.replacement
}

# The sections and keys of the outermost object that some part of DeepSpeed reads.
TOP_LEVEL_KEYS = frozenset((
    "activation_checkpointing", "aio", "autotuning", "bf16", "bfloat16", "checkpoint", "comet",
    "comms_logger", "communication_data_type", "compile", "csv_monitor", "data_efficiency",
    "data_types", "dataloader_drop_last", "datastates", "disable_allgather", "dump_state",
    "expert_parallel", "flops_profiler", "fp16", "gradient_accumulation_steps",
    "gradient_allreduce_op", "gradient_clipping", "gradient_predivide_factor", "hybrid_engine",
    "load_universal_checkpoint", "log_level", "managed_gradient_accumulation", "memory_breakdown",
    "optimizer", "pipeline", "prescale_gradients", "scheduler",
    "seq_parallel_communication_data_type", "sequence_parallel_size", "steps_per_print",
    "tensor_parallel", "tensorboard", "timers",
    "torch_autocast", "train_batch_size", "train_micro_batch_size_per_gpu",
    "use_data_before_expert_parallelism", "wall_clock_breakdown", "wandb", "weight_quantization",
    "zero_allow_untested_optimizer", "zero_force_ds_cpu_optimizer", "zero_optimization",
))  # fmt: skip

# Sections and keys of the outermost object that were removed, by the version that refuses them.
REMOVED: Mapping[str, str] = dict.fromkeys(
    ("compression_training", "nebula", "quantize_training", "sparse_attention"), "0.19.7"
) | dict.fromkeys(
    (
        "amp", "curriculum_learning", "eigenvalue", "elasticity", "graph_harvesting",
        "progressive_layer_drop", "sparse_gradients",
    ),
    "0.19.8",
)  # fmt: skip
