"""Importer of DeepSpeed JSON, which does not contain the model."""

from collections.abc import Callable, Mapping

from engine.run.importers.dialect import Dialect, Piece, words
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
from engine.run.importers.unknown_keys import report_unknown

DEEPSPEED = "DeepSpeed 0.19.8"

_NOTED = (
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "gradient_accumulation_steps",
    "zero_optimization.zero_hpz_partition_size",
    "zero_optimization.mics_shard_size",
)
_IGNORED = (
    "optimizer.params", "scheduler", "gradient_clipping", "steps_per_print", "wall_clock",
    "prescale",
    "zero_optimization.reduce", "zero_optimization.allgather", "zero_optimization.stage3_", "fp16.",
    "zero_optimization.contiguous", "zero_optimization.sub_group", "zero_optimization.offload",
    "zero_optimization.round", "zero_optimization.zero_quantized", "communication_data_type",
    "zero_optimization.max_", "zero_optimization.prefetch", "zero_optimization.param_persistence",
    "zero_optimization.memory", "zero_optimization.gather", "flops_profiler", "tensorboard",
    "comms_logger", "zero_allow", "bf16.", "aio", "wandb", "dump_state", "csv_monitor",
    "torch_autocast",     "zero_force", "activation_checkpointing", "compression_training",
    "data_efficiency",
    "elasticity",
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
    elif "offload" in name and name.endswith(".device") and str(setting.value) != "none":
        draft.report_not_modeled(setting, OFFLOADED)
    elif name.startswith(_IGNORED):
        said = "changes neither time nor memory that is predicted here"
        draft.report(setting, "without effect", said)
    else:
        report_unknown(setting, draft)


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


DEEPSPEED_JSON = Dialect(
    name="DeepSpeed JSON",
    read=_read,
    software="DeepSpeed",
    keys=words(
        """zero_optimization zero_optimization.stage train_micro_batch_size_per_gpu
        train_batch_size gradient_accumulation_steps gradient_clipping steps_per_print bf16.enabled
        bfloat16.enabled fp16.enabled wall_clock_breakdown zero_allow_untested_optimizer
        activation_checkpointing optimizer.type scheduler.type tensor_parallel.autotp_size
        expert_parallel.autoep_size data_types flops_profiler comms_logger prescale_gradients
        zero_force_ds_cpu_optimizer fp16.loss_scale"""
    ),
    finish=finish_deepspeed,
    joins=frozenset(("accelerate", "Megatron-LM")),
)
