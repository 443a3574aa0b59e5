"""The YAML of Hugging Face accelerate, which says neither model nor batch."""

from collections.abc import Callable, Mapping
from typing import Any

from engine.run.importers.told import Draft, Given, flag, positive, shorten, whole

ACCELERATE = "accelerate 1.15"

_COUNTS: Mapping[str, str] = {
    "parallelism_config.parallelism_config_tp_size": "parallelism.tensor_parallel",
    "parallelism_config.parallelism_config_cp_size": "parallelism.context_parallel",
    "deepspeed_config.zero_stage": "parallelism.zero_stage",
    "num_processes": "parallelism.world_size",
}
_QUIET = (
    "compute_environment", "debug", "downcast_bf16", "machine_rank", "main_", "rdzv",
    "same_network", "tpu", "use_cpu", "enable_cpu", "fsdp_config.fsdp_auto",
    "fsdp_config.fsdp_backward", "ipex",
    "fsdp_config.fsdp_cpu", "fsdp_config.fsdp_state", "fsdp_config.fsdp_sync",
    "fsdp_config.fsdp_use",
    "fsdp_config.fsdp_transformer", "fsdp_config.fsdp_offload", "fsdp_config.fsdp_forward",
    "deepspeed_config", "dynamo_config", "distributed_type", "gpu_ids", "num_machines", "mpirun",
)  # fmt: skip


def take_accelerate(given: list[Given], draft: Draft) -> None:
    """Read the YAML of accelerate into a draft."""
    deep = any(str(one.value) == "DEEPSPEED" for one in given)
    draft.values["training.framework"] = "deepspeed" if deep else "fsdp"
    for one in given:
        _take(one, draft)


def _take(one: Given, draft: Draft) -> None:
    name, word = one.key, str(one.value)
    if name in _COUNTS:
        number = whole(one.value)
        if number is None:
            draft.tell(one, "ignored", f"{shorten(word)} is no whole number")
        else:
            draft.take(one, _COUNTS[name], number)
    elif name in _KEYS:
        draft.take(one, *_KEYS[name](word))
    elif name == "deepspeed_config.gradient_accumulation_steps":
        draft.notes["gradient_accumulation_steps"] = positive(one.value)
        draft.tell(one, "understood", "worked into what is derived below")
    elif name.startswith("parallelism_config.parallelism_config_dp_"):
        draft.notes[name.rpartition("_config_")[2]] = positive(one.value)
        draft.tell(one, "understood", "worked into what is derived below")
    elif name.startswith(_QUIET) or name == "fsdp_config.fsdp_version":
        draft.tell(one, "ignored", "changes neither time nor memory that is predicted here")
    else:
        draft.tell(one, "ignored", "not known to this importer")


_STRATEGIES = {"FULL_SHARD": 3, "SHARD_GRAD_OP": 2, "NO_SHARD": 0, "HYBRID_SHARD": 3, "1": 3}
_KEYS: Mapping[str, Callable[[str], tuple[str, Any]]] = {
    "mixed_precision": lambda word: (
        "training.precision",
        word if word in ("bf16", "fp16", "fp8") else "bf16",
    ),
    "fsdp_config.fsdp_reshard_after_forward": lambda word: (
        "parallelism.zero_stage",
        3 if word.lower() in ("true", "full_shard") else 2,
    ),
    "fsdp_config.fsdp_sharding_strategy": lambda word: (
        "parallelism.zero_stage",
        _STRATEGIES.get(word.upper(), 3),
    ),
    "fsdp_config.fsdp_activation_checkpointing": lambda word: (
        "training.recompute",
        "full" if flag(word) else "none",
    ),
    "dynamo_config.dynamo_backend": lambda word: (
        "training.compiled",
        word.upper() not in ("NO", "NONE"),
    ),
}


def finish_accelerate(draft: Draft) -> None:
    """Derive the sharding, and assume the batch, which is in the script."""
    copies = draft.notes.get("dp_replicate_size") or 1
    parts = draft.get("parallelism.tensor_parallel") * draft.get("parallelism.context_parallel")
    draft.assume("parallelism.world_size", 8, "num_processes is missing; one node")
    world = draft.values["parallelism.world_size"]
    if copies > 1:
        sharded = draft.notes.get("dp_shard_size") or max(1, world // parts // copies)
        group = sharded * draft.get("parallelism.context_parallel")
        draft.derive("parallelism.shard_group", group, "HSDP: dp_shard x cp")
    if world % (parts * copies):
        draft.contradictions.append(
            f"ParallelismConfig total_size ({parts * copies}) does not match num_processes "
            f"({world})"
        )
        return
    steps = draft.notes.get("gradient_accumulation_steps") or 1
    draft.assume("training.micro_batch_size", 1, "the batch is in the script")
    batch = draft.get("training.micro_batch_size") * max(1, world // parts) * steps
    draft.assume("training.global_batch_size", batch, "one micro-batch per GPU and step")
    draft.assume("parallelism.zero_stage", 3, f"fsdp_reshard_after_forward ({ACCELERATE})")
    draft.assume("training.precision", "bf16", "mixed_precision is missing")
    draft.assume("training.compiled", False, f"dynamo_backend ({ACCELERATE})")
    draft.assume("parallelism.sequence_parallel", False, "accelerate's tensor parallelism has none")
