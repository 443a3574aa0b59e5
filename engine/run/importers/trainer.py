"""What Hugging Face's Trainer and the software above it have in common.

Read at transformers commit 00349ae8 (`src/transformers/training_args.py`) and accelerate 1.15.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.run.importers.adapters import note_bits, settle_bits
from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    positive_number,
    shorten,
)
from engine.run.importers.key_table import (
    WORKED,
    Handler,
    is_absent,
    is_off,
    is_on,
    plain_name,
    refuse_value,
    remark,
    switch,
)
from engine.run.importers.repositories import derive_named_model

_LENGTH = 2048  # tokens of a sequence, where a script of one's own sets them
MICRO, STEPS = "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerDefaults:
    """The defaults of a software above the Trainer.

    Attributes:
        software: name and version.
        micro: sequences of a GPU in one forward pass.
        steps: forward passes of a step.
        recompute: "full" where gradient checkpointing is on unless turned off.
        length: of sequences, in tokens; 0: the script says it.
        precision: "bf16", or empty for single precision, which is not predicted.
    """

    software: str
    micro: int
    steps: int
    recompute: str
    length: int
    precision: str


def read_deepspeed_file(setting: Setting, draft: RunDraft) -> None:
    """Note that DeepSpeed runs, and the file with its stage of ZeRO."""
    if is_off(setting.value):
        draft.report(setting, "understood", "off")
        return
    if setting.value is True:  # a script of one's own says the rest by other flags
        draft.notes.setdefault("deepspeed", "")
        draft.report(setting, "understood", "DeepSpeed runs")
        return
    draft.notes["deepspeed"] = str(setting.value)
    draft.notes["deepspeed line"] = setting.line
    name = str(setting.value).lower()
    if "offload" in name and "no_offload" not in name:
        draft.report_not_modeled(setting, OFFLOADED)
    else:
        draft.report(setting, "understood", WORKED)


def stage_in_name(name: str) -> int | None:
    """Return the stage of ZeRO that a file's name says: ds_z3_config.json, zero2.json."""
    word = re.split(r"[/\\]", name.lower())[-1]
    match = re.search(r"(?:z|zero|stage)[_-]?([0-3])(?!\d)", word)
    return int(match[1]) if match else None


_SHARDED = {"full_shard": 3, "shard_grad_op": 2, "no_shard": 0, "hybrid_shard": 3,
            "hybrid_shard_zero2": 2}  # fmt: skip


def read_fsdp_words(setting: Setting, draft: RunDraft) -> None:
    """Read `full_shard auto_wrap`, of a flag or of a list."""
    if is_off(setting.value):
        draft.report(setting, "understood", "off")
        return
    value = setting.value
    words = value if isinstance(value, list) else re.split(r"[\s,]+", str(value).strip("\"'"))
    options = [str(word).strip("\"'").lower() for word in words if str(word).strip()]
    draft.notes["fsdp"] = options
    stage = next((_SHARDED[word] for word in options if word in _SHARDED), None)
    if stage is None and options == ["true"]:
        stage = 3
    unknown = [word for word in options if word not in (*_SHARDED, "auto_wrap", "offload", "true")]
    if unknown:
        refuse_value(setting, f"known are {', '.join(_SHARDED)}, auto_wrap and offload", draft)
        return
    if "offload" in options:
        if stage is not None:
            draft.values["parallelism.zero_stage"] = stage
        draft.report_not_modeled(setting, OFFLOADED)
    elif stage is not None:
        draft.set_value(setting, "parallelism.zero_stage", stage)
    else:
        draft.report(setting, "understood", WORKED)
    if any(word.startswith("hybrid") for word in options):
        draft.notes["shards in a node"] = True


def read_precision(word: str) -> Handler:
    """Return the reader of a switch for 16 bits: `bf16: true`."""

    def read(setting: Setting, draft: RunDraft) -> None:
        auto = str(setting.value).lower() in ("auto", "full")
        if auto or is_on(setting, draft):
            draft.set_value(setting, "training.precision", word)

    return read


