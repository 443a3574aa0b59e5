"""Importer of DeepSpeed JSON, which does not contain the model."""

from collections.abc import Callable, Mapping

from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    is_true,
    positive_number,
    shorten,
    whole_number,
)
from engine.run.importers.json_text import object_settings
from engine.run.importers.key_table import KeyTable, is_off, read_key

DEEPSPEED = "DeepSpeed 0.19.8"

_NOTED = (
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "gradient_accumulation_steps",
    "zero_optimization.mics_shard_size",
)
_TABLE = KeyTable(
    not_modeled={
        "zero_optimization.zero_hpz_partition_size": "ZeRO++: weights are gathered in a node alone",
        "zero_optimization.zero_quantized_weights": "ZeRO++: fewer bits in an exchange",
        "zero_optimization.zero_quantized_nontrainable_weights": "ZeRO++: fewer bits",
        "zero_optimization.zero_quantized_gradients": "ZeRO++: fewer bits in an exchange",
        "zero_optimization.zenflow": "an optimizer that waits for no gradient",
        "activation_checkpointing.partition_activations": "kept inputs are divided among ranks",
        "activation_checkpointing.cpu_checkpointing": "kept inputs lie in the host's memory",
        "compression_training": "weights in fewer bits",
        "sparse_attention": "sparse attention; attention over all tokens is shown",
        "progressive_layer_drop": "layers that are left out; all are shown",
        "data_efficiency": "sequences of other lengths; the full length is shown",
        "curriculum_learning": "sequences of other lengths; the full length is shown",
        "elasticity": "a batch that follows the number of GPUs",
        "pipeline": "a pipeline of stages",
        "bf16.bf16_master_weights_and_grads": "states in 16 bits; 32 are shown",
        "bf16.bf16_optimizer_states": "states in 16 bits; 32 are shown",
        "fp16.fp16_master_weights_and_grads": "states in 16 bits; 32 are shown",
        "communication_data_type": "other bits in the exchange of gradients",
        "amp.enabled": "mixed precision of Apex",
        "hybrid_engine.enabled": "generation is not in the step that is shown",
        "sparse_gradients": "gradients of an embedding that are sparse",
        "zero_optimization.memory_efficient_linear": "linear layers that keep less",
    },
    without_effect={
        "a number of the optimizer or of its schedule": (
            "optimizer.params", "scheduler", "gradient_clipping", "prescale_gradients",
            "gradient_predivide_factor", "zero_allow_untested_optimizer", "zero_force_*",
            "gradient_allreduce_op", "optimizer.legacy_fusion",
            "zero_optimization.save_muon_momentum_buffer_in_memory",
        ),
        "logging and profiling": (
            "steps_per_print", "wall_clock_breakdown", "flops_profiler", "tensorboard", "wandb",
            "comms_logger", "csv_monitor", "dump_state", "memory_breakdown", "comet",
            "zero_optimization.log_trace_cache_warnings", "zero_optimization.enable_sanity_checks",
        ),
        "sizes of buckets and of what is fetched ahead; the prediction hides what it can": (
            "zero_optimization.reduce_*", "zero_optimization.allgather_*",
            "zero_optimization.contiguous_gradients", "zero_optimization.sub_group_size",
            "zero_optimization.prefetch_bucket_size", "zero_optimization.param_persistence_*",
            "zero_optimization.model_persistence_threshold", "zero_optimization.max_*",
            "zero_optimization.stage3_prefetch_bucket_size", "zero_optimization.stage3_max_*",
            "zero_optimization.stage3_param_persistence_threshold",
            "zero_optimization.round_robin_gradients", "zero_optimization.use_*",
            "zero_optimization.module_granularity_threshold", "disable_allgather",
            "zero_optimization.stage3_model_persistence_threshold",
            "zero_optimization.ignore_unused_parameters", "zero_optimization.leaf_module",
            "zero_optimization.stage3_module_granularity_threshold",
            "zero_optimization.stage3_use_*", "zero_optimization.stage3_allgather_sequential",
        ),
        "saving and loading lie between steps": (
            "checkpoint", "zero_optimization.gather_16bit_*", "zero_optimization.stage3_gather_*",
            "zero_optimization.load_from_fp32_weights", "zero_optimization.elastic_checkpoint",
            "zero_optimization.pipeline_loading_checkpoint", "dataloader_drop_last", "nebula",
        ),
        "numbers of the scale of the loss": (
            "fp16.loss_scale*", "fp16.initial_scale_power", "fp16.hysteresis", "fp16.auto_cast",
            "fp16.min_loss_scale", "fp16.consecutive_hysteresis", "bf16.check_overflow",
            "bf16.immediate_grad_update", "bf16.auto_cast", "amp.opt_level",
        ),
        "where offloaded states lie": (
            "zero_optimization.offload_param", "zero_optimization.offload_optimizer", "aio",
            "zero_optimization.cpu_offload_use_pin_memory", "zero_optimization.cpu_offload",
            "zero_optimization.cpu_offload_param",
        ),
        "the script decides what is recomputed": (
            "activation_checkpointing.number_checkpoints", "activation_checkpointing.profile",
            "activation_checkpointing.contiguous_memory_optimization",
            "activation_checkpointing.synchronize_checkpoint_boundary",
        ),
        "within a group of MiCS": ("zero_optimization.mics_hierarchical_params_gather",),
        "a precision that is said elsewhere": ("torch_autocast", "data_types.param_dtype"),
        "of generation": ("hybrid_engine",),
    },
)  # fmt: skip


