"""Importer of Megatron-LM arguments, and of Megatron-Bridge's under `model.`.

Names and defaults are those of megatron-core 0.19.2 (`megatron/training/arguments.py`).
"""

from collections.abc import Mapping
from typing import Any

from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    positive_number,
    shorten,
    whole_number,
)
from engine.run.importers.key_table import reason_without_effect
from engine.run.importers.launch import take_launch
from engine.run.importers.layouts import parse_layout
from engine.run.importers.megatron_keys import MEGATRON_KEYS
from engine.run.importers.unknown_keys import report_unknown, settle_conditions

VERSION = "Megatron Core 0.19"

# Whole numbers that are the same in a run file.
COUNTS: Mapping[str, str] = {
    "tensor-model-parallel-size": "parallelism.tensor_parallel",
    "pipeline-model-parallel-size": "parallelism.pipeline_parallel",
    "context-parallel-size": "parallelism.context_parallel",
    "expert-model-parallel-size": "parallelism.expert_parallel",
    "expert-tensor-parallel-size": "parallelism.expert_tensor_parallel",
    "num-virtual-stages-per-pipeline-rank": "parallelism.virtual_pipeline",
    "virtual-pipeline-model-parallel-size": "parallelism.virtual_pipeline",
    "micro-batch-size": "training.micro_batch_size",
    "global-batch-size": "training.global_batch_size",
    "seq-length": "sequence_length",
    "sequence-length": "sequence_length",
    "num-layers": "model.num_layers",
    "hidden-size": "model.hidden_size",
    "num-attention-heads": "model.num_attention_heads",
    "num-query-groups": "model.num_key_value_heads",
    "num-key-value-heads": "model.num_key_value_heads",  # Megatron-DeepSpeed
    "ffn-hidden-size": "model.ffn_hidden_size",
    "kv-channels": "model.head_size",
    "vocab-size": "model.vocab_size",
    "padded-vocab-size": "model.vocab_size",
    "num-experts": "model.num_experts",
    "num-moe-experts": "model.num_experts",
    "moe-router-topk": "model.experts_per_token",
    "moe-ffn-hidden-size": "model.expert_ffn_hidden_size",
    "moe-router-group-topk": "model.nodes_per_token",
    "mtp-num-layers": "model.num_prediction_layers",
    "q-lora-rank": "model.query_latent_size",
    "kv-lora-rank": "model.key_value_latent_size",
    "qk-pos-emb-head-dim": "model.rotary_head_size",
    "v-head-dim": "model.value_head_size",
    "world-size": "parallelism.world_size",
    "model-parallel-size": "parallelism.tensor_parallel",  # before 2.0
    "zero-stage": "parallelism.zero_stage",  # Megatron-DeepSpeed
    "moe-expert-parallel-size": "parallelism.expert_parallel",
    "num-distributed-optimizer-instances": "notes.instances",
}
SWITCHES: Mapping[str, tuple[str, Any]] = {
    "sequence-parallel": ("parallelism.sequence_parallel", True),
    "swiglu": ("model.mlp", "swiglu"),
    "gated-linear-unit": ("model.mlp", "swiglu"),
    "quick-geglu": ("model.mlp", "swiglu"),  # gated as well: three matrices
    "untie-embeddings-and-output-weights": ("model.tied_embeddings", False),
    "bf16": ("training.precision", "bf16"),
    "fp16": ("training.precision", "fp16"),
    "overlap-grad-reduce": ("training.overlap_gradient_reduce", True),
    "tp-comm-overlap": ("training.overlap_tensor_parallel", True),
    "overlap-moe-expert-parallel-comm": ("training.overlap_expert_parallel", True),
    "moe-a2a-overlap": ("training.overlap_expert_parallel", True),  # recipes of Megatron-Bridge
    "use-transformer-engine-op-fuser": ("training.fused_experts", True),
    "enable-cuda-graph": ("training.cuda_graphs", True),
    "external-cuda-graph": ("training.cuda_graphs", True),
    "use-flash-attn": ("training.flash_attention", True),
    "recompute-activations": ("training.recompute", "selective"),
    "grad-reduce-in-bf16": ("training.gradient_precision", "bf16"),
    "accumulate-allreduce-grads-in-fp32": ("training.gradient_precision", "fp32"),
    "use-distributed-optimizer": ("parallelism.zero_stage", 1),
    "overlapped-distributed-optimizer": ("parallelism.zero_stage", 1),  # Megatron-LLaMA
    "use-torch-fsdp2": ("parallelism.zero_stage", 3),
    "zero-bubble-v-schedule": ("training.schedule", "zbv"),  # zero-bubble's fork
    "fp8-param-gather": ("training.quantized_weights", True),
    "fp8-param": ("training.quantized_weights", True),
    "fp4-param-gather": ("training.quantized_weights", True),
    "fp4-param": ("training.quantized_weights", True),
}
# Other names of the same, of older releases and of configurations in Python.
ALIASES: Mapping[str, str] = {
    "num-layers-in-first-pipeline-stage": "decoder-first-pipeline-num-layers",
    "num-layers-in-last-pipeline-stage": "decoder-last-pipeline-num-layers",
    "use-custom-fsdp": "use-megatron-fsdp",
    "checkpoint-num-layers": "recompute-num-layers",
    "activations-checkpoint-num-layers": "recompute-num-layers",
    "activations-checkpoint-method": "recompute-method",
    "activations-checkpoint-granularity": "recompute-granularity",
    "checkpoint-activations": "full-recomputation",
    "deepspeed-activation-checkpointing": "full-recomputation",
    "cuda-graph-scope": "cuda-graph-modules",
    "moe-num-experts": "num-experts",  # of megablocks, as are the next
    "moe-top-k": "moe-router-topk",
}
# Kept for what is derived from several of them.
NOTED = (
    "num-layers-per-virtual-pipeline-stage",
    "decoder-first-pipeline-num-layers",
    "decoder-last-pipeline-num-layers",
    "moe-shared-expert-intermediate-size",
    "moe-layer-freq",
    "recompute-modules",
    "recompute-granularity",
    "recompute-num-layers",
    "recompute-method",
    "qk-head-dim",
    "multi-latent-attention",
    "group-query-attention",
    "use-megatron-fsdp",
    "data-parallel-sharding-strategy",
    "position-embedding-type",
    "max-position-embeddings",
    "make-vocab-size-divisible-by",
    "disable-bias-linear",
    "add-bias-linear",
    "account-for-embedding-in-pipeline-split",
    "account-for-loss-in-pipeline-split",
    "moe-enable-deepep",
    "expert-interval",  # Megatron-DeepSpeed
    "topk",
    "tokenizer-type",
    "tokenizer-model",
    "tokenizer-name-or-path",
    "vocab-file",
)


