"""Importer of LLM Foundry's YAML.

Read at commit 8c8dd48f (0.22, `llmfoundry/`). A step has global_train_batch_size sequences, a
forward pass device_train_microbatch_size, or as many as fit ("auto"). MPT's defaults: 24 layers of
2048, 16 heads, inner width 4 times as wide, 50,368 rows of vocabulary, learned positions, biases,
shared embeddings (models/mpt/configuration_mpt.py:30). Without fsdp_config every GPU keeps all.

What it cannot say: how many GPUs there are.
"""

import re
from dataclasses import replace

from engine.run.importers.adapters import read_targets, settle_targets
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, Setting, is_true, positive_number, shorten
from engine.run.importers.key_table import (
    Handler,
    KeyTable,
    note_number,
    read_key,
    refuse_value,
    remark,
)
from engine.run.importers.repositories import derive_named_model, note_model
from engine.run.importers.trainer import fsdp_config_handlers, read_attention, world_size
from engine.run.importers.training_arguments import read_length
from engine.run.importers.yaml_text import read_yaml

_REFERENCE = re.compile(r"\$\{([\w.]{1,200})\}")
_DEEPEST = 5
_WRAPPER = "parameters."  # of MosaicML's platform, which hands over what is below it


def resolve_references(settings: list[Setting]) -> list[Setting]:
    """Return the settings, with a value that refers to another key replaced by that key's value."""
    values = {setting.key: setting.value for setting in settings}
    return [
        replace(setting, value=_resolved(setting.value, setting.key, values))
        for setting in settings
    ]


def _resolved(value: object, key: str, values: dict[str, object]) -> object:
    for _ in range(_DEEPEST):
        match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        path = match[1]
        if path.startswith("."):  # relative: beside the key, a further point is a level up
            levels = len(path) - len(path.lstrip("."))
            parents = key.split(".")[:-levels]
            path = ".".join([*parents, path.lstrip(".")])
        if f"{_WRAPPER}{path}" in values:
            path = f"{_WRAPPER}{path}"
        if path not in values:
            return value
        value, key = values[path], path
    return value


SOFTWARE = "LLM Foundry 0.22"


def _micro(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).lower() == "auto":
        draft.report_not_modeled(setting, "as many sequences as fit are taken; 1 is shown")
    else:
        note_number("micro")(setting, draft)


def _precision(setting: Setting, draft: RunDraft) -> None:
    kinds = {"amp_bf16": "bf16", "amp_fp16": "fp16", "amp_fp8": "fp8", "bf16": "bf16"}
    kind = kinds.get(str(setting.value).lower())
    if kind:
        draft.set_value(setting, "training.precision", kind)
    else:
        draft.report_not_modeled(setting, "training in 32 bits is not predicted; 16 are shown")