def read_checkpointing(setting: Setting, draft: RunDraft) -> None:
    """Read gradient checkpointing: every layer is recomputed."""
    word = str(setting.value).lower()
    if word in ("offload", "offload_disk", "unsloth"):
        draft.values["training.recompute"] = "full"
        draft.report_not_modeled(setting, "kept inputs of layers lie in the host's memory")
    else:
        switch("training.recompute", "full", "none")(setting, draft)


def read_optimizer(setting: Setting, draft: RunDraft) -> None:
    """Read the optimizer; of one that is not modeled Adam's states and time are shown."""
    word = str(setting.value).lower()
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    elif "8bit" in word or "4bit" in word or "paged" in word or "anyprecision" in word:
        draft.values.setdefault("training.optimizer", "adam")
        draft.report_not_modeled(
            setting, "its states are smaller than Adam's in 32 bits, which are shown"
        )
    elif word.startswith("adam") and not word.startswith(("adamini", "adam_mini", "adafactor")):
        draft.set_value(setting, "training.optimizer", "adam")
    elif word in ("sgd", "muon"):
        draft.set_value(setting, "training.optimizer", word)
    else:
        draft.values.setdefault("training.optimizer", "adam")
        draft.report_not_modeled(
            setting, "another optimizer; the states and the time of Adam are shown"
        )


def read_attention(setting: Setting, draft: RunDraft) -> None:
    """Read the kernel of the attention."""
    word = str(setting.value).lower()
    if is_absent(setting.value) or word == "auto":
        draft.report(setting, "understood", "not set")
    elif word in ("eager", "disabled"):
        draft.set_value(setting, "training.flash_attention", False)
    elif "flash" in word or word in ("sdpa", "fa2", "flex_attention", "flex", "xformers"):
        draft.set_value(setting, "training.flash_attention", True)
    else:
        draft.report_not_modeled(setting, "another attention; FlashAttention's time is shown")


def read_rank(setting: Setting, draft: RunDraft) -> None:
    """Note the rank of adapters, which counts where adapters are trained."""
    rank = positive_number(setting.value)
    if rank:
        draft.notes["lora rank"] = rank
    draft.report(setting, "understood", WORKED if rank else "not set")


def read_bits(bits: str) -> Handler:
    """Return the reader of a switch that keeps frozen weights in fewer bits."""

    def read(setting: Setting, draft: RunDraft) -> None:
        if is_on(setting, draft):
            note_bits(setting, draft, bits)

    return read


def read_model_type(setting: Setting, draft: RunDraft) -> None:
    """Read the type in which a model is loaded; its master weights are in 32 bits nevertheless."""
    word = str(setting.value).lower().rpartition(".")[2]
    if word in ("bfloat16", "bf16", "float16", "fp16", "half"):
        draft.notes["loaded in 16 bits"] = setting.line
        draft.report(setting, "understood", WORKED)
    elif word in ("auto", "float32", "fp32", "none", "null"):
        draft.report(setting, "understood", WORKED)
    else:
        refuse_value(setting, "known are float32, bfloat16, float16 and auto", draft)


def fsdp_config_handlers(prefix: str = "fsdp_config.") -> Mapping[str, Handler]:
    """Return readers of the keys of an FSDP configuration, with and without `fsdp_` in front."""
    handlers: dict[str, Handler] = {}
    for key, handler in _FSDP_KEYS.items():
        handlers[f"{prefix}{key}"] = handler
        handlers[f"{prefix}fsdp_{key}"] = handler
    return handlers


