"""Importer of Hugging Face accelerate YAML, which contains neither model nor batch."""

import re
from collections.abc import Callable, Mapping
from typing import Any

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
from engine.run.importers.key_table import (
    KeyTable,
    plain_name,
    read_key,
    reason_without_effect,
)
from engine.run.importers.trainer import fsdp_config_handlers, read_deepspeed_file
from engine.run.importers.yaml_text import read_yaml

ACCELERATE = "accelerate 1.15"

_COUNTS: Mapping[str, str] = {
    "parallelism_config.parallelism_config_tp_size": "parallelism.tensor_parallel",
    "parallelism_config.parallelism_config_cp_size": "parallelism.context_parallel",
    "deepspeed_config.zero_stage": "parallelism.zero_stage",
    "num_processes": "parallelism.world_size",
}
_TABLE = KeyTable(
    handlers=fsdp_config_handlers(),
    not_modeled={
        "deepspeed_config.deepspeed_config_file": "a file with the rest of DeepSpeed's settings; "
        "paste it too",
        "fp8_config.opt_level": "MS-AMP keeps states in eight bits",
        "fp8_config.optimization_level": "MS-AMP keeps states in eight bits",
        "deepspeed_config.deepspeed_moe_layer_cls_names": "experts that are not sharded",
    },
    without_effect={
        "where processes run and meet": (
            "compute_environment", "machine_rank", "main_*", "rdzv_backend", "same_network",
            "gpu_ids", "num_machines", "mpirun_config", "enable_cpu_affinity", "command_file",
            "commands", "deepspeed_config.deepspeed_multinode_launcher",
            "deepspeed_config.deepspeed_hostfile", "deepspeed_config.deepspeed_exclusion_filter",
            "deepspeed_config.deepspeed_inclusion_filter",
        ),
        "a switch for finding faults": ("debug",),
        "counts on TPUs alone": ("tpu_*", "downcast_bf16"),
        "counts on processors alone": ("use_cpu", "ipex_config"),
        "which engine runs; its other keys say the rest": ("distributed_type",),
        "how weights begin and are saved": (
            "deepspeed_config.zero3_init_flag", "deepspeed_config.zero3_save_16bit_model",
        ),
        "a number of the optimizer": ("deepspeed_config.gradient_clipping",),
        "where offloaded states lie": (
            "deepspeed_config.offload_optimizer_nvme_path",
            "deepspeed_config.offload_param_nvme_path", "deepspeed_config.offload_optimizer_device",
            "deepspeed_config.offload_param_device",
        ),
        "how the compiler works": (
            "dynamo_config.dynamo_mode", "dynamo_config.dynamo_use_dynamic",
            "dynamo_config.dynamo_use_fullgraph", "dynamo_config.dynamo_use_regional_compilation",
        ),
        "numbers of fp8's scales": ("fp8_config",),
        "how sequences are cut": (
            "parallelism_config.parallelism_config_cp_comm_strategy",
            "parallelism_config.parallelism_config_sp_seq_length*",
            "parallelism_config.parallelism_config_sp_attn_implementation",
            "parallelism_config.parallelism_config_sp_backend",
        ),
    },
)  # fmt: skip


# Every process holds the whole model: DistributedDataParallel, or a single process.
_COPIED = ("NO", "MULTI_GPU", "MULTI_CPU", "MULTI_XPU", "MULTI_NPU", "MULTI_HPU")


