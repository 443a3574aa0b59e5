"""Importer of MaxText: its YAML, and `key=value` behind its command.

Read at commit e591f30c and main of August 2026 (`src/maxtext/configs/base.yml`, `types.py`).
Defaults: per_device_batch_size 12, max_target_length 2048, remat_policy full, dtype bfloat16,
weight_dtype float32, ici_fsdp_parallelism and dcn_data_parallelism -1 (the rest of the devices),
all other axes 1. Batches count every device: `per_device_batch_size` times all of them, and times
`gradient_accumulation_steps` (`calculate_global_batch_sizes`). A degree is that within a slice
(`ici_`) times that between slices (`dcn_`).
"""

import math
import re
from collections.abc import Iterator

from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft, Setting, whole_number
from engine.run.importers.key_table import (
    WORKED,
    Handler,
    KeyTable,
    is_absent,
    note_number,
    read_key,
    refuse_value,
    remark,
)
from engine.run.importers.maxtext_model import MODEL_KEYS, derive_maxtext_model, note_model_key
from engine.run.importers.shell import resolve_variables
from engine.run.importers.yaml_text import parse_scalar, read_yaml

SOFTWARE = "MaxText"
_VERSION = "MaxText, August 2026"
_ICI = {"fsdp": -1}
_DCN = {"data": -1}
_SHARDS = ("fsdp", "fsdp_transpose", "expert")
_AXES = ("data", *_SHARDS, "tensor", "tensor_transpose", "tensor_sequence", "context", "pipeline")
# Axes that no prediction here has.
_REFUSED = ("sequence", "autoregressive", "context_autoregressive", "context_usp_ulysses", "diloco")
_TOPOLOGIES = {"v5p": "TPU-v5p", "v6e": "TPU-v6e", "tpu7x": "TPU7x"}


def _axis(setting: Setting, draft: RunDraft) -> None:
    number = whole_number(setting.value)
    if number is None or not (number == -1 or number > 0):
        refuse_value(setting, "-1, or a whole number from 1", draft)
        return
    name = setting.key.rpartition(".")[2].removesuffix("_parallelism")
    if name.partition("_")[2] in _REFUSED and number > 1:
        refuse_value(setting, "this axis is not predicted; 1 is", draft)
        return
    draft.notes.setdefault("axes", {})[name] = number
    draft.report(setting, "understood", WORKED)


def _per_device(setting: Setting, draft: RunDraft) -> None:
    try:
        draft.notes["per_device"] = float(str(setting.value))
    except ValueError:
        refuse_value(setting, "a number is needed", draft)
    else:
        draft.report(setting, "understood", WORKED)


