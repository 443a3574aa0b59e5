"""Importer of torchtitan configurations in three dialects.

TOML up to 0.2.2, Python of 0.3.0, and Python of the main branch since August 2026, whose batch
fields have other names (`num_tokens_per_microbatch_per_dp_rank` and so on).
"""

from collections.abc import Mapping
from dataclasses import replace

from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    is_true,
    shorten,
    whole_number,
)
from engine.run.importers.key_table import read_key, reason_without_effect
from engine.run.importers.launch import take_launch
from engine.run.importers.repositories import note_model
from engine.run.importers.torchtitan_keys import TITAN_KEYS
from engine.run.importers.unknown_keys import settle_conditions

COUNTS: Mapping[str, str] = {
    "parallelism.tensor_parallel_degree": "parallelism.tensor_parallel",
    "parallelism.pipeline_parallel_degree": "parallelism.pipeline_parallel",
    "parallelism.context_parallel_degree": "parallelism.context_parallel",
    "parallelism.expert_parallel_degree": "parallelism.expert_parallel",
    "parallelism.expert_tensor_parallel_degree": "parallelism.expert_tensor_parallel",
    "training.seq_len": "sequence_length",
    "training.max_context_length": "sequence_length",
}
NOTED = (
    "parallelism.data_parallel_replicate_degree",
    "parallelism.data_parallel_shard_degree",
    "parallelism.pipeline_parallel_schedule",
    "parallelism.pipeline_parallel_microbatch_size",
    "parallelism.num_pp_microbatches",
    "parallelism.pipeline_parallel_layers_per_stage",
    "parallelism.fsdp_reshard_after_forward",
    "training.gradient_accumulation_steps",  # flame
    "training.local_batch_size",
    "training.batch_size",
    "training.global_batch_size",
    "training.num_tokens_per_microbatch_per_dp_rank",
    "training.num_tokens_per_train_step",
    "model.name",
    "model.flavor",
)


def import_torchtitan(settings: list[Setting], draft: RunDraft) -> None:
    """Import torchtitan settings into a draft."""
    draft.values["training.framework"] = "fsdp"
    for setting in settle_conditions(take_launch(settings, draft), draft, _matters):
        name = setting.key.removeprefix("--").replace("-", "_")
        name = _current_name(name.removeprefix("config.").removeprefix("cfg."))
        if name in COUNTS:
            _count(setting, COUNTS[name], draft)
        elif name in NOTED:
            draft.notes[name] = setting.value
            draft.report(setting, "understood", "worked into what is derived below")
        elif handler := next((_HANDLERS[key] for key in _HANDLERS if name.startswith(key)), None):
            handler(setting, name, draft)
        elif name == "def":
            draft.notes["recipe"] = str(setting.value)
            draft.report(setting, "understood", "the model, if its name is that of one")
        elif "offload" in name and is_true(setting.value):
            draft.report_not_modeled(setting, OFFLOADED)
        else:
            _read_rest(setting, name, draft)


def _read_rest(setting: Setting, name: str, draft: RunDraft) -> None:
    """Report a setting that no run file has a key for, with its key as the text has it."""
    read_key(Setting(key=name, value=setting.value, line=setting.line), TITAN_KEYS, draft)
    draft.entries[-1] = replace(draft.entries[-1], key=shorten(setting.key))


def _matters(setting: Setting) -> bool:
    return not reason_without_effect(setting.key.removeprefix("--"), TITAN_KEYS)


def _current_name(name: str) -> str:
    """Return the current name of a degree, which had other sections before 0.1."""
    if name == "training.data_parallel_degree":
        return "parallelism.data_parallel_shard_degree"
    section, _, key = name.partition(".")
    moved = f"parallelism.{key}"
    known = moved in COUNTS or moved in NOTED or moved in _HANDLERS
    return moved if section in ("training", "experimental") and known else name


def _count(setting: Setting, path: str, draft: RunDraft) -> None:
    number = whole_number(setting.value)
    if number is None or number < 1:
        draft.report(setting, "not known", f"{shorten(setting.value)} is no degree")
    else:
        draft.set_value(setting, path, number)


def _checkpoint(setting: Setting, name: str, draft: RunDraft) -> None:
    """Read `mode`, or the class of 0.3.0: FullAC, SelectiveAC, NoAC."""
    word = str(setting.value).lower()
    if name.endswith("option") and draft.values.get("training.recompute") in ("full", "none"):
        draft.report(setting, "without effect", "of selective recomputation alone")
    elif name.endswith("option") and word != "op":
        draft.report_not_modeled(setting, "by layer: taken as by operation")
    elif "full" in word:
        draft.set_value(setting, "training.recompute", "full")
    elif "selective" in word or word == "op":
        draft.set_value(setting, "training.recompute", "selective")
    elif word in ("none", "noac", "noac.config"):
        draft.set_value(setting, "training.recompute", "none")
    else:
        _read_rest(setting, name, draft)


