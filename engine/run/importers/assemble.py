"""Import of a text with one or several configurations into a run file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.run.file import InputError, read_run
from engine.run.importers.accelerate import finish_accelerate
from engine.run.importers.deepspeed import finish_deepspeed
from engine.run.importers.import_report import LONGEST_TEXT, ReportEntry, RunDraft, TextError
from engine.run.importers.megatron import VERSION
from engine.run.importers.megatron_checks import (
    check_batch,
    check_experts,
    check_layers,
    check_world,
)
from engine.run.importers.megatron_derived import finish_megatron, finish_scaling
from engine.run.importers.read_piece import read_piece
from engine.run.importers.recognize import split_configurations
from engine.run.importers.torchtitan_derived import finish_torchtitan
from engine.run.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDefaults:
    """Defaults for values that no text contains.

    Attributes:
        model: row of the catalog; empty: it must be said.
        cluster: of a run file.
        world_size: GPUs; 0: one node, or what the degrees need.
    """

    model: str = ""
    cluster: Mapping[str, Any]
    world_size: int = 0


DGX_H100: Mapping[str, Any] = {
    "gpu": "H100-SXM",
    "gpus_per_node": 8,
    "nics_per_node": 8,
    "nic_bandwidth": 50e9,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """The result of an import: entries, contradictions, document and run.

    Attributes:
        dialects: what was recognized, in the order of the text.
        entries: every key.
        contradictions: what does not fit together, as the framework would say it.
        document: the run file; empty where it could not be put together.
        run: what it describes, or nothing.
    """

    dialects: tuple[str, ...]
    entries: tuple[ReportEntry, ...]
    contradictions: tuple[str, ...]
    document: Mapping[str, Any]
    run: Run | None


def import_run(text: str, defaults: ImportDefaults | None = None) -> ImportedRun:
    """Return the imported run of a text; raise `TextError` with line, column and reason."""
    if len(text) > LONGEST_TEXT:
        raise TextError(f"line 1: {len(text)} characters; allowed: at most {LONGEST_TEXT}")
    draft = RunDraft()
    for piece in split_configurations(text):
        draft.dialects.append(piece.dialect)
        read_piece(piece, draft)
    return _assemble(draft, defaults or ImportDefaults(cluster=DGX_H100))


def _assemble(draft: RunDraft, defaults: ImportDefaults) -> ImportedRun:
    if "document" in draft.notes:
        document: Mapping[str, Any] = draft.notes["document"]
    else:
        if defaults.world_size:
            # Asked for beside the text: what is derived, as the batch, follows from it.
            draft.values["parallelism.world_size"] = defaults.world_size
        _derive(draft)
        document = _run_document(draft, defaults)
    run = None
    if "model" not in document and not draft.contradictions:
        draft.contradictions.append(_NO_MODEL)
    if not draft.contradictions:
        try:
            run = read_run(document)
        except InputError as error:
            draft.contradictions += error.problems
    return ImportedRun(
        dialects=tuple(draft.dialects),
        entries=tuple(draft.entries),
        contradictions=tuple(draft.contradictions),
        document=document,
        run=run,
    )


_NO_MODEL = "no text says which model: add its config.json, or arguments that say its shape"


def _derive(draft: RunDraft) -> None:
    """Complete the draft by the rules of the recognized framework."""
    said = " ".join(draft.dialects)
    if "torchtitan" in said:
        finish_torchtitan(draft)
    elif "DeepSpeed" in said:
        finish_deepspeed(draft)
    elif "accelerate" in said:
        finish_accelerate(draft)
    elif "Megatron" in said:
        finish_megatron(draft)
        _derive_ranks(draft)


def _derive_ranks(draft: RunDraft) -> None:
    """Derive Megatron's world size and batch."""
    notes, get = draft.notes, draft.get
    parts = get("parallelism.tensor_parallel") * get("parallelism.pipeline_parallel")
    parts *= get("parallelism.context_parallel")
    if "per_node" in notes and "parallelism.world_size" not in draft.values:
        world = notes["per_node"] * notes.get("nodes", 1)
        draft.derive("parallelism.world_size", world, "nodes × processes per node")
    if notes.get("recipe_gpus") and "parallelism.world_size" not in draft.values:
        draft.derive("parallelism.world_size", notes["recipe_gpus"], "the recipe's name")
    experts = get("parallelism.expert_parallel") * get("parallelism.expert_tensor_parallel")
    stage = max(parts // get("parallelism.pipeline_parallel"), experts)
    least = get("parallelism.pipeline_parallel") * stage
    world = -(-8 // least) * least
    draft.assume("parallelism.world_size", world, "no launcher says how many GPUs")
    world = draft.values["parallelism.world_size"]
    fault = check_world(draft, world)
    if fault:
        draft.contradictions.append(fault)
        return
    draft.assume("training.micro_batch_size", 1, f"--micro-batch-size is missing ({VERSION})")
    ranks, micro = world // parts, get("training.micro_batch_size")
    draft.assume("training.global_batch_size", micro * ranks, f"micro-batch x ranks ({VERSION})")
    faults = (check_layers(draft), check_experts(draft, world), check_batch(draft, ranks))
    draft.contradictions += [fault for fault in faults if fault]


def _run_document(draft: RunDraft, defaults: ImportDefaults) -> dict[str, Any]:
    """Return the run file of a draft, with assumed values for the remaining required keys."""
    if "model" not in draft.values and "model.num_layers" not in draft.values and defaults.model:
        draft.assume("model", defaults.model, "no text names the model; add its config.json")
    for key, value in defaults.cluster.items():
        draft.assume(f"cluster.{key}", value, "no text names the machines")
    if "per_node" in draft.notes:
        draft.values["cluster.gpus_per_node"] = draft.notes["per_node"]
    if defaults.world_size:
        draft.values["parallelism.world_size"] = defaults.world_size
    length = 8192 if "training.framework" in draft.values else 4096
    draft.assume("sequence_length", length, "no text says the length")
    draft.assume("training.micro_batch_size", 1, "no text says the batch")
    draft.assume("parallelism.world_size", 8, "no text says how many GPUs")
    draft.assume("training.global_batch_size", draft.values["parallelism.world_size"], "likewise")
    draft.assume("training.precision", "bf16", "no text says the precision")
    if draft.values.get("training.framework") == "megatron":
        finish_scaling(draft)
    return _nest_sections(draft.values)


def _nest_sections(values: Mapping[str, Any]) -> dict[str, Any]:
    sections: dict[str, Any] = {}
    named = "model" in values
    for path, value in values.items():
        section, point, key = path.partition(".")
        if not point:
            sections[section] = value
        elif not (named and section == "model"):
            sections.setdefault(section, {})[key] = value
    order = ("model", "sequence_length", "cluster", "parallelism", "training")
    return {key: sections[key] for key in order if key in sections}
