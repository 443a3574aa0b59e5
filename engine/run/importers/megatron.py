"""Importer of Megatron-LM arguments, and of Megatron-Bridge's under `model.`.

Names and defaults are those of megatron-core 0.20.0 (`megatron/training/arguments.py`).
"""

from collections.abc import Mapping
from typing import Any

from engine.run.importers.import_report import (
    OFFLOADED,
    RunDraft,
    Setting,
    shorten,
    whole_number,
)
from engine.run.importers.launch import take_launch
from engine.run.importers.layouts import parse_layout
from engine.run.importers.unknown_keys import report_unknown, settle_conditions

VERSION = "Megatron Core 0.20"

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
    "fp8-param-gather": ("training.quantized_weights", True),
    "fp8-param": ("training.quantized_weights", True),
    "fp4-param-gather": ("training.quantized_weights", True),
    "fp4-param": ("training.quantized_weights", True),
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
)
WITHOUT_EFFECT = (
    "lr", "min-lr", "weight-decay", "adam-", "clip-grad", "init-method", "train-iters",
    "train-samples", "train-steps", "exit-", "log-", "tensorboard", "wandb", "save", "load", "eval",
    "data-", "split", "tokenizer", "vocab-file", "merge-file", "seed", "num-workers", "dataloader",
    "ckpt", "checkpoint", "no-load", "no-save", "dist-ckpt", "use-mcore", "use-legacy", "timing",
    "attention-dropout", "hidden-dropout", "norm-epsilon", "normalization", "rotary-", "use-rope",
    "master-", "rdzv", "node-rank", "node_rank", "standalone", "mock-data", "override-opt",
    "distributed-backend", "distributed-timeout", "finetune", "reset-", "profile", "nsys",
    "max_restarts",
    "lr-", "moe-aux-loss", "moe-router-load", "moe-z-loss", "moe-router-dtype", "moe-router-enable",
    "transformer-impl", "eod-", "manual-gc", "job-name", "output", "error", "time", "partition",
    "exclusive", "account", "mem", "container", "mpi", "apply-layernorm-1p", "squared-relu",
    "qk-layernorm", "add-qkv-bias",
)  # fmt: skip


def import_megatron(settings: list[Setting], draft: RunDraft) -> None:
    """Import Megatron-LM arguments into a draft."""
    draft.values.setdefault("training.framework", "megatron")
    for setting in settle_conditions(take_launch(settings, draft), draft, _matters):
        _import_setting(setting, setting.key.removeprefix("--").replace("_", "-").lower(), draft)


def _matters(setting: Setting) -> bool:
    name = setting.key.removeprefix("--").replace("_", "-").lower()
    return name in COUNTS or name in SWITCHES or name in NOTED or name in _SPECIAL


def _import_setting(setting: Setting, name: str, draft: RunDraft) -> None:
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
        said = f"the text does not say what {shorten(setting.value)} is"
        draft.report_not_modeled(setting, said)
    else:
        draft.set_value(setting, *SWITCHES[name])


def _report_rest(setting: Setting, name: str, negated: bool, draft: RunDraft) -> None:
    """Report a setting that no run file has a key for."""
    if name == "overlap-param-gather":
        said = "the prediction hides what it can of this gather in any case"
        draft.report(setting, "without effect", said)
    elif "offload" in name and not negated:
        draft.report_not_modeled(setting, OFFLOADED)
    elif name.startswith((*WITHOUT_EFFECT, "no-")):
        said = "changes neither the time nor the memory that is predicted here"
        draft.report(setting, "without effect", said)
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


_SPECIAL = {
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
