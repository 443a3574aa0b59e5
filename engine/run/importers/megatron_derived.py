"""Values derived from several Megatron-LM arguments, and Megatron's defaults."""

import re
from collections.abc import Mapping
from typing import Any

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.recent_models import EVERY_MODEL
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.importers.import_report import (
    RunDraft,
    is_true,
    positive_number,
    shorten,
    whole_number,
)
from engine.run.importers.layouts import read_layout
from engine.run.importers.megatron import VERSION
from engine.run.importers.vocabularies import derive_vocabulary

_MOST_LAYERS = 4096
ONLY = "only leading or alternating dense layers are known."


def finish_megatron(draft: RunDraft) -> None:
    """Derive values from several arguments, and assume Megatron's defaults."""
    notes = draft.notes
    _decoder_length(draft)
    _recomputation(draft, notes)
    _derive_pieces(draft, notes)
    if is_true(notes.get("use-megatron-fsdp", False)):
        stages = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}
        strategy = str(notes.get("data-parallel-sharding-strategy", "no_shard"))
        draft.derive(
            "parallelism.zero_stage", stages.get(strategy, 0), f"Megatron-FSDP, {shorten(strategy)}"
        )
    if notes.get("torch-fsdp2-no-reshard") and draft.get("parallelism.zero_stage", 0) == 3:
        flag = "--torch-fsdp2-no-reshard-after-forward"
        draft.derive("parallelism.zero_stage", 2, flag)
    if "Megatron-Bridge overrides" in draft.dialects:
        _recipe_defaults(draft)
    draft.assume("parallelism.zero_stage", 0, f"no --use-distributed-optimizer ({VERSION})")
    draft.assume("parallelism.sequence_parallel", False, f"no --sequence-parallel ({VERSION})")
    draft.assume("training.overlap_gradient_reduce", False, f"no --overlap-grad-reduce ({VERSION})")
    if _has_experts(draft):
        _derive_exchange(draft, notes)
    else:
        # A log prints it for models without experts as well.
        draft.values.pop("parallelism.expert_tensor_parallel", None)
    if draft.get("model.num_experts", 0):
        split = draft.get("parallelism.tensor_parallel")
        why = f"--expert-tensor-parallel-size is the tensor parallelism unless set ({VERSION})"
        draft.assume("parallelism.expert_tensor_parallel", split, why)
    if "model.num_layers" in draft.values:
        _derive_model(draft, notes)


def _decoder_length(draft: RunDraft) -> None:
    """Take the decoder's length where `--seq-length` is that of an image (pretrain_vlm.py)."""
    setting = draft.notes.pop("decoder length", None)
    if setting is None:
        return
    number = positive_number(setting.value)
    sees = any("vision-model-type" in entry.key.replace("_", "-") for entry in draft.entries)
    if number and sees:
        draft.lines.pop("sequence_length", None)
        draft.set_value(setting, "sequence_length", number)
        draft.lines.pop("sequence_length", None)
    else:
        what = "sequences of another length; --seq-length is shown"
        draft.report_not_modeled(setting, what)


def _derive_exchange(draft: RunDraft, notes: Mapping[str, Any]) -> None:
    """Derive how tokens reach their experts; without a flexible dispatcher its backend is unused.

    A backend that overrides a recipe of Megatron-Bridge brings that dispatcher with it
    (training/flex_dispatcher_backend.py).
    """
    backend, deepep = notes.get("moe-flex-dispatcher-backend"), notes.get("moe-enable-deepep")
    overrides = "Megatron-Bridge overrides" in draft.dialects and (backend or deepep)
    kind = notes.get("moe-token-dispatcher-type", "flex" if overrides else "")
    if kind == "alltoall":
        draft.derive("training.exchange", "all-to-all", "--moe-token-dispatcher-type")
    elif kind == "flex":
        draft.derive("training.exchange", backend or "deepep", "the backend of the dispatcher")


