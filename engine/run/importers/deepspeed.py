"""A DeepSpeed JSON, which does not say what the model is."""

from collections.abc import Callable, Mapping

from engine.run.importers.import_report import (
    OFFLOADED,
    Draft,
    Given,
    flag,
    positive,
    shorten,
    whole,
)

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


def take_deepspeed(given: list[Given], draft: Draft) -> None:
    """Read a DeepSpeed JSON into a draft."""
    draft.values["training.framework"] = "deepspeed"
    for one in given:
        _take(one, draft)


def _take(one: Given, draft: Draft) -> None:
    name = one.key
    if str(one.value) == "auto":
        draft.tell(one, "assumed", 'as if it were not there: "auto" is filled in by the script')
    elif name in _NOTED:
        draft.notes[name] = positive(one.value)
        draft.tell(one, "understood", "worked into what is derived below")
    elif name in _KEYS:
        _KEYS[name](one, draft)
    elif "offload" in name and name.endswith(".device") and str(one.value) != "none":
        draft.tell(one, "ignored", OFFLOADED)
    elif name.startswith(_IGNORED):
        draft.tell(one, "ignored", "changes neither time nor memory that is predicted here")
    else:
        draft.tell(one, "ignored", "not known to this importer")


def _stage(one: Given, draft: Draft) -> None:
    stage = whole(one.value)
    if stage is None or not 0 <= stage <= 3:
        draft.tell(one, "ignored", "no stage of ZeRO; allowed is 0 to 3")
        given = shorten(one.value)
        draft.contradictions.append(
            f"line {one.line}: zero_optimization.stage is {given}; allowed is 0 to 3"
        )
    else:
        draft.take(one, "parallelism.zero_stage", stage)


def _half(one: Given, draft: Draft) -> None:
    if flag(one.value):
        draft.take(one, "training.precision", "fp16" if one.key[0] == "f" else "bf16")
    else:
        draft.tell(one, "understood", "off")


def _degree(one: Given, draft: Draft) -> None:
    path = "tensor_parallel" if one.key.startswith("tensor") else "expert_parallel"
    draft.take(one, f"parallelism.{path}", positive(one.value) or 1)


def _sums(one: Given, draft: Draft) -> None:
    if str(one.value) in ("bf16", "fp16", "fp32"):
        draft.take(one, "training.gradient_precision", str(one.value))
    else:
        draft.tell(one, "ignored", "as the precision is")


def _overlap(one: Given, draft: Draft) -> None:
    draft.take(one, "training.overlap_gradient_reduce", flag(one.value))


def _optimizer(one: Given, draft: Draft) -> None:
    word = str(one.value).lower()
    kind = next((kind for kind in ("muon", "sgd") if kind in word), "adam")
    draft.take(one, "training.optimizer", kind)


_KEYS: Mapping[str, Callable[[Given, Draft], None]] = {
    "zero_optimization.stage": _stage,
    "bf16.enabled": _half,
    "bfloat16.enabled": _half,
    "fp16.enabled": _half,
    "tensor_parallel.autotp_size": _degree,
    "expert_parallel.autoep_size": _degree,
    "data_types.grad_accum_dtype": _sums,
    "zero_optimization.overlap_comm": _overlap,
    "optimizer.type": _optimizer,
}


def finish_deepspeed(draft: Draft) -> None:
    """Derive ranks and batch, which must agree."""
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