def import_megatron(settings: list[Setting], draft: RunDraft) -> None:
    """Import Megatron-LM arguments into a draft."""
    draft.values.setdefault("training.framework", "megatron")
    for setting in settle_conditions(take_launch(settings, draft), draft, _matters):
        _import_setting(setting, setting.key.removeprefix("--").replace("_", "-").lower(), draft)


def _matters(setting: Setting) -> bool:
    name = setting.key.removeprefix("--").replace("_", "-").lower()
    name = ALIASES.get(name, name)
    return name in COUNTS or name in SWITCHES or name in NOTED or name in _SPECIAL


def _import_setting(setting: Setting, name: str, draft: RunDraft) -> None:
    name = ALIASES.get(name, name)
    negated = str(setting.value).lower() in ("false", "none", "0") and setting.value is not True
    if name in COUNTS:
        _count(setting, COUNTS[name], draft)
    elif name in SWITCHES and not negated:
        _switch(setting, name, draft)
    elif name in NOTED and str(setting.value) not in ("None", "False"):
        draft.notes[name] = setting.value
        draft.report(setting, "understood", "worked into what is derived below")
    elif name in _SPECIAL and not negated:
        _SPECIAL[name](setting, draft)
    elif name in SWITCHES or name in NOTED or name in _SPECIAL:
        _turned_off(setting, name, draft)
    else:
        _report_rest(setting, name, negated, draft)


def _switch(setting: Setting, name: str, draft: RunDraft) -> None:
    if str(setting.value).startswith("$"):
        reason = f"the text does not say what {shorten(setting.value)} is"
        draft.report_not_modeled(setting, reason)
    else:
        draft.set_value(setting, *SWITCHES[name])


def _report_rest(setting: Setting, name: str, negated: bool, draft: RunDraft) -> None:
    """Report a setting that no run file has a key for."""
    key = name.replace("-", "_")
    if name == "overlap-param-gather":
        hidden = "the prediction hides what it can of this gather in any case"
        draft.report(setting, "without effect", hidden)
    elif negated and (key in MEGATRON_KEYS.not_modeled or "offload" in name):
        draft.report(setting, "understood", "off")
    elif key in MEGATRON_KEYS.not_modeled:
        draft.report_not_modeled(setting, MEGATRON_KEYS.not_modeled[key])
    elif reason := reason_without_effect(key, MEGATRON_KEYS):
        draft.report(setting, "without effect", reason)
    elif "offload" in name:
        draft.report_not_modeled(setting, OFFLOADED)
    else:
        report_unknown(setting, draft)


def _turned_off(setting: Setting, name: str, draft: RunDraft) -> None:
    if name == "add-bias-linear":  # as a log prints --disable-bias-linear
        draft.notes["disable-bias-linear"] = True
    if "param" in name:  # what a recipe of Megatron-Bridge has turned on
        draft.values.pop("training.quantized_weights", None)
    draft.report(setting, "understood", "off")