def _compiled(setting: Setting, name: str, draft: RunDraft) -> None:
    if name.endswith(("compile", "enable")):
        draft.set_value(setting, "training.compiled", is_true(setting.value))
    elif name == "compile.components" and isinstance(setting.value, list):
        draft.notes["compiled parts"] = [str(part) for part in setting.value]
        draft.report(setting, "understood", "a model that is not among them is not compiled")
    elif name == "compile.enable_async_tensor_parallel":
        _async(setting, name, draft)
    else:
        _read_rest(setting, name, draft)


def _converters(setting: Setting, name: str, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    # What the section of a converter says counts where the converter is named.
    detail = name.startswith("float8.") and name != "float8.enable_float8_linear"
    if detail:
        _read_rest(setting, name, draft)
    elif "nvfp4" in word:
        draft.set_value(setting, "training.precision", "fp4")
    elif "float8" in word or "mx" in word or ("float8" in name and is_true(setting.value)):
        draft.set_value(setting, "training.precision", "fp8")
    else:
        _read_rest(setting, name, draft)


def _sequence(setting: Setting, name: str, draft: RunDraft) -> None:
    off = name.startswith("parallelism.disable")
    draft.set_value(setting, "parallelism.sequence_parallel", is_true(setting.value) != off)


def _async(setting: Setting, name: str, draft: RunDraft) -> None:
    draft.set_value(setting, "training.overlap_tensor_parallel", is_true(setting.value))


def _optimizer(setting: Setting, name: str, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    draft.set_value(setting, "training.optimizer", "muon" if "muon" in word else "adam")


def _flavor(setting: Setting, name: str, draft: RunDraft) -> None:
    draft.notes["model.flavor"] = setting.value
    draft.report(setting, "understood", "the size of the model")


def _file(setting: Setting, name: str, draft: RunDraft) -> None:
    """Read the name of a file that holds further settings, or the model (flame)."""
    wanted = "Hugging Face config.json" if name == "model.config" else "torchtitan TOML"
    if wanted in draft.notes["kinds of text"]:
        draft.report(setting, "understood", "the file that is read beside")
    elif name == "model.config":
        note_model(setting, draft)
    else:
        draft.report_not_modeled(setting, "a file of further settings, which is not in the text")


def _graphs(setting: Setting, name: str, draft: RunDraft) -> None:
    draft.set_value(setting, "training.cuda_graphs", not is_true(setting.value))


def _mixed(setting: Setting, name: str, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("bfloat16", "bf16", "float16", "fp16"):
        draft.set_value(setting, "training.precision", "bf16" if "b" in word else "fp16")
    else:
        reason = "training in single precision is not predicted here: bf16 is taken"
        draft.report_not_modeled(setting, reason)


def _reduced(setting: Setting, name: str, draft: RunDraft) -> None:
    if str(setting.value).lower() == "float32":
        draft.report(setting, "understood", "gradients are summed in 32 bits, as is shown")
    else:
        draft.report_not_modeled(setting, TITAN_KEYS.not_modeled[name])


def _weights(setting: Setting, name: str, draft: RunDraft) -> None:
    if str(setting.value).lower() == "float32":
        draft.report(setting, "understood", "weights are kept in 32 bits, as is shown")
    else:
        draft.report_not_modeled(setting, TITAN_KEYS.not_modeled[name])


_HANDLERS = {
    "training.mixed_precision_param": _mixed,
    "training.mixed_precision_reduce": _reduced,
    "training.dtype": _weights,
    "job.config_file": _file,
    "CONFIG_FILE": _file,
    "model.config": _file,
    "model_spec.converters": _converters,
    "model_spec": _flavor,
    "activation_checkpoint": _checkpoint,
    "compile": _compiled,
    "training.compile": _compiled,
    "training.disable_cuda_graphs": _graphs,
    "model.converters": _converters,
    "model_converters": _converters,
    "quantize": _converters,
    "float8": _converters,
    "parallelism.enable_sequence_parallel": _sequence,
    "parallelism.disable_sequence_parallel": _sequence,
    "parallelism.enable_async_tensor_parallel": _async,
    "optimizer.name": _optimizer,
}