def _remat(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if word == "full":
        draft.set_value(setting, "training.recompute", "full")
    elif word.startswith("minimal") and "offload" not in word:
        # All products are kept, and what lies between them is computed again.
        draft.set_value(setting, "training.recompute", "selective")
    else:
        draft.values["training.recompute"] = "full"
        draft.report_not_modeled(
            setting, "keeps more than a full recomputation, which is shown, and takes less time"
        )


def _dtype(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).lower() in ("bfloat16", "bf16"):
        draft.set_value(setting, "training.precision", "bf16")
    else:
        draft.report_not_modeled(setting, "products in another precision; 16 bits are shown")


def _quantization(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
    elif "fp8" in word or "f8" in word:
        draft.set_value(setting, "training.precision", "fp8")
    else:
        draft.report_not_modeled(setting, "products in fewer bits; 16 bits are shown")


def _weights(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).lower() in ("float32", "fp32"):
        draft.report(setting, "understood", "32 bits, as shown")
    else:
        draft.report_not_modeled(setting, "32 bits are shown, which take more memory")


def _optimizer(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).lower()
    kinds = {"adamw": "adam", "adam_pax": "adam", "sgd": "sgd", "muon": "muon"}
    if word in kinds:
        draft.set_value(setting, "training.optimizer", kinds[word])
    else:
        refuse_value(setting, f"known are {', '.join(kinds)}", draft)


def _attention(setting: Setting, draft: RunDraft) -> None:
    if str(setting.value).lower() == "dot_product":
        draft.report_not_modeled(setting, "its scores are kept: more memory and time than shown")
    else:
        draft.report(setting, "understood", "attention that keeps no scores")


def _microbatches(setting: Setting, draft: RunDraft) -> None:
    draft.notes["microbatches"] = max(0, whole_number(setting.value) or 0)
    draft.report(setting, "understood", WORKED)


def _repeats(setting: Setting, draft: RunDraft) -> None:
    if (whole_number(setting.value) or 0) > 1:
        draft.report_not_modeled(setting, "stages in turns: a shorter bubble than shown")
    else:
        draft.report(setting, "understood", "each stage holds layers that follow each other")


def _hardware(setting: Setting, draft: RunDraft) -> None:
    draft.notes["hardware"] = str(setting.value).lower()
    draft.report(setting, "understood", WORKED)


def _topology(setting: Setting, draft: RunDraft) -> None:
    word = str(setting.value).strip().lower()
    if not word:
        draft.report(setting, "understood", "not set")
        return
    draft.notes["topology"] = word.partition("-")[0]
    draft.report(setting, "understood", WORKED)


_OFFLOADED = "waits in the host's memory: the GPU holds less than shown, and a step takes longer"
_HANDLERS: dict[str, Handler] = {
    f"{where}_{axis}_parallelism": _axis for where in ("ici", "dcn") for axis in (*_AXES, *_REFUSED)
}
_HANDLERS |= {
    "per_device_batch_size": _per_device,
    "gradient_accumulation_steps": note_number("steps"),
    "max_target_length": note_number("length"),
    "num_pipeline_microbatches": _microbatches,
    "num_pipeline_repeats": _repeats,
    "grad_dtype": _weights,
    "remat_policy": _remat,
    "dtype": _dtype,
    "quantization": _quantization,
    "weight_dtype": _weights,
    "opt_type": _optimizer,
    "attention": _attention,
    "hardware": _hardware,
    "compile_topology": _topology,
}
_HANDLERS |= dict.fromkeys(MODEL_KEYS, note_model_key)
TABLE = KeyTable(
    handlers=_HANDLERS,
    not_modeled={
        "optimizer_memory_host_offload": f"the optimizer's state {_OFFLOADED}",
        "parameter_memory_host_offload": f"what is not worked on {_OFFLOADED}",
        "shard_optimizer_over_data": "states spread over more ranks than shown",
        "use_multimodal": "a vision tower is left out",
        "mu_dtype": "one of Adam's states in fewer bits than shown",
        "enable_diloco": "sites that meet rarely",
        "use_dpo": "preferences: a reference model, and two sequences of a sample",
        "mtp_num_layers": "layers that predict a further token",
    },
    without_effect={
        "names, paths and logging": (
            "run_name", "base_output_directory", "base_config", "gcs_metrics", "enable_tensorboard",
            "log_*", "metrics_file", "save_config_to_gcs", "vertex_*", "use_vertex*", "profiler*",
            "skip_first_n_steps_for_profiler", "upload_*", "tensorboard_*", "hlo_*", "dump_*",
            "goodput_*", "monitor_*", "enable_goodput*", "report_*", "work_group", "user_name",
            "exp_name", "workspace", "framework", "config", "hf_access_token", "hf_path",
        ),
        "saving, loading and evaluation lie between steps": (
            "enable_checkpointing", "async_checkpointing", "checkpoint_*", "load_*", "save_*",
            "eval_*", "enable_single_replica*", "enable_emergency*", "local_checkpoint*",
            "use_replicator*", "force_unroll", "enable_checkpoint*", "enable_continuous*",
        ),
        "data are taken to come in time": (
            "dataset_*", "tokenizer_*", "train_split", "data_*", "grain_*", "hf_train*", "hf_data*",
            "reuse_example_batch", "packing", "num_epoch", "tokenize_*", "add_bos", "add_eos",
            "max_segments_per_seq", "per_device_batch_size_*", "expansion_factor_real_data",
            "use_iota_embed", "shardy", "enable_data_shuffling", "colocated_python*",
        ),
        "how many steps there are, and numbers of the optimizer": (
            "steps", "learning_rate*", "warmup_*", "cosine_*", "adam_*", "gradient_clipping*",
            "learning_rate_schedule_steps", "init_weights_seed", "opt_*", "lr_*",
        ),
        "how XLA compiles": (
            "scan_layers", "jax_cache_dir", "xla_*", "sa_*", "use_tokamax*", "compiled_*",
            "jax_*", "skip_jax_distributed_system", "compile_*", "attn_*", "tile_*", "cost_*",
            "allow_split_physical_axes", "mesh_axes", "logical_axis_rules", "data_sharding",
            "shard_mode", "num_slices", "custom_mesh*", "use_sparsecore*", "megablox",
            "sparse_matmul", "capacity_factor", "use_custom_sort_vjp", "use_ring_of_experts",
            "wi_tile*", "wo_tile*", "context_parallel_*", "matmul_precision",
        ),
        "norms, positions and bounds of values": (
            "normalization_layer_epsilon", "rope_*", "logits_dot_in_fp32", "cast_logits*",
            "enable_dropout", "dropout_rate", "use_qk_norm", "z_loss*", "stochastic_rounding",
            "float32_*", "activations_in_float32", "max_position_embeddings", "mscale", "beta_*",
            "original_max_position_embeddings", "routed_*", "norm_topk_prob", "n_routing_groups",
            "topk_routing_group", "load_balance_loss_weight", "use_random_routing", "mu_scale",
            "final_logits_soft_cap", "attn_logits_soft_cap", "use_post_*", "load_balance*",
        ),
        "where recomputation keeps what `custom` names": (
            "decoder_layer_input", "mlpwi*", "mlpwo", "moe_mlp*", "query_proj", "key_proj",
            "value_proj", "out_proj", "qkv_proj", "kv_proj", "mla_q", "mla_kv", "attention_out",
        ),
        "generation is not trained": (
            "prefill_*", "ar_cache*", "autoregressive_*", "inference_*", "decode_*", "kv_quant*",
            "quantize_kvcache", "max_prefill*", "stack_*", "return_log_prob",
        ),
    },
)  # fmt: skip
_OVERRIDE = re.compile(
    r"(?:^|(?<=[\s\"'(]))([a-z][a-z0-9_]*)=(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\[[^\]\n]{0,300}\]|"
    r"[^\s\\\"']{0,300})"
)
# The file behind MaxText's command, unless it is that of the defaults.
_FILE = re.compile(
    r"\bmaxtext\.[\w.$]+\s[^;|&\n]{0,200}?[/\s\"'](?P<name>[\w.-]+\.ya?ml)", re.IGNORECASE
)
# Primus nests what it changes.
_NESTED = re.compile(r"^(?:modules\.[\w-]+\.)(?:overrides\.)?")


def _import(settings: Iterator[Setting] | list[Setting], draft: RunDraft) -> None:
    draft.values["training.framework"] = "xla"
    for setting in settings:
        key = _NESTED.sub("", setting.key)
        if key != setting.key:
            draft.notes.setdefault("hardware", "gpu")  # Primus runs on Instincts
        known = Setting(key=key, value=setting.value, line=setting.line)
        if key == "model" and str(setting.value).endswith((".yaml", ".yml")):
            name = str(setting.value).rpartition(".")[0].replace("_", "-")
            known = Setting(key="model_name", value=name, line=setting.line)
        read_key(known, TABLE, draft)


def _read_yaml(piece: Piece, draft: RunDraft) -> None:
    _import(read_yaml(piece.text, piece.line), draft)


def _overrides(piece: Piece) -> Iterator[Setting]:
    """Yield `key=value` of a script's commands; comments are left out."""
    for number, line in enumerate(resolve_variables(piece.text).splitlines(), piece.line):
        code = re.sub(r"(^|\s)#.*$", " ", line[:40_000])
        for match in _OVERRIDE.finditer(code):
            value = match[2].strip("\"'")
            yield Setting(key=match[1], value=parse_scalar(value) if value else "", line=number)


def _read_overrides(piece: Piece, draft: RunDraft) -> None:
    if "MaxText YAML" in draft.dialects:
        draft.lines.clear()  # what the file says is no contradiction
    for key, gpu in _TOPOLOGIES.items():
        if re.search(rf"(?:tpu-type=|/tpu/){key}(?:[-/\s]|$)", piece.text):
            draft.notes.setdefault("topology", key)
            draft.notes.setdefault("machine", gpu)
    for match in _FILE.finditer(piece.text):
        draft.notes.setdefault("settings file", match["name"])
    _import(_overrides(piece), draft)


def _ask_for_file(draft: RunDraft) -> None:
    """Ask for the file that the command names, unless what it may hold is said beside it."""
    file = draft.notes.get("settings file", "base.yml")
    if file == "base.yml" or "MaxText YAML" in draft.dialects:
        return
    missing = f"{file} holds further settings: paste it too"
    if {"per_device", "length", "words"} <= set(draft.notes):
        draft.warnings.append(missing)
    else:
        draft.contradictions.append(missing)


def finish_maxtext(draft: RunDraft) -> None:
    """Derive degrees, GPUs and batch."""
    _ask_for_file(draft)
    derive_maxtext_model(draft)
    degrees = _degrees(draft)
    if degrees is None:
        return
    tensor = math.prod(degrees[axis] for axis in ("tensor", "tensor_transpose", "tensor_sequence"))
    context, pipeline = degrees["context"], degrees["pipeline"]
    shards = math.prod(degrees[axis] for axis in _SHARDS)
    for name, size, why in (
        ("tensor", tensor, "the axes named tensor"),
        ("context", context, "the axis named context"),
        ("pipeline", pipeline, "the axis named pipeline"),
        ("expert", degrees["expert"], "the axis named expert"),
    ):
        if size > 1:
            draft.derive(f"parallelism.{name}_parallel", size, f"{why}, within slices x between")
    if degrees["tensor_sequence"] > 1:
        draft.derive("parallelism.sequence_parallel", True, "ici_tensor_sequence_parallelism")
    _sharding(draft, shards * context, degrees["data"])
    if pipeline > 1:
        draft.derive("training.schedule", "gpipe", "all forward passes, then all backward passes")
    _batch(draft, degrees, tensor * context * pipeline)
    draft.assume("training.recompute", "full", f"remat_policy ({_VERSION})")
    draft.assume("training.precision", "bf16", f"dtype ({_VERSION})")
    draft.derive(
        "sequence_length", draft.notes.get("length", 2048), f"max_target_length ({_VERSION})"
    )
    _machine(draft)


def _sharding(draft: RunDraft, ranks: int, copies: int) -> None:
    """Derive what is sharded: weights, gradients and states lie over the same axes."""
    axes = draft.notes.get("axes", {})
    open_ended = -1 in (axes.get("ici_fsdp", -1), axes.get("dcn_fsdp", 1))
    stage = 3 if ranks > 1 or open_ended else 0
    draft.derive("parallelism.zero_stage", stage, "weights lie over the axes fsdp, expert, context")
    if stage and copies > 1:
        draft.derive("parallelism.shard_group", ranks, "the axis data keeps copies")


def _degrees(draft: RunDraft) -> dict[str, int] | None:
    """Return the size of every axis; -1 is what is left of the devices."""
    said, notes = draft.notes.get("axes", {}), draft.notes
    inner = {axis: said.get(f"ici_{axis}", _ICI.get(axis, 1)) for axis in _AXES}
    outer = {axis: said.get(f"dcn_{axis}", _DCN.get(axis, 1)) for axis in _AXES}
    for name, sizes in (("ici", inner), ("dcn", outer)):
        if list(sizes.values()).count(-1) > 1:
            draft.contradictions.append(f"two axes {name}_..._parallelism are -1; allowed: one")
            return None
    launched = int(notes["nodes"] * notes["per_node"]) if {"nodes", "per_node"} <= set(notes) else 0
    world = launched or int(draft.values.get("parallelism.world_size", 0))
    slices = math.prod(size for size in outer.values() if size > 0)
    if -1 in inner.values():
        # Nothing says where a slice ends: at the devices of a node, or at all of them.
        whole = -1 not in outer.values() and world
        _fill(inner, world // slices if whole else int(notes.get("per_node", 8)))
    within = math.prod(inner.values())
    if -1 in outer.values():
        _fill(outer, world // within)
    total = within * math.prod(outer.values())
    if world and total != world:
        draft.contradictions.append(f"the axes have {total} devices, and {world} are launched")
        return None
    if not world and -1 in (said.get("ici_fsdp", -1), *said.values()):
        draft.assume("parallelism.world_size", total, "no text says how many devices")
    elif "parallelism.world_size" not in draft.values:
        draft.derive("parallelism.world_size", total, "the product of all axes")
    return {axis: inner[axis] * outer[axis] for axis in _AXES}


def _fill(sizes: dict[str, int], devices: int) -> None:
    """Set the axis that is -1 to what the others leave of the devices, at least 1."""
    others = math.prod(size for size in sizes.values() if size > 0)
    axis = next(axis for axis, size in sizes.items() if size == -1)
    sizes[axis] = max(1, devices // others)


def _batch(draft: RunDraft, degrees: dict[str, int], ranks: int) -> None:
    """Derive the batches; every device counts, those of one replica too."""
    notes = draft.notes
    total = ranks * degrees["data"] * math.prod(degrees[axis] for axis in _SHARDS)
    per_device, steps = notes.get("per_device", 12.0), notes.get("steps", 1)
    micro = per_device * ranks
    split = 1
    if degrees["pipeline"] > 1:
        split = max(notes.get("microbatches", 0), degrees["pipeline"])
    if not math.isclose(micro / split, round(micro / split)) or micro < split:
        draft.contradictions.append(
            f"per_device_batch_size {per_device:g} on {ranks} devices of a replica is no whole "
            f"number of {split} micro-batches"
        )
        return
    why = "per_device_batch_size x the devices of a replica"
    draft.derive("training.micro_batch_size", round(micro) // split, why)
    batch = round(per_device * total) * steps
    draft.derive("training.global_batch_size", batch, f"per_device_batch_size x {total} x {steps}")


def _machine(draft: RunDraft) -> None:
    """Derive the accelerator, or say that the one shown is a guess."""
    gpu = _TOPOLOGIES.get(str(draft.notes.get("topology", "")))
    if gpu:
        draft.derive("cluster.gpu", gpu, "the topology that the text names")
    elif draft.notes.get("hardware", "tpu") == "tpu":
        remark(draft, "hardware", "tpu", "no text says which TPU; choose it, another is shown")


YAML_READER = Reader(read=_read_yaml, finish=finish_maxtext)
OVERRIDES_READER = Reader(read=_read_overrides, finish=finish_maxtext)