def _kind(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    draft.notes["model kind"] = word
    if word in ("mpt_causal_lm", "hf_causal_lm", "fc_causal_lm"):
        draft.report(setting, "understood", "worked into what is derived below")
    else:
        refuse_value(setting, "mpt_causal_lm and hf_causal_lm are read", draft)


def _pure(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).upper()
    if word in ("PURE", "DEFAULT"):
        kind = "bf16" if word == "PURE" else "fp32"
        draft.set_value(setting, "training.gradient_precision", kind)
    else:
        draft.report_not_modeled(setting, "another mixed precision of FSDP")


def _feed_forward(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("mptmlp", "te_ln_mlp"):
        draft.set_value(setting, "model.mlp", "gelu")
    elif word == "mptglu":
        draft.set_value(setting, "model.mlp", "swiglu")
    else:
        refuse_value(setting, "mptmlp and mptglu are read", draft)


def _flag(note: str) -> Handler:
    def read(setting: Setting, draft: RunDraft) -> None:
        draft.notes[note] = is_true(setting.value)
        draft.report(setting, "understood", "worked into what is derived below")

    return read


def _attention(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word == "torch":
        draft.set_value(setting, "training.flash_attention", False)
    else:
        read_attention(setting, draft)


def _grouped(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word == "multiquery_attention":
        draft.set_value(setting, "model.num_key_value_heads", 1)
    elif word in ("multihead_attention", "grouped_query_attention"):
        draft.report(setting, "understood", "worked into what is derived below")
    else:
        refuse_value(setting, "known are multihead, multiquery and grouped attention", draft)


def _rank(setting: Setting, draft: RunDraft) -> None:
    number = positive_number(setting.value)
    if number is None:
        refuse_value(setting, "a whole number is needed", draft)
    else:
        draft.set_value(setting, "training.lora_rank", number)


_OVERRIDDEN = "the shape of the named model is changed; the model as named is shown"
_SHAPES = (
    "num_hidden_layers", "n_layers", "n_layer", "hidden_size", "d_model", "n_embd", "n_positions",
    "num_attention_heads", "n_heads", "n_head", "intermediate_size", "vocab_size",
    "num_key_value_heads", "tie_word_embeddings", "num_local_experts",
)  # fmt: skip
TABLE = KeyTable(
    counts={
        "model.n_layers": "model.num_layers",
        "model.d_model": "model.hidden_size",
        "model.n_heads": "model.num_attention_heads",
        "model.vocab_size": "model.vocab_size",
        "model.head_dim": "model.head_size",
        "model.attn_config.kv_n_heads": "model.num_key_value_heads",
        "model.ffn_config.ffn_hidden_size": "model.ffn_hidden_size",
    },
    handlers={
        "max_seq_len": read_length,
        "global_train_batch_size": note_number("whole batch"),
        "device_train_microbatch_size": _micro,
        "device_train_grad_accum": _micro,
        "precision": _precision,
        **dict.fromkeys(("compute.gpus", "gpu_num", "gpus"), note_number("gpus")),
        "model.name": _kind,
        "model.pretrained_model_name_or_path": note_model,
        "model.expansion_ratio": note_number("expansion"),
        "model.no_bias": _flag("no bias"),
        "model.learned_pos_emb": _flag("learned"),
        "model.tie_word_embeddings": _flag("tied"),
        "model.attn_config.alibi": _flag("alibi"),
        "model.attn_config.rope": _flag("rope"),
        "model.attn_config.attn_impl": _attention,
        "model.attn_config.attn_type": _grouped,
        "model.attn_impl": _attention,
        "model.use_flash_attention_2": _attention,
        "model.ffn_config.ffn_type": _feed_forward,
        "model.peft_config.r": _rank,
        "model.peft_config.target_modules": read_targets,
        "fsdp_config.mixed_precision": _pure,
        **fsdp_config_handlers(),
    },
    not_modeled={
        **{f"model.config_overrides.{key}": _OVERRIDDEN for key in _SHAPES},
        "fsdp_config.activation_cpu_offload": "kept activations lie in the host's memory",
        "model.attn_config.sliding_window_size": "attention in a window; all positions are shown",
        "model.block_overrides": "layers that differ from each other",
        "model.loss_fn": "the kernel of the loss",
        "compile_config": "compiled kernels",
        "model.pretrained_lora_id_or_path": "adapters of another file",
        "train_loader.dataset.packing_ratio": "sequences are taken to be full",
        "tp_config": "tensor parallelism that is not read here",
    },
    without_effect={
        "data are taken to come in time": ("train_loader", "eval_loader", "tokenizer", "data_*",
                                           "dataset_*"),
        "saving, logging and evaluation lie between steps": (
            "eval_*", "icl_*", "save_*", "load_*", "loggers", "callbacks", "progress_bar",
            "log_to_console", "console_log_interval", "run_name", "autoresume", "dist_timeout",
            "python_log_level", "profiler", "device_eval_batch_size", "only_hf_checkpoint",
            "expandable_segments", "metadata", "variables", "global_seed", "seed",
            "device_eval_microbatch_size", "only_composer_checkpoint",
        ),
        "where MosaicML's platform runs it": (
            "name", "image", "command", "integrations", "cluster", "compute", "gpu_type",
            "scheduling", "env_variables", "git_*",
        ),
        "how long and by which numbers it trains": (
            "max_duration", "scheduler", "optimizer.lr", "optimizer.betas", "optimizer.eps",
            "optimizer.weight_decay", "optimizer.name", "algorithms", "reset_time",
        ),
        "how the weights begin and are loaded": (
            "model.init_device", "model.pretrained", "model.init_config", "model.use_auth_token",
            "model.max_seq_len", "model.config_overrides.max_seq_len",
            "model.config_overrides.attn_config", "model.config_overrides.max_position_embeddings",
            "model.config_overrides.rope_*", "model.emb_pdrop", "model.resid_pdrop",
            "model.norm_type", "model.use_logits", "model.attn_config.attn_uses_sequence_id",
            "model.attn_config.clip_qkv", "model.attn_config.qk_ln", "model.attn_config.rope_*",
            "model.attn_config.alibi_bias_max", "model.embedding_fraction", "model.logit_scale",
            "model.fc_type", "model.attn_config.softmax_scale", "model.peft_config.lora_*",
            "model.peft_config.task_type", "model.peft_config.peft_type",
            "model.peft_config.bias", "model.peft_config.inference_mode",
            "model.attn_config.fused_qkv", "model.attn_config.attn_pdrop", "load_strict_*",
            "model.attn_config.prefix_lm", "model.use_cache",
        ),
        "both ways of gradient checkpointing keep the same": (
            "fsdp_config.activation_checkpointing_reentrant",
        ),
        "how FSDP loads and names": (
            "fsdp_config.verbose", "fsdp_config.load_*", "fsdp_config.sharded_*",
            "fsdp_config.load_monolith_rank0_only", "fsdp_config.flatten_parameters",
        ),
    },
)  # fmt: skip


def import_llm_foundry(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of LLM Foundry into a draft."""
    draft.values["training.framework"] = "fsdp"
    for setting in resolve_references(settings):
        if setting.key.startswith("parameters."):  # of MosaicML's platform
            inner = setting.key.removeprefix("parameters.")
            read_key(Setting(key=inner, value=setting.value, line=setting.line), TABLE, draft)
        else:
            read_key(setting, TABLE, draft)


def finish_llm_foundry(draft: RunDraft) -> None:
    """Derive the model, the sharding and the batch."""
    notes = draft.notes
    if notes.get("model kind") == "mpt_causal_lm":
        _mpt(draft)
    derive_named_model(draft)
    settle_targets(draft, "PEFT", SOFTWARE)
    stage = 3 if "fsdp" in notes else 0
    draft.assume("parallelism.zero_stage", stage, f"fsdp_config ({SOFTWARE})")
    draft.assume("training.recompute", "none", f"activation_checkpointing ({SOFTWARE})")
    draft.assume("training.precision", "bf16", f"precision ({SOFTWARE})")
    draft.assume("training.compiled", False, f"no compile_config ({SOFTWARE})")
    draft.assume("parallelism.sequence_parallel", False, "FSDP has none")
    if "sequence_length" not in draft.values:
        draft.contradictions.append("LLM Foundry needs max_seq_len, and the text does not say it")
    if "whole batch" not in notes:
        draft.contradictions.append("LLM Foundry needs global_train_batch_size")
        return
    if notes.get("gpus"):
        draft.derive("parallelism.world_size", notes["gpus"], "compute.gpus")
    micro, total = notes.get("micro", 1), notes["whole batch"]
    world = world_size(draft, 1, total)
    if total % world:
        draft.contradictions.append(
            f"global_train_batch_size {total} is no multiple of {world} GPUs"
        )
        return
    each = total // world
    if each % micro:
        remark(
            draft, "device_train_microbatch_size", micro, f"a rank has {each}; not all are alike"
        )
        micro = next(size for size in range(min(micro, each), 0, -1) if each % size == 0)
    draft.derive("training.micro_batch_size", micro, "device_train_microbatch_size")
    draft.derive("training.global_batch_size", total, "global_train_batch_size")


def _mpt(draft: RunDraft) -> None:
    notes = draft.notes
    for key, value in (("num_layers", 24), ("hidden_size", 2048), ("num_attention_heads", 16),
                       ("vocab_size", 50368), ("mlp", "gelu")):  # fmt: skip
        draft.assume(f"model.{key}", value, f"MPT's default ({SOFTWARE})")
    width = notes.get("expansion", 4) * int(draft.values["model.hidden_size"])
    draft.assume("model.ffn_hidden_size", width, "expansion_ratio x d_model")
    draft.derive("model.tied_embeddings", notes.get("tied", True), "tie_word_embeddings")
    draft.derive("model.biases", not notes.get("no bias", False), "no_bias")
    learned = notes.get("learned", True) and not (notes.get("alibi") or notes.get("rope"))
    if learned:
        rows = draft.get("sequence_length", 2048)
        draft.derive("model.learned_positions", rows, f"learned_pos_emb ({shorten(rows)} rows)")


def _read(piece: Piece, draft: RunDraft) -> None:
    import_llm_foundry(read_yaml(piece.text, piece.line), draft)


READER = Reader(read=_read, finish=finish_llm_foundry)
