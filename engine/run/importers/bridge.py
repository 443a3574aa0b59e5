"""Importer of Megatron-Bridge recipes with overrides: `model.tensor_model_parallel_size=4`."""

import re

from engine.catalog.recent_models import EVERY_MODEL
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, Setting, is_true, shorten
from engine.run.importers.key_table import (
    KeyTable,
    plain_name,
    read_key,
    reason_without_effect,
    remark,
)
from engine.run.importers.launch import take_launch
from engine.run.importers.megatron import import_megatron
from engine.run.importers.megatron_readers import finish
from engine.run.importers.python_keys import read_python, require_single_configuration
from engine.run.importers.shell import resolve_variables, script_flags

_OVERRIDE = re.compile(
    r"(?:^|\s)\+{0,2}((?:model|train|dataset|ddp|optimizer|mixed_precision|comm_overlap|cfg|"
    r"checkpoint|logger|scheduler|rng|dist|tokenizer|profiling|nsys)(?:\.[a-z_0-9]{1,60})*)"
    r"\s?=\s?(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\[[^\]\n]{0,300}\]|[^\s\\]{1,300})"
)
_RECIPE = re.compile(
    r"(?:--recipe[ =]|recipe\s?=\s?[\"']?|\b)([a-z0-9_.]{3,60})_(?:pretrain|sft|finetune)_"
    r"(?:\d+gpu_)?[a-z0-9_]{0,60}config"
)


_LONGEST = 40_000  # characters of a line


def read_overrides(text: str, first_line: int = 1) -> list[Setting]:
    """Return `KEY=VALUE` overrides and the recipe's name, with their lines."""
    settings: list[Setting] = []
    for number, line in enumerate(text.splitlines(), first_line):
        code = re.sub(r"(^|\s)#.*$", " ", line[:_LONGEST])
        settings += [
            Setting(key="recipe", value=match[1], line=number)
            for match in _RECIPE.finditer(code)
            if match[1] not in [setting.value for setting in settings if setting.key == "recipe"]
        ]
        settings += [
            Setting(key=match[1], value=_parse_list(match[2]), line=number)
            for match in _OVERRIDE.finditer(code)
        ]
    return settings


def _parse_list(text: str) -> object:
    word = text.strip("\"'")
    if word.startswith("[") and word.endswith("]"):
        return [part.strip(" \"'") for part in word[1:-1].split(",") if part.strip()]
    return word


def import_bridge(settings: list[Setting], draft: RunDraft) -> None:
    """Import recipe overrides into a draft."""
    for setting in settings:
        name = setting.key.removeprefix("cfg.").removeprefix("config.")
        if name == "recipe" or name == "def":
            draft.notes.setdefault("Bridge's recipe", setting)
            _import_recipe(setting, draft)
        elif name in ("mixed_precision", "mixed_precision.precision"):
            word = str(setting.value).lower()
            kind = next((k for k in ("fp4", "fp8", "mxfp8", "fp16") if k in word), "bf16")
            draft.set_value(setting, "training.precision", "fp8" if kind == "mxfp8" else kind)
            if kind in ("fp8", "fp4", "mxfp8") and "subchannel" not in word:
                draft.values["training.quantized_weights"] = True
            blocks = "mxfp8" in word or "subchannel" in word
            draft.notes["fp8-recipe"] = "blockwise" if blocks else "tensorwise"
        else:
            section, _, key = name.rpartition(".")
            plain = Setting(key=key or name, value=_switch_value(setting.value), line=setting.line)
            import_megatron([plain], draft)
            entry = draft.entries.pop()
            draft.report(setting, entry.kind, entry.meaning)
            del section


def _switch_value(value: object) -> object:
    """Return `True` for a switch set to true: Megatron's switches take no value."""
    return True if str(value).lower() == "true" else value


def _import_recipe(setting: Setting, draft: RunDraft) -> None:
    """Import the model from the name of a recipe, llama3_70b_pretrain_config."""
    gpus = re.search(r"_(\d{1,7})gpus?(_|$)", str(setting.value))
    if gpus:
        draft.notes["recipe_gpus"] = int(gpus[1])
    key = find_model(str(setting.value))
    if key:
        draft.set_value(setting, "model", key)
    else:
        draft.report_not_modeled(setting, "no model of the catalog is named so")


def find_model(text: str) -> str | None:
    """Return the catalog key that a recipe's name starts with, or None."""
    word = _normalize(text)
    rows = [key for key in EVERY_MODEL if word.startswith(_normalize(key))]
    return max(rows, key=len) if rows else None


def _normalize(text: str) -> str:
    word = re.sub(r"[^a-z0-9]", "", text.lower().replace("llama31", "llama3"))
    return word.replace("llama31", "llama3")