def finish_scaling(draft: RunDraft) -> None:
    """Derive whether one fp8 copy of a weight serves both passes on this GPU."""
    gpu = ACCELERATORS.get(str(draft.values.get("cluster.gpu")))
    recipe = draft.notes.get("fp8-recipe", "delayed")  # Megatron's default
    once = draft.values["training.precision"] == "fp8" and recipe in ("delayed", "tensorwise")
    if once and gpu and reads_any_operand_layout(gpu):
        draft.derive("training.quantized_once", True, f"one scale for a tensor, on a {gpu.name}")


def _has_experts(draft: RunDraft) -> bool:
    named = EVERY_MODEL.get(str(draft.values.get("model", "")))
    return bool(named.num_experts if named else draft.get("model.num_experts", 0))


def _recipe_defaults(draft: RunDraft) -> None:
    """Assume the defaults of Megatron-Bridge recipes."""
    why = "as recipes of Megatron-Bridge set it"
    split = draft.get("parallelism.tensor_parallel") > 1
    draft.assume("parallelism.zero_stage", 1, why)
    draft.assume("training.overlap_gradient_reduce", True, why)
    draft.assume("parallelism.sequence_parallel", split, why)


def _recomputation(draft: RunDraft, notes: Mapping[str, Any]) -> None:
    granularity, modules = (
        str(notes.get("recompute-granularity", "")),
        notes.get("recompute-modules"),
    )
    if not granularity and modules and "Megatron-Bridge overrides" in draft.dialects:
        granularity = "selective"  # as the recipes below these overrides set it
    if not granularity and notes.get("recompute-method") not in (None, "None"):
        granularity = "full"  # as releases before 2.6 have it, without a granularity
    if granularity == "full":
        draft.derive("training.recompute", *_nearest_recomputation(draft, notes))
    elif granularity == "selective" and modules not in (None, "core_attn", ["core_attn"]):
        names = modules if isinstance(modules, list) else str(modules).replace(",", " ").split()
        known = [str(name) for name in names if str(name) != "mhc"]
        draft.derive("training.recompute", known, "--recompute-modules")
    elif granularity == "selective":
        draft.derive("training.recompute", "selective", "the core of the attention")


