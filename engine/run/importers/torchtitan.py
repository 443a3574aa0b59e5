"""Configurations of torchtitan in its three dialects.

TOML up to 0.2.2, Python of 0.3.0, and Python of the main branch since August 2026, whose batch
fields have other names (`num_tokens_per_microbatch_per_dp_rank` and so on).
"""

from collections.abc import Mapping

from engine.run.importers.import_report import (
    OFFLOADED,
    Draft,
    Given,
    flag,
    positive,
    shorten,
    whole,
)

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
    "parallelism.pipeline_parallel_layers_per_stage",
    "parallelism.fsdp_reshard_after_forward",
    "training.local_batch_size",
    "training.batch_size",
    "training.global_batch_size",
    "training.num_tokens_per_microbatch_per_dp_rank",
    "training.num_tokens_per_train_step",
    "model.name",
    "model.flavor",
)
WITHOUT_EFFECT = (
    "job.", "profiling.", "profiler.", "metrics.", "checkpoint.", "lr_scheduler.", "comm.",
    "fault_",
    "validation.", "experimental.", "memory_estimation.", "debug.", "hf_assets", "tokenizer",
    "training.dataset", "training.steps", "training.max_norm", "training.seed", "dataloader", "def",
    "training.deterministic", "training.gc", "optimizer.lr", "optimizer.eps", "optimizer.beta",
    "optimizer.weight", "optimizer.implementation", "model.tokenizer", "model.hf", "model.print",
    "validator", "dump_folder", "nnodes", "optimizer.early",
)  # fmt: skip


def take_torchtitan(given: list[Given], draft: Draft) -> None:
    """Read settings of torchtitan into a draft."""
    draft.values["training.framework"] = "fsdp"
    for one in given:
        name = one.key.removeprefix("--").replace("-", "_")
        name = _today(name.removeprefix("config.").removeprefix("cfg."))
        if name in COUNTS:
            _count(one, COUNTS[name], draft)
        elif name in NOTED:
            draft.notes[name] = one.value
            draft.tell(one, "understood", "worked into what is derived below")
        elif handler := next((_HANDLERS[key] for key in _HANDLERS if name.startswith(key)), None):
            handler(one, name, draft)
        elif name == "def":
            draft.notes["recipe"] = str(one.value)
            draft.tell(one, "understood", "the model, if its name is that of one")
        elif "offload" in name and flag(one.value):
            draft.tell(one, "ignored", OFFLOADED)
        elif name.startswith(WITHOUT_EFFECT):
            draft.tell(one, "ignored", "changes neither time nor memory that is predicted here")
        else:
            draft.tell(one, "ignored", "not known to this importer")


def _today(name: str) -> str:
    """Return the present name of a degree: they stood in other sections before 0.1."""
    if name == "training.data_parallel_degree":
        return "parallelism.data_parallel_shard_degree"
    section, _, key = name.partition(".")
    moved = f"parallelism.{key}"
    known = moved in COUNTS or moved in NOTED or moved in _HANDLERS
    return moved if section in ("training", "experimental") and known else name


def _count(one: Given, path: str, draft: Draft) -> None:
    number = whole(one.value)
    if number is None or number < 1:
        draft.tell(one, "ignored", f"{shorten(one.value)} is no degree")
    else:
        draft.take(one, path, number)


def _checkpoint(one: Given, name: str, draft: Draft) -> None:
    """Read `mode`, or the class of 0.3.0: FullAC, SelectiveAC, NoAC."""
    word = str(one.value).lower()
    if name.endswith(("selective_ac_option", "option")) and word not in ("op",):
        draft.tell(one, "ignored", "by layer: taken as by operation")
    elif "full" in word:
        draft.take(one, "training.recompute", "full")
    elif "selective" in word or word == "op":
        draft.take(one, "training.recompute", "selective")
    elif word in ("none", "noac", "noac.config"):
        draft.take(one, "training.recompute", "none")
    else:
        draft.tell(one, "ignored", "changes little of what is kept")


def _compiled(one: Given, name: str, draft: Draft) -> None:
    if name.endswith(("compile", "enable")):
        draft.take(one, "training.compiled", flag(one.value))
    elif name == "compile.components" and isinstance(one.value, list):
        draft.notes["compiled parts"] = [str(part) for part in one.value]
        draft.tell(one, "understood", "a model that is not among them is not compiled")
    elif name == "compile.enable_async_tensor_parallel":
        _async(one, name, draft)
    else:
        draft.tell(one, "ignored", "changes neither time nor memory that is predicted here")


def _converters(one: Given, name: str, draft: Draft) -> None:
    word = str(one.value).lower()
    if "nvfp4" in word:
        draft.take(one, "training.precision", "fp4")
    elif "float8" in word or "mx" in word or ("float8" in name and flag(one.value)):
        draft.take(one, "training.precision", "fp8")
    else:
        draft.tell(one, "ignored", "a detail of the converter")


def _sequence(one: Given, name: str, draft: Draft) -> None:
    off = name.startswith("parallelism.disable")
    draft.take(one, "parallelism.sequence_parallel", flag(one.value) != off)


def _async(one: Given, name: str, draft: Draft) -> None:
    draft.take(one, "training.overlap_tensor_parallel", flag(one.value))


def _optimizer(one: Given, name: str, draft: Draft) -> None:
    word = str(one.value).lower()
    draft.take(one, "training.optimizer", "muon" if "muon" in word else "adam")


def _processes(one: Given, name: str, draft: Draft) -> None:
    number = positive(one.value)
    if number:
        key = "nodes" if name in ("nnodes", "NNODES") else "per_node"
        draft.notes[key] = number
        draft.tell(one, "understood", "how many processes are launched")
    else:
        draft.tell(one, "ignored", f"{shorten(one.value)} is no whole number")


def _flavor(one: Given, name: str, draft: Draft) -> None:
    draft.notes["model.flavor"] = one.value
    draft.tell(one, "understood", "the size of the model")


def _graphs(one: Given, name: str, draft: Draft) -> None:
    draft.take(one, "training.cuda_graphs", not flag(one.value))


_HANDLERS = {
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
    "nproc_per_node": _processes,
    "nnodes": _processes,
    "NGPU": _processes,
    "NNODES": _processes,
}