def _count(setting: Setting, path: str, draft: RunDraft) -> None:
    number = whole_number(setting.value)
    if number is None and str(setting.value) in ("None", "null", "True"):
        draft.report(setting, "understood", "not set")
    elif number is None:
        draft.report(setting, "not known", f"{shorten(setting.value)} is no whole number")
        draft.contradictions.append(
            f"line {setting.line}: {shorten(setting.key)} is {shorten(setting.value)}; a whole "
            "number is needed"
        )
    elif path == "notes.instances":
        draft.notes["instances"] = number
        draft.report(setting, "understood", "copies of the sharded optimizer")
    else:
        draft.set_value(setting, path, number)


def _precision(setting: Setting, draft: RunDraft) -> None:
    draft.set_value(setting, "training.precision", "fp4" if "fp4" in setting.key else "fp8")


def _fp8_recipe(setting: Setting, draft: RunDraft) -> None:
    draft.notes["fp8-recipe"] = str(setting.value).lower()
    draft.report(setting, "understood", "whether a GPU keeps one copy of a weight in fp8 or two")


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    name = str(setting.value).lower()
    known = next((key for key in ("adam", "sgd", "muon") if key in name), None)
    if known:
        draft.set_value(setting, "training.optimizer", known)
    else:
        draft.report_not_modeled(setting, f"{shorten(name)}: adam is taken")


def _graphs(setting: Setting, draft: RunDraft) -> None:
    draft.set_value(
        setting, "training.cuda_graphs", str(setting.value).lower() not in ("none", "false")
    )


def _backend(setting: Setting, draft: RunDraft) -> None:
    draft.set_value(
        setting, "training.flash_attention", str(setting.value).lower() not in ("unfused", "local")
    )


