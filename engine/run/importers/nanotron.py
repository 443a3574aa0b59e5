"""Importer of nanotron's YAML.

Read at commit 2411b022 (0.5, `src/nanotron/config/`). Required there: dp, tp, pp, micro_batch_size,
batch_accumulation_per_replica, sequence_length, zero_stage. Defaults: tp_mode ALL_REDUCE, which is
no sequence parallelism, recompute_layer False, expert and context parallelism 1
(parallelism_config.py). `model_config` has the keys of a config.json.
"""

from typing import Any

from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.hugging_face_keys import import_hugging_face
from engine.run.importers.import_report import RunDraft, Setting
from engine.run.importers.key_table import (
    KeyTable,
    is_absent,
    note_number,
    read_key,
    refuse_value,
    switch,
)
from engine.run.importers.yaml_text import read_yaml

SOFTWARE = "nanotron 0.5"
_MODEL = "model.model_config."


def _type(setting: Setting, draft: RunDraft) -> None:
    kind = {"bfloat16": "bf16", "float16": "fp16"}.get(str(setting.value).lower())
    if kind:
        draft.set_value(setting, "training.precision", kind)
    else:
        draft.report_not_modeled(setting, "training in 32 bits is not predicted; 16 are shown")


def _mode(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).upper()
    if word in ("ALL_REDUCE", "REDUCE_SCATTER"):
        draft.set_value(setting, "parallelism.sequence_parallel", word == "REDUCE_SCATTER")
    elif is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    else:
        refuse_value(setting, "known are ALL_REDUCE and REDUCE_SCATTER", draft)


def _engine(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word == "1f1b":
        draft.set_value(setting, "training.schedule", "1f1b")
    elif word == "afab" or is_absent(setting.value):
        draft.set_value(setting, "training.schedule", "gpipe")
    else:
        refuse_value(setting, "known are 1f1b and afab", draft)


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("adamw", "adam", "sgd"):
        draft.set_value(setting, "training.optimizer", "sgd" if word == "sgd" else "adam")
    else:
        refuse_value(setting, "known are adamW and sgd", draft)


def _experts(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "no experts")
    elif draft.notes.get("experts"):
        draft.report(setting, "not known", "nanotron's experts are not read here")
    else:
        draft.notes["experts"] = True
        refuse_value(setting, "nanotron's experts are not read here", draft)


TABLE = KeyTable(
    counts={"optimizer.zero_stage": "parallelism.zero_stage"},
    handlers={
        "parallelism.dp": note_number("dp"),
        "parallelism.tp": note_number("tp"),
        "parallelism.pp": note_number("pp"),
        "parallelism.context_parallel_size": note_number("cp"),
        "parallelism.expert_parallel_size": note_number("ep"),
        "parallelism.tp_mode": _mode,
        "parallelism.pp_engine": _engine,
        "parallelism.recompute_layer": switch("training.recompute", "full", "none"),
        "tokens.micro_batch_size": note_number("micro"),
        "tokens.batch_accumulation_per_replica": note_number("steps"),
        "tokens.sequence_length": note_number("length"),
        "model.dtype": _type,
        "optimizer.accumulate_grad_in_fp32": switch("training.gradient_precision", "fp32"),
        "optimizer.optimizer_factory.name": _optimizer,
        "model.model_config.moe_config": _experts,
    },
    not_modeled={
        "parallelism.tp_linear_async_communication": "collectives beside the products they feed",
        "model.make_vocab_size_divisible_by": "the vocabulary may be padded further",
        "bench": "a benchmark's own sizes",
    },
    without_effect={
        "gathers of tensor parallelism are repeated": ("parallelism.tp_recompute_allgather",),
        "saving, logging and evaluation lie between steps": (
            "checkpoints", "logging", "lighteval", "profiler", "s3_upload", "metrics_logging",
            "general", "tokens.val_check_interval", "tokens.limit_*",
        ),
        "data are taken to come in time": ("data_stages", "data", "tokenizer"),
        "how many steps there are": ("tokens.train_steps",),
        "how the weights begin": ("model.init_method",),
        "buckets of gradients": ("model.ddp_bucket_cap_mb",),
        "a number of the optimizer": (
            "optimizer.learning_rate_scheduler", "optimizer.clip_grad", "optimizer.weight_decay*",
            "optimizer.optimizer_factory.adam_*", "optimizer.adam_*",
            "optimizer.torch_adam_is_fused", "optimizer.optimizer_factory.torch_adam_is_fused",
        ),
        "a choice of nanotron's kernels": (
            f"{_MODEL}_*", f"{_MODEL}is_*", f"{_MODEL}flex_attention_mask",
            f"{_MODEL}no_rope_layer", f"{_MODEL}rope_interleaved", f"{_MODEL}z_loss_*",
            f"{_MODEL}pretraining_tp",
        ),
    },
)  # fmt: skip


def _is_kernel(key: str) -> bool:
    prefixes = ("_", "is_", "flex_", "no_rope", "z_loss", "pretraining_tp")
    return key.removeprefix(_MODEL).startswith(prefixes)


def import_nanotron(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of nanotron into a draft; those of the model are a config.json's."""
    draft.values["training.framework"] = "megatron"
    model: list[Setting] = []
    for setting in settings:
        key = setting.key
        if key.startswith(f"{_MODEL}moe_config."):
            _experts(setting, draft)
        elif key in TABLE.handlers or not key.startswith(_MODEL) or _is_kernel(key):
            read_key(setting, TABLE, draft)
        else:
            inner = key.removeprefix(_MODEL)
            model.append(Setting(key=inner, value=setting.value, line=setting.line))
    if model:
        tree: dict[str, Any] = {"model_type": "llama"}
        tree |= {
            model_setting.key: model_setting.value
            for model_setting in model
            if "." not in model_setting.key
        }
        import_hugging_face(tree, model, draft)


def finish_nanotron(draft: RunDraft) -> None:
    """Derive degrees, GPUs and batch."""
    notes = draft.notes
    for name in ("dp", "tp", "pp", "micro", "steps", "length"):
        if name not in notes:
            draft.contradictions.append(f"nanotron needs {name}, and the text does not say it")
            return
    if notes.get("ep", 1) > 1:
        message = "parallelism.expert_parallel_size is {}: nanotron's experts are not read here"
        draft.contradictions.append(message.format(notes["ep"]))
        return
    degrees = {"tp": "tensor", "pp": "pipeline", "cp": "context"}
    for name, axis in degrees.items():
        if notes.get(name, 1) > 1:
            draft.derive(f"parallelism.{axis}_parallel", notes[name], f"parallelism.{name}")
    size = notes["dp"] * notes["tp"] * notes["pp"] * notes.get("cp", 1)
    draft.derive("parallelism.world_size", size, "dp x tp x pp x context parallelism")
    draft.derive("sequence_length", notes["length"], "tokens.sequence_length")
    draft.derive("training.micro_batch_size", notes["micro"], "tokens.micro_batch_size")
    batch = notes["micro"] * notes["steps"] * notes["dp"]
    draft.derive("training.global_batch_size", batch, "micro-batch x accumulation x dp")
    draft.assume("parallelism.sequence_parallel", False, f"tp_mode ALL_REDUCE ({SOFTWARE})")
    draft.assume("training.recompute", "none", f"recompute_layer ({SOFTWARE})")


def _read(piece: Piece, draft: RunDraft) -> None:
    import_nanotron(read_yaml(piece.text, piece.line), draft)


READER = Reader(read=_read, finish=finish_nanotron)