def _nearest_recomputation(draft: RunDraft, notes: Mapping[str, Any]) -> tuple[str, str]:
    """Return the nearest of full and no recomputation for a block of layers, and the reason."""
    flag = "--recompute-granularity full"
    count = positive_number(notes.get("recompute-num-layers"))
    model = EVERY_MODEL.get(str(draft.values.get("model", "")))
    layers = draft.get("model.num_layers", model.num_layers if model else 0)
    if str(notes.get("recompute-method", "")) != "block" or not count or not layers:
        return "full", flag
    pieces = draft.get("parallelism.pipeline_parallel") * draft.get("parallelism.virtual_pipeline")
    each = max(1, layers // pieces)
    if count >= each:
        return "full", flag
    nearer = "full" if 2 * count >= each else "none"
    return nearer, f"{count} of {each} layers are recomputed; the nearer of all and none is taken"


def _derive_pieces(draft: RunDraft, notes: dict[str, Any]) -> None:
    """Derive pipeline pieces per rank, and layers per piece where they differ."""
    layers, ranks = draft.get("model.num_layers", 0), draft.get("parallelism.pipeline_parallel")
    each = positive_number(notes.get("num-layers-per-virtual-pipeline-stage"))
    if each and layers and ranks > 1:
        counted = layers + _counted_as_layers(notes)
        if counted >= ranks * each:
            draft.derive(
                "parallelism.virtual_pipeline",
                counted // (ranks * each),
                f"{counted} / {ranks} / {each}",
            )
    layout = read_layout(draft, notes)
    if layout:
        draft.derive("parallelism.pipeline_layout", layout[0], layout[1])
    notes["counted_as_layers"] = _counted_as_layers(notes)


def _counted_as_layers(notes: Mapping[str, Any]) -> int:
    """Return how many of embedding and loss count as layers in the pipeline split."""
    kinds = ("embedding", "loss")
    return sum(is_true(notes.get(f"account-for-{kind}-in-pipeline-split", False)) for kind in kinds)


def _derive_model(draft: RunDraft, notes: Mapping[str, Any]) -> None:
    """Derive the shape of a model given by its sizes."""
    hidden = draft.get("model.hidden_size", 0)
    draft.assume("model.mlp", "gelu", f"no --swiglu ({VERSION})")
    draft.assume("model.tied_embeddings", True, f"tied unless --untie-... ({VERSION})")
    gated = draft.values["model.mlp"] == "swiglu"
    width = int(hidden * 4 * 2 / 3 / 64) * 64 if gated else 4 * hidden
    draft.assume("model.ffn_hidden_size", width, f"from --hidden-size ({VERSION})")
    if notes.get("pad-vocab-size-to"):
        draft.derive("model.vocab_size", notes["pad-vocab-size-to"], "--pad-vocab-size-to")
    names = ("tokenizer-model", "tokenizer-name-or-path", "vocab-file")
    name = next((str(notes[key]) for key in names if key in notes), "")
    kind = str(notes.get("tokenizer-type", "GPT2BPETokenizer" if "gpt2" in name else ""))
    derive_vocabulary(draft, kind, name, VERSION)
    if not is_true(notes.get("group-query-attention", "model.num_key_value_heads" in draft.values)):
        draft.values.pop("model.num_key_value_heads", None)
    if "max-position-embeddings" in notes and notes.get("position-embedding-type", "") not in (
        "rope", "yarn", "none", "mrope", "rotary",
    ):  # fmt: skip
        rows = whole_number(notes["max-position-embeddings"]) or 0
        if str(notes.get("position-embedding-type", "learned_absolute")) == "learned_absolute":
            draft.derive("model.learned_positions", max(0, rows), "--max-position-embeddings")
    if not is_true(notes.get("disable-bias-linear", False)):
        draft.derive("model.biases", True, f"no --disable-bias-linear ({VERSION})")
    _attention(draft, notes)
    _mixture(draft, notes)


def _attention(draft: RunDraft, notes: Mapping[str, Any]) -> None:
    latent = [key for key in draft.values if "latent" in key or key.endswith("rotary_head_size")]
    if not is_true(notes.get("multi-latent-attention", False)):
        for key in [*latent, "model.value_head_size"]:
            draft.values.pop(key, None)
        return
    # Defaults of MLATransformerConfig.
    nope = positive_number(notes.get("qk-head-dim")) or 128
    draft.assume("model.key_value_latent_size", 512, f"MLA's default ({VERSION})")
    draft.assume("model.rotary_head_size", 64, f"MLA's default ({VERSION})")
    draft.assume("model.value_head_size", 128, f"MLA's default ({VERSION})")
    draft.values["model.attention"] = "mla"
    draft.derive(
        "model.head_size", nope + draft.get("model.rotary_head_size"), "with the rotary part"
    )
    draft.values.pop("model.num_key_value_heads", None)


def _mixture(draft: RunDraft, notes: Mapping[str, Any]) -> None:
    if not draft.get("model.num_experts", 0):
        for key in ("experts_per_token", "nodes_per_token", "expert_ffn_hidden_size"):
            draft.values.pop(f"model.{key}", None)
        return
    if "--moe-expert-parallel-size" in str(notes.get("text", "")):
        _deepspeed_mixture(draft, notes)
        return
    draft.assume("model.experts_per_token", 2, f"--moe-router-topk's default ({VERSION})")
    width = draft.get("model.ffn_hidden_size", 0)
    draft.assume("model.expert_ffn_hidden_size", width, "--ffn-hidden-size: experts have no own")
    each = max(1, draft.get("model.expert_ffn_hidden_size"))
    shared = positive_number(notes.get("moe-shared-expert-intermediate-size"))
    if shared:
        draft.derive("model.num_shared_experts", max(1, round(shared / each)), f"{shared} / {each}")
    frequency = notes.get("moe-layer-freq", "1")
    if isinstance(frequency, list):  # of whole numbers as Python has it, or the words of a script
        frequency = ("," if all(isinstance(entry, int) for entry in frequency) else "").join(
            map(str, frequency)
        )
    _frequency(draft, str(frequency))


def _deepspeed_mixture(draft: RunDraft, notes: Mapping[str, Any]) -> None:
    """Derive the experts of Megatron-DeepSpeed (arguments.py: --topk 1, --expert-interval 2)."""
    top, every = positive_number(notes.get("topk")) or 1, notes.get("expert-interval", 2)
    draft.derive("model.experts_per_token", top, "--topk, 1 unless set (Megatron-DeepSpeed)")
    width = draft.get("model.ffn_hidden_size", 0)
    draft.derive("model.expert_ffn_hidden_size", width, "an expert is as wide as a dense layer")
    if positive_number(every) == 2:
        why = "--expert-interval, 2 unless set (Megatron-DeepSpeed)"
        draft.derive("model.dense_layer_every", 2, why)
    elif positive_number(every) != 1:
        draft.contradictions.append(f"--expert-interval {shorten(every)}: {ONLY}")


def _layer_by_layer(draft: RunDraft, experts: list[int]) -> None:
    """Derive the layers without experts from one number for each layer: 1 where it has experts."""
    dense, count = experts.index(1) if 1 in experts else len(experts), len(experts)
    reason = f"--moe-layer-freq, layer by layer: {count} layers"
    layers = draft.get("model.num_layers", count)
    if count != layers:
        contradiction = f"--moe-layer-freq names {count} layers, the model has {layers}."
        draft.contradictions.append(contradiction)
    elif experts == [at % 2 for at in range(count)]:
        draft.derive("model.dense_layer_every", 2, reason)
    elif all(experts[dense:]):
        if dense:
            draft.derive("model.num_dense_layers", dense, reason)
    else:
        draft.contradictions.append(f"{reason}: {ONLY}")


def _listed(text: str) -> list[int]:
    """Return the entries of a list of 0 and 1 in Python: [1]*24, [0]*3+[1]*58, [0,1]*12."""
    pattern = re.sub(r"[()'\"\s]", "", text[:20_000])
    term = r"\[([01](?:,[01])*)\](?:\*(\d{1,4}))?"
    if not re.fullmatch(rf"{term}(?:\+{term})*", pattern):
        return []
    runs = [
        (re.findall("[01]", match[1]), int(match[2] or 1)) for match in re.finditer(term, pattern)
    ]
    if sum(len(entries) * count for entries, count in runs) > _MOST_LAYERS:
        return []
    return [int(entry) for entries, count in runs for _ in range(count) for entry in entries]


def _frequency(draft: RunDraft, text: str) -> None:
    """Derive the layers without experts from a number or a list such as ([0]*3+[1]*58)."""
    if entries := _listed(text):
        _layer_by_layer(draft, entries)
        return
    text = re.sub(r"[][()'\"\s]", "", text)
    if re.fullmatch(r"[01](,[01]){2,4095}", text):
        _layer_by_layer(draft, [int(entry) for entry in text.split(",")])
        return
    if text in ("1", ""):
        return
    leading = re.match(r"0(?:\*(\d{1,4}))?\+1", text)
    alternating = re.fullmatch(r"0,1(?:\*(\d{1,4}))?", text)
    if text == "2" or (
        alternating and 2 * int(alternating[1] or 1) == draft.get("model.num_layers")
    ):
        draft.derive("model.dense_layer_every", 2, f"--moe-layer-freq {shorten(text)}")
    elif leading:
        dense = int(leading[1] or 1)
        draft.derive("model.num_dense_layers", dense, f"--moe-layer-freq {shorten(text)}")
    else:
        draft.contradictions.append(f"--moe-layer-freq {shorten(text)}: {ONLY}")