# Flags of scripts/performance/setup_experiment.py and run_script.py (argument_parser.py).
_SHORT = {
    "m": "model_family_name", "mr": "model_recipe_name", "ng": "num_gpus", "g": "gpu",
    "gn": "gpus_per_node", "c": "compute_dtype", "gb": "global_batch_size",
    "mb": "micro_batch_size", "sl": "seq_length", "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size", "cp": "context_parallel_size",
    "vp": "virtual_pipeline_model_parallel_size", "ep": "expert_model_parallel_size",
    "et": "expert_tensor_parallel_size", "rl": "recompute_num_layers",
    "ol": "activation_offload_layers",
}  # fmt: skip
_SHARDING = "ddp.data_parallel_sharding_strategy"
_LAUNCHER = re.compile(r"(?:\b|_)(?:setup_experiment|run_script)\.py\b")
_QUIET = KeyTable(
    not_modeled={
        "activation_offload_layers": "activations lie in the host's memory",
        "use_tokendrop": "tokens beyond an expert's capacity are dropped; all are shown",
        "packed_sequence": "packed samples; full sequences are shown",
    },
    without_effect={
        "the family, which the recipe's name says": ("model_family_name", "domain", "task"),
        "how and where the job is started": (
            "account", "partition", "time_limit", "container_image", "custom_*", "env", "packager",
            "detach", "dryrun", "max_retries", "nemo_home", "hf_token", "offline", "kubeflow_*",
            "additional_slurm_params", "gres", "enable_pct_binding", "log_dir", "csp",
        ),
        "logs and profiles": ("wandb_*", "enable_nsys", "nsys_*", "profiling_*", "record_memory_*",
                              "pytorch_profiler", "export_nsys_sqlite", "cluster"),
        "data, saving and steps": (
            "data", "dataset_*", "index_mapping_dir", "head_only", "max_steps", "lr", "min_lr",
            "warmup_iters", "save_*", "load_dir", "pretrained_checkpoint", "most_recent_k",
            "distributed_timeout_minutes", "tokenizer_type", "tokenizer_model", "vocab_size",
        ),
    },
)  # fmt: skip


def _read_launcher(piece: Piece, draft: RunDraft) -> None:
    """Read the flags of Megatron-Bridge's launcher, whose `--num_gpus` counts all GPUs."""
    short = rf"(?<=\s)-({'|'.join(sorted(_SHORT, key=len, reverse=True))})(?=\s)"
    text = re.sub(short, lambda match: f"--{_SHORT[match[1]]}", piece.text)
    for setting in script_flags(text, piece.line):
        name = plain_name(setting.key)
        if name == "model_recipe_name":
            renamed = Setting(key="recipe", value=setting.value, line=setting.line)
        elif name == "compute_dtype":
            renamed = Setting(key="mixed_precision", value=setting.value, line=setting.line)
        elif name == "num_gpus":
            renamed = Setting(key="world_size", value=setting.value, line=setting.line)
        elif name in ("gpu", "gpus_per_node"):
            key = "--gpu_type" if name == "gpu" else "--gpus_per_node"
            take_launch([Setting(key=key, value=setting.value, line=setting.line)], draft)
            continue
        elif name in _QUIET.not_modeled or reason_without_effect(name, _QUIET):
            read_key(setting, _QUIET, draft)
            continue
        else:
            renamed = Setting(key=name, value=setting.value, line=setting.line)
        import_bridge([renamed], draft)
        if name == "use_megatron_fsdp" and is_true(setting.value):
            # So does scripts/performance/utils/overrides.py:100.
            shards = Setting(key=_SHARDING, value="optim_grads_params", line=setting.line)
            import_bridge([shards], draft)
    draft.notes["recipe_gpus"] = 0


def _finish(draft: RunDraft) -> None:
    """Derive the run by Megatron's rules; refuse degrees that only a recipe's code says."""
    recipe = draft.notes.get("Bridge's recipe")
    unsaid = [
        name
        for name, path in (
            ("tensor_model_parallel_size", "parallelism.tensor_parallel"),
            ("pipeline_model_parallel_size", "parallelism.pipeline_parallel"),
        )
        if path not in draft.values
    ]
    if recipe and unsaid:
        draft.contradictions.append(
            f"line {recipe.line}: the recipe {shorten(recipe.value)} sets {' and '.join(unsaid)}, "
            "and the text does not say them: paste the recipe's function, or write the overrides"
        )
    unread = [
        name
        for name, path in (
            ("context parallelism", "parallelism.context_parallel"),
            ("recomputation", "training.recompute"),
        )
        if path not in draft.values and "recompute-granularity" not in draft.notes
    ]
    if recipe and unread and "Bridge's code" not in draft.notes:
        reason = f"what it sets beside the text is not read: {', '.join(unread)}"
        remark(draft, "recipe", recipe.value, reason)
    finish(draft)


def _read(piece: Piece, draft: RunDraft) -> None:
    draft.values.setdefault("training.framework", "megatron")
    if _LAUNCHER.search(piece.text):
        _read_launcher(piece, draft)
        return
    settings = read_overrides(resolve_variables(piece.text), piece.line)
    if re.search(r"^[ \t]*(def |import |from |cfg\.)", piece.text, re.MULTILINE):
        require_single_configuration(piece.text, piece.line)
        draft.notes["Bridge's code"] = True
        named = [setting for setting in settings if setting.key == "recipe"]
        settings = named + read_python(piece.text, piece.line)
    import_bridge(settings, draft)
    take_launch(script_flags(piece.text, piece.line), draft)


READER = Reader(read=_read, finish=_finish)
