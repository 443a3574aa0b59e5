"""Importer of NeMo 2: recipes in Python or by `nemo llm pretrain --factory`, and what they change.

Read at NeMo 2.4 (commit 8cfedd72). A recipe's name stands for degrees, batch and nodes
(`engine/catalog/nemo_recipes.py`). Without a recipe: degrees 1, ddp "megatron" without overlap
(lightning/pytorch/strategies/megatron_strategy.py:233), 2,048 tokens, 4 and 8 sequences
(collections/llm/gpt/data/mock.py:58), a distributed optimizer only where OptimizerConfig says so.
MegatronMixedPrecision sums gradients in 32 bits (recipes/precision/mixed_precision.py:36).

What it cannot say: what a script computes; the vocabulary of a model that its sizes describe.
"""

import re

from engine.catalog.models import MODELS
from engine.catalog.nemo_recipes import FINETUNE, GPUS_PER_NODE, PRETRAIN, VERSION, Recipe
from engine.run.importers.adapters import read_targets, settle_targets
from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, Setting, shorten, whole_number
from engine.run.importers.key_table import (
    Handler,
    KeyTable,
    is_absent,
    is_off,
    note_number,
    note_text,
    read_key,
    reason_without_effect,
    refuse_value,
    remark,
)
from engine.run.importers.megatron_family import read_megatron_key
from engine.run.importers.megatron_readers import finish as finish_megatron_run
from engine.run.importers.nemo2_python import ARGUMENTS, read_command, read_nemo2_python
from engine.run.importers.unknown_keys import settle_conditions

_S, _D, _C = "trainer.strategy.", "trainer.strategy.ddp.", "model.config."


def _as(name: str) -> Handler:
    return lambda setting, draft: read_megatron_key(setting, name, draft)


def _recipe(setting: Setting, draft: RunDraft) -> None:
    name, _, kind = str(setting.value).partition(".")
    draft.notes["recipe name"], draft.notes["tuned"] = name, kind.startswith("finetune")
    row = PRETRAIN.get(name) or FINETUNE.get((name, False))
    if row is None:
        refuse_value(setting, f"no recipe that is known here ({VERSION})", draft)
    else:
        draft.set_value(setting, "model", row.model)


def _class(setting: Setting, draft: RunDraft) -> None:
    """Read the class of a model: Llama3Config8B."""
    name = str(setting.value)
    if name in ("GPTConfig", "LlamaConfig"):
        draft.notes["described as"] = name
        draft.report(setting, "understood", "its sizes are said beside")
        return
    word = _squeezed(name.replace("Config", ""))
    keys = [key for key in MODELS if _squeezed(key) == word]
    if keys:
        draft.set_value(setting, "model", keys[0])
    else:
        refuse_value(setting, "no model of the catalog is named so", draft)


def _squeezed(name: str) -> str:
    word = re.sub(r"[^a-z0-9]", "", name.lower())
    return re.sub(r"^llama31(?=8b|70b|405b)", "llama3", word)


def _set(path: str) -> Handler:
    def read(setting: Setting, draft: RunDraft) -> None:
        number = whole_number(setting.value)
        if is_absent(setting.value):
            draft.report(setting, "understood", "not set")
        elif number is None:
            refuse_value(setting, "a whole number is needed", draft)
        else:
            draft.set_value(setting, path, number)

    return read