def import_deepspeed(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of a DeepSpeed JSON into a draft."""
    draft.values["training.framework"] = "deepspeed"
    for setting in settings:
        _import_setting(setting, draft)


def _import_setting(setting: Setting, draft: RunDraft) -> None:
    name = setting.key
    if str(setting.value) == "auto":
        draft.report(
            setting, "assumed", 'as if it were not there: "auto" is filled in by the script'
        )
    elif name in _NOTED:
        draft.notes[name] = positive_number(setting.value)
        draft.report(setting, "understood", "worked into what is derived below")
    elif name in _KEYS:
        _KEYS[name](setting, draft)
    elif "offload" in name and name.endswith((".device", "cpu_offload", "cpu_offload_param")):
        if is_off(setting.value):
            draft.report(setting, "understood", "off")
        else:
            draft.report_not_modeled(setting, OFFLOADED)
    elif str(setting.value) == "{}":
        draft.report(setting, "without effect", "empty")
    else:
        read_key(setting, _TABLE, draft)


def _stage(setting: Setting, draft: RunDraft) -> None:
    stage = whole_number(setting.value)
    if stage is None or not 0 <= stage <= 3:
        draft.report(setting, "not known", "no stage of ZeRO; allowed is 0 to 3")
        value = shorten(setting.value)
        draft.contradictions.append(
            f"line {setting.line}: zero_optimization.stage is {value}; allowed is 0 to 3"
        )
    else:
        draft.set_value(setting, "parallelism.zero_stage", stage)


def _precision(setting: Setting, draft: RunDraft) -> None:
    if is_true(setting.value):
        draft.set_value(setting, "training.precision", "fp16" if setting.key[0] == "f" else "bf16")
    else:
        draft.report(setting, "understood", "off")


def _degree(setting: Setting, draft: RunDraft) -> None:
    path = "tensor_parallel" if setting.key.startswith("tensor") else "expert_parallel"
    draft.set_value(setting, f"parallelism.{path}", positive_number(setting.value) or 1)


def _gradient_precision(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value) in ("bf16", "fp16", "fp32"):
        draft.set_value(setting, "training.gradient_precision", str(setting.value))
    else:
        draft.report_not_modeled(setting, "taken as the precision is")


def _overlap(setting: Setting, draft: RunDraft) -> None:
    draft.set_value(setting, "training.overlap_gradient_reduce", is_true(setting.value))


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    kind = next((kind for kind in ("muon", "sgd") if kind in word), "adam")
    draft.set_value(setting, "training.optimizer", kind)


_KEYS: Mapping[str, Callable[[Setting, RunDraft], None]] = {
    "zero_optimization.stage": _stage,
    "bf16.enabled": _precision,
    "bfloat16.enabled": _precision,
    "fp16.enabled": _precision,
    "tensor_parallel.autotp_size": _degree,
    "expert_parallel.autoep_size": _degree,
    "data_types.grad_accum_dtype": _gradient_precision,
    "zero_optimization.overlap_comm": _overlap,
    "optimizer.type": _optimizer,
}


def _warn_of_auto(draft: RunDraft) -> None:
    """Warn of a batch that the script fills in, which is in no text."""
    names = ("train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "train_batch_size")
    for entry in draft.entries:
        if entry.key in names and entry.value == "auto" and not draft.notes.get(entry.key):
            draft.warnings.append(
                f"{entry.key} (line {entry.line}) is filled in by a script that is not here"
            )


def finish_deepspeed(draft: RunDraft) -> None:
    """Derive ranks and batch size, and check that they agree."""
    notes = draft.notes
    total = notes.get("train_batch_size")
    micro = notes.get("train_micro_batch_size_per_gpu")
    steps = notes.get("gradient_accumulation_steps")
    parts = draft.get("parallelism.tensor_parallel") * draft.get("parallelism.context_parallel")
    if "per_node" in notes:
        draft.values["parallelism.world_size"] = notes["per_node"] * notes.get("nodes", 1)
    world = draft.values.get("parallelism.world_size")
    if world is None and total and micro:
        ranks = max(1, total // (micro * (steps or 1)))
        draft.derive("parallelism.world_size", ranks * parts, "the batch over what a GPU takes")
    _warn_of_auto(draft)
    draft.assume("parallelism.world_size", 8 * parts, "no launcher says how many GPUs; one node")
    ranks = max(1, draft.values["parallelism.world_size"] // parts)
    micro = micro or max(1, (total or ranks) // ranks // (steps or 1))
    draft.derive("training.micro_batch_size", micro, "train_micro_batch_size_per_gpu")
    whole_batch = total or micro * ranks * (steps or 1)
    draft.derive("training.global_batch_size", whole_batch, "micro-batch x steps x ranks")
    if total and steps and total != micro * steps * ranks:
        draft.contradictions.append(
            "Check batch related parameters. train_batch_size is not equal to "
            "micro_batch_per_gpu * gradient_acc_step * world_size "
            f"{total} != {micro} * {steps} * {ranks}"
        )
    group = notes.get("zero_optimization.mics_shard_size")
    if group and group > 0:
        draft.derive("parallelism.shard_group", group, "mics_shard_size")
    draft.assume("parallelism.zero_stage", 0, f"zero_optimization.stage ({DEEPSPEED})")
    draft.assume("parallelism.sequence_parallel", False, "DeepSpeed's AutoTP has none")


def _read(piece: Piece, draft: RunDraft) -> None:
    import_deepspeed(object_settings(piece), draft)


READER = Reader(read=_read, finish=finish_deepspeed)