def import_accelerate(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of an accelerate YAML into a draft."""
    kind = next(
        (str(setting.value) for setting in settings if setting.key == "distributed_type"), "FSDP"
    )
    draft.values["training.framework"] = "deepspeed" if kind == "DEEPSPEED" else "fsdp"
    sharded = ("fsdp_config.fsdp_reshard_after_forward", "fsdp_config.fsdp_sharding_strategy")
    if kind == "MEGATRON_LM":
        draft.contradictions.append(
            "distributed_type is MEGATRON_LM: of accelerate, FSDP and DeepSpeed are read"
        )
    for setting in settings:
        if setting.key.startswith("parallelism_config."):
            draft.notes["sizes"] = True
        if kind in _COPIED and _current_name(setting.key) in sharded:
            draft.report(setting, "without effect", f"distributed_type is {kind}")
        else:
            _import_setting(setting, draft)
    if kind in _COPIED:
        draft.values.setdefault("parallelism.zero_stage", 0)


def _import_setting(setting: Setting, draft: RunDraft) -> None:
    name, word = _current_name(setting.key), str(setting.value)
    if name in _COUNTS:
        number = whole_number(setting.value)
        if number is None:
            draft.report(setting, "not known", f"{shorten(word)} is no whole number")
        else:
            draft.set_value(setting, _COUNTS[name], number)
    elif name == "deepspeed_config.gradient_accumulation_steps":
        draft.notes["gradient_accumulation_steps"] = positive_number(setting.value)
        draft.report(setting, "understood", "worked into what is derived below")
    elif name.startswith(_DEGREES):
        draft.notes[name.rpartition("_config_")[2]] = positive_number(setting.value)
        draft.report(setting, "understood", "worked into what is derived below")
    elif name in _KEYS and not _is_ignored(name, word):
        draft.set_value(setting, *_KEYS[name](word))
    else:
        _report_rest(setting, name, word, draft)


def _current_name(key: str) -> str:
    """Return a key as accelerate has it since 2023: `fsdp_` stands in front of FSDP's."""
    name = key.removeprefix("fsdp_config.")
    return f"fsdp_config.fsdp_{name}" if name != key and not name.startswith("fsdp_") else key


def _is_ignored(name: str, word: str) -> bool:
    return name == "mixed_precision" and word.lower() in ("no", "none", "false")


def _report_rest(setting: Setting, name: str, word: str, draft: RunDraft) -> None:
    """Report a setting that no run file has a key for."""
    if word == "{}":
        draft.report(setting, "without effect", "empty")
    elif name == "mixed_precision":
        reason = "training in single precision is not predicted here: bf16 is taken"
        draft.report_not_modeled(setting, reason)
    elif name.endswith(_OFFLOADS) and word.lower() in ("true", "cpu", "nvme"):
        draft.report_not_modeled(setting, OFFLOADED)
    else:
        read_key(setting, _TABLE, draft)


_OFFLOADS = ("offload_params", "offload_optimizer_device", "offload_param_device")
_DEGREES = (
    "parallelism_config.parallelism_config_dp_",
    "parallelism_config.parallelism_config_sp_size",
)
_KEYS: Mapping[str, Callable[[str], tuple[str, Any]]] = {
    "mixed_precision": lambda word: (
        "training.precision",
        word if word in ("bf16", "fp16", "fp8") else "bf16",
    ),
    "fsdp_config.fsdp_activation_checkpointing": lambda word: (
        "training.recompute",
        "full" if is_true(word) else "none",
    ),
    "dynamo_config.dynamo_backend": lambda word: (
        "training.compiled",
        word.upper() not in ("NO", "NONE"),
    ),
}


def finish_accelerate(draft: RunDraft) -> None:
    """Derive the sharding; assume the batch, which is set in the training script."""
    copies = draft.notes.get("dp_replicate_size") or 1
    _derive_context_parallel(draft)
    parts = draft.get("parallelism.tensor_parallel") * draft.get("parallelism.context_parallel")
    draft.assume("parallelism.world_size", 8, "num_processes is missing; one node")
    world = draft.values["parallelism.world_size"]
    if draft.notes.get("shards in a node"):
        per_node = min(draft.notes.get("per_node", 8), draft.get("parallelism.world_size", 8))
        draft.derive("parallelism.shard_group", per_node, "a copy in every node")
    if copies > 1:
        sharded = draft.notes.get("dp_shard_size") or max(1, world // parts // copies)
        group = sharded * draft.get("parallelism.context_parallel")
        draft.derive("parallelism.shard_group", group, "HSDP: dp_shard x cp")
    # Where degrees are said, dp_shard_size is 1 unless it is said, and they make all processes.
    sizes = parts * copies
    total = sizes * (draft.notes.get("dp_shard_size") or 1) if "sizes" in draft.notes else 0
    if world % sizes or (total and total != world):
        draft.contradictions.append(
            f"ParallelismConfig total_size ({total or sizes}) does not match num_processes "
            f"({world}). Please adjust dp_replicate_size/ dp_shard_size/tp_size/cp_size/sp_size."
        )
        return
    steps = draft.notes.get("gradient_accumulation_steps") or 1
    draft.assume("training.micro_batch_size", 1, "the batch is in the script")
    batch = draft.get("training.micro_batch_size") * max(1, world // parts) * steps
    draft.assume("training.global_batch_size", batch, "one micro-batch per GPU and step")
    draft.assume("parallelism.zero_stage", 3, f"fsdp_reshard_after_forward ({ACCELERATE})")
    draft.assume("training.precision", "bf16", "no mixed precision is said")
    draft.assume("training.compiled", False, f"dynamo_backend ({ACCELERATE})")
    draft.assume("parallelism.sequence_parallel", False, "accelerate's tensor parallelism has none")


def _derive_context_parallel(draft: RunDraft) -> None:
    """Map Ulysses sequence-parallel ranks to context parallelism."""
    split, rings = draft.notes.get("sp_size") or 1, draft.get("parallelism.context_parallel")
    if split > 1 and rings > 1:
        draft.contradictions.append(
            "Context Parallelism (CP) and Sequence Parallelism (SP) are mutually exclusive. Got "
            f"cp_size={rings} and sp_size={split}. Please set either cp_size=1 or sp_size=1."
        )
    elif split > 1:
        draft.derive("parallelism.context_parallel", split, "sp_size: a sequence is split alike")


def _read(piece: Piece, draft: RunDraft) -> None:
    import_accelerate(read_yaml(piece.text, piece.line), draft)


# `accelerate launch` (accelerate 1.15, commands/launch.py): what its flags say of the engine.
def _uses_deepspeed(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("deepspeed", "")
    draft.report(setting, "understood", "DeepSpeed runs")


def _stage(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("deepspeed", "")
    number = whole_number(setting.value)
    if number is None:
        draft.report(setting, "not known", f"{shorten(setting.value)} is no whole number")
    else:
        draft.set_value(setting, "parallelism.zero_stage", number)


def _uses_fsdp(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("fsdp", [])
    draft.report(setting, "understood", "FSDP shards")


def _precision(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("bf16", "fp16", "fp8"):
        draft.set_value(setting, "training.precision", word)
    else:
        draft.report(setting, "understood", "no mixed precision")


def _offloads(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).lower() in ("cpu", "nvme"):
        draft.report_not_modeled(setting, OFFLOADED)
    else:
        draft.report(setting, "understood", "off")


def _file(setting: Setting, draft: RunDraft) -> None:
    """Note accelerate's own file: pasted beside, told by its name, or missing."""
    name = str(setting.value).rpartition("/")[2].lower()
    if "accelerate YAML" in draft.notes["kinds of text"]:
        draft.report(setting, "understood", "the configuration that is read beside")
    elif re.search(r"deepspeed|zero|(?<![a-z])ds(?![a-z])", name):
        read_deepspeed_file(setting, draft)
    elif "fsdp" in name:
        _uses_fsdp(setting, draft)
    elif re.search(r"multi_?gpu|ddp|single_?gpu", name):
        draft.report(setting, "understood", "every GPU keeps the whole model, by the file's name")
        draft.values.setdefault("parallelism.zero_stage", 0)
    else:
        draft.notes["accelerate's file"] = setting
        draft.report(setting, "understood", "the file that says what is sharded")


_COMMAND = KeyTable(
    noted={"gradient_accumulation_steps": "gradient_accumulation_steps"},
    handlers={
        "use_deepspeed": _uses_deepspeed,
        "deepspeed_config_file": read_deepspeed_file,
        "zero_stage": _stage,
        "use_fsdp": _uses_fsdp,
        "mixed_precision": _precision,
        "config_file": _file,
        **dict.fromkeys(("offload_optimizer_device", "offload_param_device"), _offloads),
        **{
            key: handler
            for key, handler in fsdp_config_handlers("").items()
            if key.startswith("fsdp_")
        },
    },
    not_modeled={"use_megatron_lm": "Megatron-LM below accelerate"},
    without_effect={
        "how weights begin and are saved": ("zero3_init_flag", "zero3_save_16bit_model"),
        "a number of the optimizer": ("gradient_clipping",),
        "how processes are started": (
            "multi_gpu", "deepspeed_multinode_launcher", "deepspeed_hostfile", "gpu_ids",
            "num_cpu_threads_per_process", "quiet", "debug", "rdzv_*", "enable_cpu_affinity",
        ),
    },
)  # fmt: skip


def read_command_flag(setting: Setting, draft: RunDraft) -> bool:
    """Read a flag of `accelerate launch` that says what runs; return whether it is one."""
    name = plain_name(setting.key)
    mine = setting.program == "accelerate" and not setting.condition
    tables = (_COMMAND.handlers, _COMMAND.noted, _COMMAND.not_modeled)
    if not mine or not (
        any(name in table for table in tables) or reason_without_effect(name, _COMMAND)
    ):
        return False
    read_key(setting, _COMMAND, draft)
    return True


READER = Reader(read=_read, finish=finish_accelerate)
