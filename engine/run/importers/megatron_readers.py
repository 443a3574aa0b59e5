"""Readers of Megatron-LM's arguments: in a script, in what a run prints."""

import re

from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft
from engine.run.importers.megatron import VERSION, import_megatron
from engine.run.importers.megatron_checks import (
    check_batch,
    check_experts,
    check_layers,
    check_world,
)
from engine.run.importers.megatron_derived import finish_megatron
from engine.run.importers.shell import printed_arguments, script_flags
from engine.run.importers.text_parts import without_comments
from engine.run.importers.trainer import fitting_ranks


def finish(draft: RunDraft) -> None:
    """Derive values from several arguments, then Megatron's world size and batch."""
    if "DeepSpeed JSON" in draft.dialects:  # Megatron-DeepSpeed, whose layers are Megatron's
        draft.values["training.framework"] = "megatron"
        _check_deepspeed(draft)
        stages = draft.get("parallelism.pipeline_parallel")
        if stages > 1 and draft.values.get("training.precision") == "bf16":
            # deepspeed/runtime/engine.py (edaa7221), _optimizer_wrapper.
            draft.values.setdefault("parallelism.zero_stage", 0)
            if draft.values["parallelism.zero_stage"] == 0:
                why = "a pipeline in bf16 has DeepSpeed's BF16_Optimizer, which shards its states"
                draft.derive("parallelism.zero_stage", 1, why)
    finish_megatron(draft)
    _derive_ranks(draft)
    if "program" in draft.notes and not draft.contradictions:
        reason = "of Megatron's programs, decoders of text alone are predicted"
        draft.contradictions.append(f"{draft.notes['program']}: {reason}")


def _check_deepspeed(draft: RunDraft) -> None:
    """Record a contradiction if DeepSpeed's file has another batch than the arguments."""
    pairs = {
        "train_micro_batch_size_per_gpu": "training.micro_batch_size",
        "train_batch_size": "training.global_batch_size",
    }
    for note, path in pairs.items():
        noted, other = draft.notes.get(note), draft.values.get(path)
        if noted and other and noted != other:
            draft.contradictions.append(f"{note} is {noted}, and the arguments say {other}")


def _derive_ranks(draft: RunDraft) -> None:
    notes, get = draft.notes, draft.get
    parts = get("parallelism.tensor_parallel") * get("parallelism.pipeline_parallel")
    parts *= get("parallelism.context_parallel")
    if "per_node" in notes and "parallelism.world_size" not in draft.values:
        world = notes["per_node"] * notes.get("nodes", 1)
        draft.derive("parallelism.world_size", world, "nodes × processes per node")
    if notes.get("recipe_gpus") and "parallelism.world_size" not in draft.values:
        draft.derive("parallelism.world_size", notes["recipe_gpus"], "the recipe's name")
    experts = get("parallelism.expert_parallel") * get("parallelism.expert_tensor_parallel")
    stage = max(parts // get("parallelism.pipeline_parallel"), experts)
    least = get("parallelism.pipeline_parallel") * stage
    share = max(1, least // parts)
    passes = get("training.global_batch_size", 0) // max(1, get("training.micro_batch_size", 1))
    world = fitting_ranks(-(-8 // least), passes // share) * least
    draft.assume("parallelism.world_size", world, "no launcher says how many GPUs")
    world = draft.values["parallelism.world_size"]
    fault = check_world(draft, world)
    if fault:
        draft.contradictions.append(fault)
        return
    draft.assume("training.micro_batch_size", 1, f"--micro-batch-size is missing ({VERSION})")
    ranks, micro = world // parts, get("training.micro_batch_size")
    draft.assume("training.global_batch_size", micro * ranks, f"micro-batch x ranks ({VERSION})")
    faults = (check_layers(draft), check_experts(draft, world), check_batch(draft, ranks))
    draft.contradictions += [fault for fault in faults if fault]


_OTHERS = re.compile(r"\bpretrain_(?:t5|bert|ict|vision\w*|retro|mamba|hybrid|vlm)\w*\.py\b")
_TASKS = re.compile(r"\btasks/[\w/]*\.py\b")


def _read_arguments(piece: Piece, draft: RunDraft) -> None:
    settings = script_flags(piece.text, piece.line)
    programs = {
        setting.program: setting.line for setting in settings if setting.program.endswith(".py")
    }
    where = " ".join(programs) or without_comments(piece.text)
    text = without_comments(piece.text)
    if other := _OTHERS.search(where) or _TASKS.search(text):
        line = programs.get(other[0], piece.line + piece.text.count("\n", 0, text.find(other[0])))
        draft.notes["program"] = f"line {line}: {other[0]}"
    import_megatron(settings, draft)


def _read_log(piece: Piece, draft: RunDraft) -> None:
    import_megatron(printed_arguments(piece.text, piece.line), draft)


# Arguments that Megatron-LM has and other trainers do not, as far as is known here.


ARGUMENTS_READER = Reader(read=_read_arguments, finish=finish)
LOG_READER = Reader(read=_read_log, finish=finish)