def _precision(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower().removesuffix("()")
    if "fp8" in word:
        draft.set_value(setting, "training.precision", "fp8")
        draft.values["training.quantized_weights"] = True  # fp8_param_gather
        blocks = "mxfp8" in word or "subchannel" in word
        draft.notes["fp8-recipe"] = "blockwise" if blocks else "tensorwise"
    elif word.startswith("bf16"):
        draft.set_value(setting, "training.precision", "bf16")
    elif word.startswith(("16", "fp16")):
        draft.set_value(setting, "training.precision", "fp16")
    else:
        refuse_value(setting, "bf16, 16 and fp8 are predicted", draft)


_OF_MODEL = ".model.config.seq_length"


def _length(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).endswith(_OF_MODEL):
        draft.notes["length as the model"] = True
        draft.report(setting, "understood", "as the recipe's model has it")
    else:
        _set("sequence_length")(setting, draft)


def _fp8(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "off")
    else:
        draft.set_value(setting, "training.precision", "fp8")


def _shards_states(setting: Setting, draft: RunDraft) -> None:
    draft.set_value(setting, "parallelism.zero_stage", 0 if is_off(setting.value) else 1)


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word in ("adam", "sgd", "muon"):
        draft.set_value(setting, "training.optimizer", word)
    else:
        refuse_value(setting, "adam, sgd and muon are known", draft)


def _gradients(setting: Setting, draft: RunDraft) -> None:
    precision = "bf16" if is_off(setting.value) else "fp32"
    if draft.values.get("training.gradient_precision") != precision:
        draft.values.pop("training.gradient_precision", None)
    draft.set_value(setting, "training.gradient_precision", precision)


def _adapters(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower().rpartition(".")[2]
    if is_absent(setting.value):
        draft.notes["adapters"] = False
        draft.report(setting, "understood", "all weights are trained")
    elif word == "lora":
        draft.notes["adapters"] = True
        draft.report(setting, "understood", "adapters are trained")
    else:
        refuse_value(setting, "LoRA alone is predicted", draft)


def _scheme(setting: Setting, draft: RunDraft) -> None:
    """Read the scheme that a recipe branches by; `peft` alone changes no degree."""
    before = draft.notes.pop("adapters", None)
    _adapters(setting, draft)
    draft.notes["scheme"] = draft.notes.pop("adapters", False)
    if before is not None:
        draft.notes["adapters"] = before


def _factory(setting: Setting, draft: RunDraft) -> None:
    refuse_value(setting, "another factory in place of the recipe's is not read", draft)


def _strategy(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word.startswith("$") or "megatron" in word:
        draft.report(setting, "understood", "read where the text says it")
    else:
        refuse_value(setting, "Megatron's strategy alone is read", draft)


def _ddp(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).startswith("$") or str(setting.value) == "megatron":
        draft.report(setting, "understood", "Megatron's data parallelism")
    else:
        draft.report_not_modeled(setting, "another data parallelism; Megatron's is shown")


def _fsdp(setting: Setting, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "off")
    else:
        refuse_value(setting, "NeMo's FSDP is not read", draft)


# Data modules with the same defaults.
_DATA = ("MockDataModule", "PreTrainingDataModule", "SquadDataModule", "FineTuningDataModule",
         "ChatDataModule", "DollyDataModule", "AlpacaDataModule")  # fmt: skip
_PARALLEL = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size",
    "virtual_pipeline_model_parallel_size", "expert_model_parallel_size", "sequence_parallel",
    "expert_tensor_parallel_size", "num_layers_in_first_pipeline_stage",
    "num_layers_in_last_pipeline_stage",
)  # fmt: skip
_SHAPE = (
    "num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads", "num_query_groups",
    "kv_channels", "vocab_size", "recompute_granularity", "recompute_method",
    "recompute_num_layers", "recompute_modules", "moe_router_topk", "moe_ffn_hidden_size",
    "moe_token_dispatcher_type", "moe_grouped_gemm", "moe_permute_fusion", "enable_cuda_graph",
    "external_cuda_graph", "add_qkv_bias", "make_vocab_size_divisible_by",
)  # fmt: skip
_CALL = (("tensor_parallelism", "tensor_model_parallel_size"),
         ("pipeline_parallelism", "pipeline_model_parallel_size"),
         ("virtual_pipeline_parallelism", "virtual_pipeline_model_parallel_size"),
         ("context_parallelism", "context_parallel_size"),
         ("expert_parallelism", "expert_model_parallel_size"),
         ("sequence_parallelism", "sequence_parallel"))  # fmt: skip
TABLE = KeyTable(
    handlers={
        "recipe": _recipe,
        "recipe.num_nodes": note_number("nodes"),
        "recipe.num_gpus_per_node": note_number("per_node"),
        "recipe.peft_scheme": _scheme,
        **dict.fromkeys(("trainer", "model", "data"), _factory),
        "recipe.seq_length": _set("sequence_length"),
        "recipe.global_batch_size": _set("training.global_batch_size"),
        "recipe.micro_batch_size": _set("training.micro_batch_size"),
        **{f"recipe.{name}": _as(becomes) for name, becomes in _CALL},
        "trainer.num_nodes": note_number("nodes"),
        "trainer.devices": note_number("per_node"),
        "trainer.strategy": _strategy,
        **{f"{one}.class": note_text(f"{one} class") for one in ("trainer", _S[:-1], "data")},
        "trainer.plugins": _precision,
        "trainer.plugins.precision": _precision,
        "trainer.plugins.fp8": _fp8,
        "trainer.plugins.grad_reduce_in_fp32": _gradients,
        "trainer.comm_overlap.tp_comm_overlap": _as("tp_comm_overlap"),
        **{f"{_S}{name}": _as(name) for name in _PARALLEL},
        **{f"{_C}{name}": _as(name) for name in (*_PARALLEL, *_SHAPE)},
        f"{_S}ddp": _ddp,
        f"{_S}fsdp": _fsdp,
        f"{_D}overlap_grad_reduce": _as("overlap_grad_reduce"),
        f"{_D}use_distributed_optimizer": _shards_states,
        f"{_D}grad_reduce_in_fp32": _gradients,
        "optim.config.use_distributed_optimizer": _shards_states,
        "optim.config.optimizer": _optimizer,
        "model.config": _class,
        f"{_C}seq_length": note_text("length of the model"),
        f"{_C}num_moe_experts": _as("num_experts"),
        "data.seq_length": _length,
        "data.global_batch_size": _set("training.global_batch_size"),
        "data.micro_batch_size": _set("training.micro_batch_size"),
        "peft": _adapters,
        "peft.dim": note_number("lora rank"),
        "peft.target_modules": read_targets,
    },
    not_modeled={
        ARGUMENTS: "the script's own arguments are taken at their defaults",
        "recipe.changed": "a function may change the recipe",
        "recipe.performance_mode": "it overlaps more and sums gradients in 16 bits",
        "recipe.packed_sequence": "another batch and length, of packed samples",
        f"{_S}account_for_embedding_in_pipeline_split": "layers of uneven stages",
        f"{_S}account_for_loss_in_pipeline_split": "layers of uneven stages",
        f"{_S}pipeline_model_parallel_layout": "how layers are cut",
        f"{_S}moe_extended_tp": "experts over tensor-parallel ranks",
        f"{_S}num_distributed_optimizer_instances": "several copies of the optimizer's states",
        f"{_C}cpu_offloading": "activations in the host's memory",
        f"{_C}cpu_offloading_num_layers": "activations in the host's memory",
        f"{_C}moe_expert_capacity_factor": "tokens beyond it are dropped",
        f"{_C}window_size": "attention in a window; all positions are shown",
        f"{_C}num_layers_in_first_pipeline_stage": "layers of uneven stages",
        "trainer.comm_overlap.overlap_param_gather_with_optimizer_step": "a gather that is hidden",
        "trainer.comm_overlap.defer_embedding_wgrad_compute": "products moved into the bubble",
        "optim": "another factory of the optimizer; Adam's states and time are shown",
        "optim.config.use_precision_aware_optimizer": "states in fewer bits",
        "data.packed_sequence_specs": "samples are packed",
    },
    without_effect={
        "how long, how it is logged and where it is saved": (
            "log", "resume", "recipe.dir", "recipe.name", "recipe.log_dir", "recipe.fn",
            "trainer.max_steps", "trainer.max_epochs", "trainer.max_time", "trainer.callbacks",
            "trainer.val_check_interval", "trainer.limit_*", "trainer.log_every_n_steps",
            "trainer.num_sanity_val_steps", "trainer.logger", "trainer.enable_*",
            "trainer.use_distributed_sampler", "trainer.accelerator", "trainer.default_root_dir",
            "trainer.check_val_every_n_epoch", "trainer.gradient_clip_val", "recipe.max_steps",
            "trainer.reload_dataloaders_every_n_epochs", "trainer.profiler", "trainer.benchmark",
            f"{_S}ckpt_*", f"{_S}save_ckpt_format", f"{_S}progress_interval",
            f"{_S}replace_progress_bar", f"{_S}megatron_log_level",
        ),
        "passes follow from the two batch sizes": ("trainer.accumulate_grad_batches",),
        "data, which are taken to come in time": (
            "tokenizer", "data.tokenizer", "data.num_*", "data.paths", "data.path", "data.split",
            "data.pin_memory", "data.persistent_workers", "data.index_mapping_dir", "data.seed",
            "data.reset_*", "data.eod_*", "data.dataset_kwargs", "data.dataset_root",
            "data.vocab_file", "data.merges_file", "data.delete_raw", "data.force_redownload",
            "data.create_attention_mask", "data.dataset", "model.tokenizer",
        ),
        "a number of the optimizer": (
            "optim.config.lr", "optim.config.min_lr", "optim.config.weight_decay",
            "optim.config.adam_*", "optim.config.clip_grad", "optim.lr_scheduler",
            "optim.config.bf16", "optim.config.fp16", "optim.config.params_dtype",
        ),
        "how the weights begin and are loaded": (f"{_C}init_method_std", f"{_S}restore_config"),
        "dropout, whose masks are small beside the rest": (
            f"{_C}hidden_dropout", f"{_C}attention_dropout",
        ),
        "norms and positions keep their size": (
            f"{_C}layernorm_epsilon", f"{_C}rotary_*", f"{_C}normalization",
        ),
        "the gather of weights is hidden in any case": (f"{_D}overlap_param_gather",),
        "fused kernels are taken": (
            f"{_C}bias_*", f"{_C}masked_softmax_fusion", f"{_C}cross_entropy_*",
            f"{_C}apply_rope_fusion", f"{_C}gradient_accumulation_fusion",
        ),
        "how messages are sent": (
            f"{_S}use_sharp", f"{_S}nccl_communicator_config_path", f"{_S}pipeline_dtype",
            f"{_S}gradient_as_bucket_view", f"{_D}average_in_collective", f"{_D}bucket_size",
            f"{_D}check_for_nan_in_grad", f"{_S}use_te_rng_tracker", f"{_C}pipeline_dtype",
            f"{_S}use_tp_pp_dp_mapping", f"{_S}use_gloo_process_groups",
            f"{_S}pipeline_model_parallel_comm_backend", "trainer.comm_overlap.tp_comm_overlap_cfg",
            "trainer.comm_overlap.wgrad_deferral_limit", "trainer.comm_overlap.overlap_p2p_comm",
            "trainer.comm_overlap.batch_p2p_comm",
        ),
        "how mixed precision scales": (
            "trainer.plugins.params_dtype", "trainer.plugins.pipeline_dtype",
            "trainer.plugins.autocast_enabled", "trainer.plugins.fp8_amax_*",
            "trainer.plugins.fp8_margin",
        ),
        "adapters of any strength take the same": ("peft.alpha", "peft.dropout*", "peft.lora_*"),
    },
)  # fmt: skip


def import_nemo2(settings: list[Setting], draft: RunDraft) -> None:
    """Import the settings of NeMo 2; the last of those that assign one key counts."""
    draft.values["training.framework"] = "megatron"
    certain = list(settle_conditions(settings, draft, _matters))
    last = {setting.key: setting for setting in certain}
    for setting in certain:
        if last[setting.key] is not setting:
            draft.report(setting, "understood", f"changed again in line {last[setting.key].line}")
        elif str(setting.value).startswith("$") and not _harmless(setting):
            refuse_value(setting, "the text computes it; write the number", draft)
        else:
            read_key(setting, TABLE, draft)


def _matters(setting: Setting) -> bool:
    return not reason_without_effect(setting.key, TABLE)


def _harmless(setting: Setting) -> bool:
    if setting.key == "data.seq_length" and str(setting.value).endswith(_OF_MODEL):
        return True
    known = setting.key in TABLE.handlers or setting.key in TABLE.not_modeled
    named = setting.key in ("trainer.strategy", f"{_S}ddp")
    return named or bool(reason_without_effect(setting.key, TABLE)) or not known


def finish_nemo2(draft: RunDraft) -> None:
    """Complete the run with what the recipe sets, or with the defaults of the classes."""
    notes = draft.notes
    if "recipe name" in notes:
        _from_recipe(str(notes["recipe name"]), draft)
    else:
        _from_classes(draft)
    length = notes.get("length of the model")
    if length not in (None, draft.values.get("sequence_length")) and whole_number(length):
        draft.contradictions.append(
            f"the model has sequences of {shorten(length)} tokens, the data of "
            f"{draft.values['sequence_length']}"
        )
    settle_targets(draft, "all", VERSION)
    finish_megatron_run(draft)


def _from_recipe(name: str, draft: RunDraft) -> None:
    notes = draft.notes
    scheme = bool(notes.get("scheme", notes["tuned"]))
    adapters = bool(notes.get("adapters", scheme))
    row = FINETUNE.get((name, scheme)) if notes["tuned"] else PRETRAIN.get(name)
    if row is None:
        kind = "for fine-tuning" if notes["tuned"] else "for pre-training"
        draft.contradictions.append(f"no recipe {name} {kind} is known here ({VERSION})")
        return
    why = f"recipe {name} ({VERSION})"
    notes.setdefault("nodes", row.nodes)
    notes.setdefault("per_node", GPUS_PER_NODE)
    if adapters:
        draft.derive("training.lora_rank", notes.get("lora rank", row.rank or 32), why)
        draft.assume("training.lora_layers", row.layers, why)
    if "data class" in notes:
        _data(draft)
    if f"{_S[:-1]} class" in notes:
        _strategy_defaults(draft)
    for path, value in _values(row).items():
        draft.assume(path, value, why)
    if row.uneven and draft.get("parallelism.pipeline_parallel") > 1:
        remark(draft, "recipe", name, "its first and last stages hold fewer layers; even is shown")


def _values(row: Recipe) -> dict[str, object]:
    values: dict[str, object] = {
        "sequence_length": row.length,
        "training.global_batch_size": row.batch,
        "training.micro_batch_size": row.micro,
        "training.precision": "bf16",
        "training.gradient_precision": "fp32",
        "training.overlap_gradient_reduce": row.overlaps,
        "parallelism.zero_stage": int(row.shards_states),
        "parallelism.tensor_parallel": row.tensor,
        "parallelism.pipeline_parallel": row.pipeline,
        "parallelism.context_parallel": row.context,
        "parallelism.expert_parallel": row.experts,
        "parallelism.sequence_parallel": row.sequence_parallel,
    }
    if row.virtual:
        values["parallelism.virtual_pipeline"] = row.virtual
    return values


def _from_classes(draft: RunDraft) -> None:
    notes, why = draft.notes, f"unless it is set ({VERSION})"
    if "per_node" not in notes and "parallelism.world_size" not in draft.values:
        draft.contradictions.append("no trainer.devices: the text does not say how many GPUs")
    _data(draft)
    _strategy_defaults(draft)
    draft.assume("parallelism.zero_stage", 0, f"use_distributed_optimizer {why}")
    if "training.precision" in draft.values:
        draft.assume("training.gradient_precision", "fp32", f"grad_reduce_in_fp32 {why}")
    else:
        remark(draft, "plugins", "none", "32 bits without a plugin; 16 are shown")
        draft.assume("training.precision", "bf16", "in place of 32 bits")
    if notes.get("adapters"):
        draft.derive("training.lora_rank", notes.get("lora rank", 32), "peft")
    if "model.num_layers" in draft.values and "model" not in draft.values:
        if notes.get("described as") == "GPTConfig":
            notes.setdefault("position-embedding-type", "learned_absolute")
            draft.assume("model.mlp", "gelu", f"GPTConfig ({VERSION})")
            draft.assume("model.tied_embeddings", True, f"GPTConfig ({VERSION})")
        else:
            notes["disable-bias-linear"] = True
            draft.assume("model.mlp", "swiglu", f"LlamaConfig ({VERSION})")
            draft.assume("model.tied_embeddings", False, f"LlamaConfig ({VERSION})")


def _data(draft: RunDraft) -> None:
    kind = str(draft.notes.get("data class", "MockDataModule"))
    if kind not in _DATA and "training.global_batch_size" not in draft.values:
        draft.contradictions.append(
            f"{shorten(kind)} is a data module of one's own; write its global_batch_size, "
            "micro_batch_size and seq_length"
        )
    why = f"unless it is set ({VERSION})"
    if "length as the model" not in draft.notes:
        draft.assume("sequence_length", 2048, f"data.seq_length {why}")
    draft.assume("training.micro_batch_size", 4, f"data.micro_batch_size {why}")
    draft.assume("training.global_batch_size", 8, f"data.global_batch_size {why}")


def _strategy_defaults(draft: RunDraft) -> None:
    why = f"of MegatronStrategy unless it is set ({VERSION})"
    for name in ("tensor", "pipeline", "context", "expert"):
        draft.assume(f"parallelism.{name}_parallel", 1, f"{name} {why}")
    draft.assume("parallelism.virtual_pipeline", 1, f"virtual pipeline {why}")
    draft.assume("training.overlap_gradient_reduce", False, f"overlap_grad_reduce {why}")
    draft.assume("parallelism.sequence_parallel", False, f"sequence_parallel {why}")


def _read(piece: Piece, draft: RunDraft) -> None:
    text = piece.text
    if re.search(
        r"^[ \t]*(?:import|from)\s+\w|^[ \t]*def\s|^\w+(?:\.\w+)*\s?=\s|_recipe\(", text, re.M
    ):
        import_nemo2(read_nemo2_python(text, piece.line), draft)
    else:
        import_nemo2(read_command(text, piece.line), draft)


def _refuses(text: str) -> str:
    if re.search(r"\bHFAutoModel\w*\b|\bhf_auto_model_for_causal_lm\b", text):
        return "NeMo's HFAutoModel, which trains with FSDP2; Megatron's strategy alone is read"
    if re.search(r"\bfrom nemo\.collections import (?:\w+, )*(?:vlm|diffusion)\b|\bvlm\.\w", text):
        return "models of images are not predicted"
    return ""


READER = Reader(read=_read, finish=finish_nemo2, refuses=_refuses)
