"""Values derived from several torchtitan settings, and torchtitan's defaults."""

from collections.abc import Mapping

from engine.catalog.recent_models import EVERY_MODEL
from engine.run.importers.import_report import (
    RunDraft,
    is_true,
    positive_number,
    shorten,
    whole_number,
)


def check_batch(batch: int, local: int, ranks: int, length: int) -> str:
    """Return torchtitan's error for a batch that does not divide, or an empty text.

    Args:
        batch: sequences of a step.
        local: of one forward and backward pass of a rank.
        ranks: data-parallel ones.
        length: of a sequence where the text counts tokens, otherwise 0.
    """
    if batch % (local * ranks) == 0:
        return ""
    if length:
        return (
            f"training.num_tokens_per_train_step ({batch * length}) must be divisible by the "
            "number of tokens processed globally in one gradient accumulation iteration "
            f"({local * ranks * length})."
        )
    return (
        "global batch size must be multiple of local batch size times data-parallel degree "
        f"({batch} % ({local} * {ranks}) != 0)"
    )


def check_stages(draft: RunDraft, pipeline: int) -> str:
    """Return torchtitan's error for more stages than layers, or an empty text."""
    model = EVERY_MODEL.get(str(draft.values.get("model", "")))
    stages = pipeline * draft.get("parallelism.virtual_pipeline")
    layers = model.num_layers + 2 if model else 0  # embedding and output count as one each
    if model is None or pipeline < 2 or stages <= layers:
        return ""
    return f"Number of stages ({stages}) cannot be greater than effective layers ({layers})"


VERSION = "torchtitan 0.3.0"
_SCHEDULES = {
    "gpipe": "gpipe",
    "1f1b": "1f1b",
    "interleaved1f1b": "interleaved",
    "interleavedzerobubble": "zb-1p",
    "zbvzerobubble": "zbv",
    "dualpipev": "dualpipe",
}
_SINGLE = ("gpipe", "1f1b")
# (family, flavor) -> row of the catalog.
FLAVORS: Mapping[tuple[str, str], str] = {
    ("llama3", "8b"): "llama-3-8b",
    ("llama3", "70b"): "llama-3-70b",
    ("llama3", "405b"): "llama-3-405b",
    ("llama3", "1b"): "llama-3.2-1b",
    ("llama3", "3b"): "llama-3.2-3b",
    ("llama4", "17bx16e"): "llama-4-scout",
    ("llama4", "17bx128e"): "llama-4-maverick",
    ("deepseek_v3", "671b"): "deepseek-v3",
    ("deepseek_v3", "16b"): "deepseek-v2-lite",
    ("moonlight", "16b"): "moonlight-16b",
    ("qwen3", "4b"): "qwen3-4b",
    ("qwen3", "8b"): "qwen3-8b",
    ("qwen3", "14b"): "qwen3-14b",
    ("qwen3", "32b"): "qwen3-32b",
    ("qwen3", "30b-a3b"): "qwen3-30b-a3b",
    ("qwen3", "235b-a22b"): "qwen3-235b-a22b",
    ("gpt_oss", "20b"): "gpt-oss-20b",
    ("gpt_oss", "120b"): "gpt-oss-120b",
}