def _rotary(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("position-embedding-type", "rope")
    draft.report(setting, "understood", "an older name of --position-embedding-type rope")


def _layout(setting: Setting, draft: RunDraft) -> None:
    if parse_layout(str(setting.value)) or str(setting.value) in ("None", ""):
        draft.notes["pipeline-model-parallel-layout"] = setting.value
        draft.report(setting, "understood", "worked into what is derived below")
    else:
        draft.report_not_modeled(setting, "not written out here: layers are cut evenly")


def _grouped_gemm(setting: Setting, draft: RunDraft) -> None:
    draft.report(
        setting, "understood", "taken for granted: the products of a rank's experts are grouped"
    )


def _permute_fusion(setting: Setting, draft: RunDraft) -> None:
    draft.report(setting, "understood", "taken for granted: tokens are permuted by one kernel")


def _shared_experts(setting: Setting, draft: RunDraft) -> None:
    draft.report(
        setting,
        "not modeled",
        "the prediction hides no exchange behind experts that all tokens share",
    )


def _dispatcher(setting: Setting, draft: RunDraft) -> None:
    _note_known(setting, draft, "moe-token-dispatcher-type", ("alltoall", "flex"))


def _flex_backend(setting: Setting, draft: RunDraft) -> None:
    _note_known(setting, draft, "moe-flex-dispatcher-backend", ("deepep", "hybridep"))


def _note_known(setting: Setting, draft: RunDraft, name: str, known: tuple[str, ...]) -> None:
    """Note an exchange of tokens that is predicted."""
    word = str(setting.value).lower()
    if word in known:
        draft.notes[name] = word
        draft.report(setting, "understood", "worked into what is derived below")
    else:
        draft.report_not_modeled(
            setting, f"{shorten(word)} is not predicted; the model's routing decides"
        )


def _full_recomputation(setting: Setting, draft: RunDraft) -> None:
    draft.notes["recompute-granularity"] = "full"
    draft.report(setting, "understood", "an older name of --recompute-granularity full")


def _padded_vocabulary(setting: Setting, draft: RunDraft) -> None:
    number = positive_number(setting.value)
    if number is None:
        _count(setting, "model.vocab_size", draft)
    else:
        draft.notes["pad-vocab-size-to"] = number
        draft.report(setting, "understood", "the rows of the embedding, whatever the vocabulary is")


def _delayed_weights(setting: Setting, draft: RunDraft) -> None:
    reason = "weight gradients fill the exchange that --overlap-moe-expert-parallel-comm hides"
    draft.report(setting, "understood", reason)


def _graph_modules(setting: Setting, draft: RunDraft) -> None:
    words = setting.value if isinstance(setting.value, list) else [str(setting.value)]
    names = [name for word in words for name in str(word).replace(",", " ").split()]
    if all(name in ("full", "full_iteration") for name in names):
        draft.report(setting, "understood", "every launch of the layers is captured")
    else:
        reason = "the launches of these modules alone are captured; all are shown as captured"
        draft.report_not_modeled(setting, reason)


def _context_exchange(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word == "p2p":
        draft.report(setting, "understood", "the ring that is shown")
    elif draft.values.get("parallelism.context_parallel", 2) > 1:
        reason = f"context parallelism by {shorten(word)}; a ring is shown"
        draft.report_not_modeled(setting, reason)
    else:
        draft.report(setting, "without effect", "there is no context parallelism")


def _state_space(setting: Setting, draft: RunDraft) -> None:
    draft.report(setting, "not modeled", "layers of a state-space model are not predicted")
    draft.contradictions.append(
        f"line {setting.line}: {shorten(setting.key)}: layers that differ from one another, or of "
        "a state-space model, are not predicted"
    )


def _no_positions(setting: Setting, draft: RunDraft) -> None:
    draft.notes.setdefault("position-embedding-type", "none")
    draft.report(setting, "understood", "no learned positions")


def _resharding(setting: Setting, draft: RunDraft) -> None:
    draft.notes["torch-fsdp2-no-reshard"] = True
    draft.report(setting, "understood", "gathered weights are kept until the backward pass")


def _weight_shards(setting: Setting, draft: RunDraft) -> None:
    if positive_number(setting.value) == 1:
        draft.report(setting, "understood", "weights are not sharded further")
    else:
        draft.report_not_modeled(setting, "weights that are sharded beside the optimizer")


def _deepspeed_file(setting: Setting, draft: RunDraft) -> None:
    if "DeepSpeed JSON" in draft.dialects:
        draft.report(setting, "understood", "the file of DeepSpeed that is read beside")
    else:
        draft.report_not_modeled(setting, "a file of DeepSpeed; paste it too")


def _decoder_length(setting: Setting, draft: RunDraft) -> None:
    """Note the decoder's length; beside a vision tower it is that of the language model."""
    draft.notes["decoder length"] = setting


def _spec(setting: Setting, draft: RunDraft) -> None:
    """Read which layers a model is made of: Megatron's own, or those of a file."""
    value = setting.value
    module = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    if "gpt_layer_specs" in module or module in ("None", "local"):
        draft.report(setting, "understood", "layers of Megatron's own")
    else:
        draft.report_not_modeled(setting, "layers of a file; those of a plain decoder are shown")


def _partition(setting: Setting, draft: RunDraft) -> None:
    """Read Megatron-DeepSpeed's pieces: type:transformer|embedding counts both ends as layers."""
    word = str(setting.value).lower()
    if "type:" in word and "embedding" in word:
        draft.notes["account-for-embedding-in-pipeline-split"] = True
        draft.notes["account-for-loss-in-pipeline-split"] = True
        draft.report(setting, "understood", "worked into what is derived below")
    elif word in ("uniform", "type:transformer"):
        draft.report(setting, "understood", "layers are cut evenly")
    else:
        draft.report_not_modeled(setting, "how layers are cut; evenly is shown")


_SPECIAL = {
    "deepspeed-config": _deepspeed_file,
    "ds-config": _deepspeed_file,
    "pp-partition-method": _partition,
    "spec": _spec,
    "decoder-seq-length": _decoder_length,
    "full-recomputation": _full_recomputation,
    "pad-vocab-size-to": _padded_vocabulary,
    "delay-wgrad-compute": _delayed_weights,
    "cuda-graph-modules": _graph_modules,
    "cp-comm-type": _context_exchange,
    "is-hybrid-model": _state_space,
    "hybrid-layer-pattern": _state_space,
    "hybrid-override-pattern": _state_space,
    "heterogeneous-layers-config-path": _state_space,
    "heterogeneous-layers-config-encoded-json": _state_space,
    "no-position-embedding": _no_positions,
    "torch-fsdp2-no-reshard-after-forward": _resharding,
    "gtp-weight-remat-size": _weight_shards,
    "expert-gtp-weight-remat-size": _weight_shards,
    "tensor-parallel-num-weight-shards": _weight_shards,
    "expert-tensor-parallel-num-weight-shards": _weight_shards,
    "moe-permute-fusion": _permute_fusion,
    "moe-shared-expert-overlap": _shared_experts,
    "moe-token-dispatcher-type": _dispatcher,
    "moe-flex-dispatcher-backend": _flex_backend,
    "moe-grouped-gemm": _grouped_gemm,
    "use-rotary-position-embeddings": _rotary,
    "pipeline-model-parallel-layout": _layout,
    "fp8-format": _precision,
    "fp8": _precision,
    "fp8-recipe": _fp8_recipe,
    "fp4-format": _precision,
    "fp4": _precision,
    "optimizer": _optimizer,
    "cuda-graph-impl": _graphs,
    "attention-backend": _backend,
}