def _reshard(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).upper()
    stages = {"FULL_SHARD": 3, "SHARD_GRAD_OP": 2, "NO_SHARD": 0, "HYBRID_SHARD": 3, "TRUE": 3,
              "FALSE": 2, "HYBRID_SHARD_ZERO2": 2, "1": 3, "2": 2, "3": 0, "4": 3}  # fmt: skip
    draft.notes.setdefault("fsdp", [])
    if word not in stages:
        refuse_value(setting, "known are true, false and FSDP's strategies", draft)
        return
    # Beside "full_shard" of the words, this is the more exact of the two.
    draft.lines.pop("parallelism.zero_stage", None)
    draft.set_value(setting, "parallelism.zero_stage", stages[word])
    if word.startswith("HYBRID") or word == "4":
        draft.notes["shards in a node"] = True


def _activation_checkpointing(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("fsdp", [])
    if is_on(setting, draft):
        draft.lines.pop("training.recompute", None)
        draft.set_value(setting, "training.recompute", "full")


def _wrapping(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("fsdp", [])
    word = str(setting.value).upper()
    if word == "NO_WRAP":
        draft.report_not_modeled(
            setting, "the whole model is gathered at once; a layer at a time is shown"
        )
    elif word == "SIZE_BASED_WRAP":
        draft.report_not_modeled(setting, "units by size; one layer at a time is shown")
    else:
        draft.notes["wrapped"] = True
        draft.report(setting, "understood", "a layer is one unit")


def _offload(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("fsdp", [])
    if is_off(setting.value):
        draft.report(setting, "understood", "off")
    else:
        draft.report_not_modeled(setting, OFFLOADED)


def _detail(reason: str) -> Handler:
    def read(setting: Setting, draft: RunDraft) -> None:
        draft.notes.setdefault("fsdp", [])
        draft.report(setting, "without effect", reason)

    return read


_FSDP_KEYS: Mapping[str, Handler] = {
    "sharding_strategy": _reshard,
    "reshard_after_forward": _reshard,
    "activation_checkpointing": _activation_checkpointing,
    "auto_wrap_policy": _wrapping,
    "transformer_layer_cls_to_wrap": _wrapping,
    "offload_params": _offload,
    "cpu_offload": _offload,
    "cpu_offload_pin_memory": _detail("how offloaded parameters lie in the host's memory"),
    "min_num_params": _detail("counts only where units are made by size"),
    "limit_all_gathers": _detail("gathers are taken to be limited"),
    "forward_prefetch": _detail("the gathers ahead of the forward pass are hidden in any case"),
    "backward_prefetch": _detail("the prediction gathers one layer ahead"),
    "sync_module_states": _detail("how the weights are loaded"),
    "cpu_ram_efficient_loading": _detail("how the weights are loaded"),
    "use_orig_params": _detail("how optimizers see the same parameters"),
    "state_dict_type": _detail("how a checkpoint is saved"),
    "final_state_dict_type": _detail("how a checkpoint is saved"),
    "save_policy": _detail("how a checkpoint is saved"),
    "version": _detail("both versions are predicted alike"),
    "xla": _detail("counts on TPUs alone"),
    "xla_fsdp_v2": _detail("counts on TPUs alone"),
}


def read_work(setting: Setting, draft: RunDraft) -> None:
    """Read what a script does: train, predict, or write the weights in another form."""
    name = plain_name(setting.key)
    on = not is_off(setting.value)
    if name == "do_train":
        draft.notes["trains"] = on
    elif on:
        draft.notes.setdefault("other work", setting)
    draft.report(setting, "understood", "which part of the script runs")


def _refuse_other_work(draft: RunDraft) -> None:
    """Refuse a text that trains nothing."""
    other = draft.notes.get("other work")
    if draft.notes.get("trains") is False:
        draft.contradictions.append("do_train is false: the text trains nothing")
    elif other is not None and "trains" not in draft.notes:
        draft.contradictions.append(
            f"line {other.line}: {shorten(other.key)} without do_train: the text trains nothing"
        )


def finish_trainer(draft: RunDraft, defaults: TrainerDefaults) -> None:
    """Derive sharding, ranks and batch of the Trainer, and assume the software's defaults."""
    _refuse_other_work(draft)
    _fill_auto(draft, defaults)
    derive_named_model(draft)
    _sharding(draft, defaults)
    _precision(draft, defaults)
    draft.assume(
        "training.recompute", defaults.recompute, f"gradient checkpointing ({defaults.software})"
    )
    if defaults.length:
        draft.assume("sequence_length", defaults.length, f"as {defaults.software} does unasked")
    assume_length(draft)
    draft.assume("training.compiled", False, f"no torch_compile ({defaults.software})")
    draft.assume("parallelism.sequence_parallel", False, "none in the Trainer")
    _batch(draft, defaults)
    settle_bits(draft)


def assume_length(draft: RunDraft) -> None:
    """Say that no text has the length of sequences, and take one."""
    if "sequence_length" not in draft.values:
        remark(draft, "sequence_length", _LENGTH, "no text says how long sequences are")
        draft.values["sequence_length"] = _LENGTH


def _fill_auto(draft: RunDraft, defaults: TrainerDefaults) -> None:
    """Say of DeepSpeed's "auto" that the Trainer fills it in from the text beside."""
    why = f"filled in by the Trainer ({defaults.software}), as read here"
    draft.entries[:] = [
        replace(entry, kind="derived", meaning=why)
        if entry.value == "auto" and entry.kind == "assumed"
        else entry
        for entry in draft.entries
    ]


def _sharding(draft: RunDraft, defaults: TrainerDefaults) -> None:
    name, fsdp = draft.notes.get("deepspeed"), draft.notes.get("fsdp")
    runs = any("DeepSpeed" in dialect for dialect in draft.dialects)
    if name is not None or runs:
        draft.values["training.framework"] = "deepspeed"
        if not runs and name == "" and "parallelism.zero_stage" not in draft.values:
            why = "DeepSpeed runs, and no text says the stage of ZeRO; 2 is shown"
            remark(draft, "zero_stage", 2, why)
            draft.values["parallelism.zero_stage"] = 2
        if not runs and "parallelism.zero_stage" not in draft.values:
            _stage_by_name(draft, str(name))
        draft.assume("parallelism.zero_stage", 0, "no stage in the configuration of DeepSpeed")
        return
    draft.values["training.framework"] = "fsdp"
    if fsdp is not None:
        draft.assume("parallelism.zero_stage", 3, "FSDP without a strategy shards everything")
        if fsdp and "auto_wrap" not in fsdp and "wrapped" not in draft.notes:
            why = "nothing says what is one unit; a layer at a time is shown"
            remark(draft, "fsdp", " ".join(fsdp), why)
    _unsharded(draft)


def _unsharded(draft: RunDraft) -> None:
    """Say that nothing is sharded where no text says so, or that a file is missing."""
    if "parallelism.zero_stage" in draft.values:
        return
    if file := draft.notes.get("accelerate's file"):
        draft.contradictions.append(
            f"line {file.line}: what is sharded is in {shorten(file.value)}; paste that file too"
        )
    why = "neither DeepSpeed nor FSDP is named: every GPU keeps the whole model"
    if "per_node" in draft.notes:
        draft.assume("parallelism.zero_stage", 0, why)
    else:
        remark(draft, "sharding", 0, f"{why}; a configuration of accelerate may say otherwise")
        draft.values["parallelism.zero_stage"] = 0


def _stage_by_name(draft: RunDraft, name: str) -> None:
    stage = stage_in_name(name)
    if stage is None:
        draft.contradictions.append(
            f"line {draft.notes.get('deepspeed line', 0)}: the stage of ZeRO is in "
            f"{shorten(name)}; paste that file too"
        )
        return
    draft.derive(
        "parallelism.zero_stage", stage, f"by the name of {shorten(name)}, which is not in the text"
    )


def _precision(draft: RunDraft, defaults: TrainerDefaults) -> None:
    if defaults.precision:
        why = f"as {defaults.software} does unasked"
        draft.assume("training.precision", defaults.precision, why)
    elif "training.precision" not in draft.values:
        why = "neither bf16 nor fp16 is on, and training in 32 bits is not predicted"
        remark(draft, "training.precision", "bf16", why)
        draft.values["training.precision"] = "bf16"
    framework = draft.values["training.framework"]
    if "loaded in 16 bits" in draft.notes and framework == "fsdp":
        copies = draft.values["parallelism.zero_stage"] == 0 and "lora rank" not in draft.notes
        if copies:
            why = "weights and Adam's states in 16 bits take less than shown"
            remark(draft, "dtype", "16 bits", why, draft.notes["loaded in 16 bits"])


def _batch(draft: RunDraft, defaults: TrainerDefaults) -> None:
    notes, parts = draft.notes, 1
    for axis in ("tensor_parallel", "context_parallel", "pipeline_parallel"):
        parts *= draft.get(f"parallelism.{axis}")
    world = world_size(draft, parts)
    if world % parts:
        draft.contradictions.append(
            f"{world} GPUs do not divide by {parts}, the GPUs that share one sequence"
        )
        return
    ranks = world // parts
    if notes.get("shards in a node"):
        per_node = notes.get("per_node", 8)
        draft.derive("parallelism.shard_group", min(per_node, ranks), "a copy in every node")
    if not notes.get(MICRO):
        draft.assume("training.micro_batch_size", defaults.micro, f"({defaults.software})")
        notes[MICRO] = defaults.micro
    pairs = notes.get("sequences of a sample", 1)
    micro = notes[MICRO] * pairs
    steps = notes.get(STEPS) or _steps(draft, defaults, ranks)
    why = "sequences of a forward pass of a GPU" + (f", {pairs} for a sample" if pairs > 1 else "")
    draft.derive("training.micro_batch_size", micro, why)
    total = micro * ranks * steps
    draft.derive(
        "training.global_batch_size",
        total,
        f"{micro} x {steps} passes x {ranks} data-parallel ranks",
    )
    stated = notes.get("train_batch_size")
    if stated and stated != total // pairs:
        draft.contradictions.append(
            f"Check batch related parameters. train_batch_size is not equal to "
            f"micro_batch_per_gpu * gradient_acc_step * world_size {stated} != {notes[MICRO]} * "
            f"{steps} * {ranks}"
        )


def _steps(draft: RunDraft, defaults: TrainerDefaults, ranks: int) -> int:
    """Return the passes of a step where no key says them: of a whole batch, or the default."""
    total, micro = draft.notes.get("train_batch_size"), draft.notes[MICRO]
    if total and total % (micro * ranks) == 0:
        return int(total // (micro * ranks))
    return defaults.steps


def fitting_ranks(ranks: int, batches: int) -> int:
    """Return the most ranks, at most so many, that share so many micro-batches evenly."""
    return (
        next((count for count in range(ranks, 1, -1) if batches % count == 0), 1)
        if batches
        else ranks
    )


def world_size(draft: RunDraft, parts: int, batches: int = 0) -> int:
    """Return the GPUs: as launched, as listed, or one node at most, which is said.

    Args:
        draft: the run so far.
        parts: GPUs that share a copy of the model.
        batches: micro-batches of a step, which ranks that no text counts share; 0: of no matter.
    """
    notes = draft.notes
    if "parallelism.world_size" not in draft.values:
        if "per_node" in notes:
            world = notes["per_node"] * notes.get("nodes", 1)
            draft.derive("parallelism.world_size", world, "nodes x processes per node")
        elif "nodes" in notes and notes["nodes"] > 1:
            world = notes["nodes"] * 8
            draft.derive("parallelism.world_size", world, f"{notes['nodes']} nodes, taken with 8")
    if "parallelism.world_size" not in draft.values:
        least = fitting_ranks(-(-8 // parts), batches) * parts
        remark(
            draft, "world_size", least, f"no text says how many GPUs there are: {least} are shown"
        )
        draft.values["parallelism.world_size"] = least
    return int(draft.values["parallelism.world_size"])