def finish_torchtitan(draft: RunDraft) -> None:
    """Derive values from several settings, and assume torchtitan's defaults."""
    notes, get = draft.notes, draft.get
    tensor, pipeline = get("parallelism.tensor_parallel"), get("parallelism.pipeline_parallel")
    context = get("parallelism.context_parallel")
    copies = positive_number(notes.get("parallelism.data_parallel_replicate_degree")) or 1
    shard = whole_number(notes.get("parallelism.data_parallel_shard_degree")) or -1
    others = copies * tensor * pipeline * context
    world = _derive_world_size(draft, shard, others)
    if shard < 0:
        shard = max(1, world // others)
    if others * shard != world:
        draft.contradictions.append(
            f"Invalid parallel dims: dp_replicate({copies}) * dp_shard({shard}) * cp({context}) * "
            f"tp({tensor}) * pp({pipeline}) != WORLD_SIZE({world})"
        )
        return
    sharded = shard * context
    draft.derive(
        "parallelism.zero_stage",
        (
            3
            if is_true(notes.get("parallelism.fsdp_reshard_after_forward", "default") != "never")
            else 2
        )
        if sharded > 1
        else 0,
        "FSDP2: parameters, gradients and optimizer states are sharded",
    )
    if copies > 1:
        draft.derive("parallelism.shard_group", sharded, "HSDP: dp_shard x cp")
    _check_experts(draft, shard * context * tensor)
    _derive_schedule(draft, pipeline)
    _derive_batch(draft, shard * copies, pipeline)
    draft.assume("training.recompute", "selective", f"activation_checkpoint.mode ({VERSION})")
    draft.assume("training.precision", "bf16", f"training.mixed_precision_param ({VERSION})")
    if "model" not in notes.get("compiled parts", ["model"]):
        draft.derive("training.compiled", False, "compile.components has no model")
    draft.assume("training.compiled", False, f"compile.enable ({VERSION})")
    draft.assume(
        "parallelism.sequence_parallel", tensor > 1, f"enable_sequence_parallel ({VERSION})"
    )
    _derive_model(draft)
    fault = check_stages(draft, pipeline)
    if fault:
        draft.contradictions.append(fault)


def _derive_world_size(draft: RunDraft, shard: int, others: int) -> int:
    notes = draft.notes
    if "per_node" in notes:
        world = int(notes["per_node"] * notes.get("nodes", 1))
        draft.derive("parallelism.world_size", world, "nodes × processes per node")
    elif shard > 0:
        world = others * shard
        draft.derive("parallelism.world_size", world, "the product of all degrees")
    else:
        world = -(-8 // others) * others
        draft.assume("parallelism.world_size", world, "no launcher says how many GPUs; one node")
    return int(draft.values["parallelism.world_size"])


def _check_experts(draft: RunDraft, ranks: int) -> None:
    experts = draft.get("parallelism.expert_parallel")
    if ranks % experts:
        draft.contradictions.append(
            f"expert_parallel_degree ({experts}) must divide dp_shard * cp * tp ({ranks})"
        )


def _derive_schedule(draft: RunDraft, pipeline: int) -> None:
    name = str(draft.notes.get("parallelism.pipeline_parallel_schedule", "1F1B")).lower()
    if pipeline == 1:
        return
    known = _SCHEDULES.get(name.replace("_", ""))
    if known is None:
        draft.contradictions.append(f"pipeline_parallel_schedule {shorten(name)} is not known here")
        return
    draft.derive("training.schedule", known, "pipeline_parallel_schedule")
    if known not in _SINGLE and known != "dualpipe" and known != "zbv":
        draft.assume("parallelism.virtual_pipeline", 2, "two stages per rank, the least it takes")


def _derive_batch(draft: RunDraft, ranks: int, pipeline: int) -> None:
    """Derive the micro-batch: a pipeline cuts the local batch, accumulation repeats it."""
    notes, length = draft.notes, draft.get("sequence_length", 0)
    tokens = positive_number(notes.get("training.num_tokens_per_microbatch_per_dp_rank"))
    if tokens:
        micro = max(1, tokens // length) if length else 1
        parts = positive_number(notes.get("parallelism.num_pp_microbatches")) or 1
        local = micro * (parts if pipeline > 1 else 1)
        total = positive_number(notes.get("training.num_tokens_per_train_step"))
        batch = max(1, total // length) if total and total > 0 and length else local * ranks
    else:
        stated = notes.get("training.local_batch_size", notes.get("training.batch_size"))
        local = positive_number(stated) or 1
        if stated is None:
            draft.assume("local_batch_size", 8, f"training.local_batch_size ({VERSION})")
            local = int(draft.values.pop("local_batch_size"))
        size = positive_number(notes.get("parallelism.pipeline_parallel_microbatch_size")) or 1
        micro = min(local, max(1, size)) if pipeline > 1 else local
        batch = whole_number(notes.get("training.global_batch_size")) or -1
        steps = positive_number(notes.get("training.gradient_accumulation_steps")) or 1
        batch = batch if batch > 0 else local * ranks * steps
    draft.derive("training.micro_batch_size", micro, "what one forward pass of a rank takes")
    draft.derive("training.global_batch_size", batch, "local batch x data-parallel ranks")
    fault = check_batch(batch, local, ranks, length if tokens else 0)
    if fault:
        draft.contradictions.append(fault)


def _derive_model(draft: RunDraft) -> None:
    """Derive the model from its name and flavor, or from a recipe's name."""
    name = str(draft.notes.get("model.name", "")).lower()
    flavor = str(draft.notes.get("model.flavor", "")).lower()
    recipe = str(draft.notes.get("recipe", "")).lower()
    if name.startswith(("flux", "vlm")):
        draft.contradictions.append(
            f"model.name {shorten(name)}: models of images are not predicted"
        )
    for (family, size), key in FLAVORS.items():
        named = name == family or (not name and recipe.startswith(family))
        if (named and flavor == size) or recipe.startswith(f"{family}_{size}"):
            draft.derive("model", key, f"{family} {size}")
            return
