"""The valid run nearest to the inputs, and the changes to get there.

A run file that does not divide is refused; a reader who drags one number should not lose the whole
figure. So sizes are lowered to the next one that divides, and each change is said.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

from engine.catalog.models import MODELS, Model
from engine.catalog.power_limited import LIMITED_KEYS
from engine.core.text import Text, say
from engine.core.units import COUNT, Count
from engine.form.own_gpu import OWN_GPU, own_gpu_changes, own_gpu_section
from engine.form.run.inputs import CUSTOM, LIMITED, RECENT_NAMES, Inputs
from engine.run import document
from engine.run.run import Run

_SHAPE = (
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "ffn_hidden_size",
    "vocab_size",
    "mlp",
    "tied_embeddings",
    "biases",
    "learned_positions",
)
EXPERTS = (
    "num_experts",
    "experts_per_token",
    "num_shared_experts",
    "expert_ffn_hidden_size",
    "num_dense_layers",
)
_CLUSTER = ("gpus_per_node", "nics_per_node", "nic_bandwidth", "own_constants")
_PLAN = (
    "world_size",
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_pipeline",
    "context_parallel",
    "expert_parallel",
    "expert_tensor_parallel",
    "sequence_parallel",
    "shard_group",
)
_TRAINING = (
    "micro_batch_size",
    "global_batch_size",
    "precision",
    "recompute",
    "flash_attention",
    "schedule",
    "overlap_gradient_reduce",
    "overlap_tensor_parallel",
    "overlap_expert_parallel",
    "exchange",
    "framework",
    "compiled",
    "cuda_graphs",
    "fused_experts",
    "quantized_weights",
    "quantized_once",
    "keeps_quantized_products",
    "eager_loss",
    "even_routing",
    "lora_rank",
    "lora_layers",
    "recompute_layers",
    "fp8_activation_inputs",
)
_WORDS = {
    "num_key_value_heads": "key-value heads",
    "tensor_parallel": "tensor parallel",
    "pipeline_parallel": "pipeline parallel",
    "virtual_pipeline": "virtual stages per rank",
    "context_parallel": "context parallel",
    "expert_parallel": "expert parallel",
    "expert_tensor_parallel": "ranks that share an expert",
    "world_size": "GPUs",
    "shard_group": "ranks that shard one copy",
    "global_batch_size": "global batch",
    "experts_per_token": "experts per token",
    "num_dense_layers": "dense layers",
    "lora_rank": "LoRA rank",
}

_RANKS = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
# What is wrong with a size, unless a simpler reason is found; others do not fit.
_WHY = {
    "tensor_parallel": "does not divide the attention heads",
    "pipeline_parallel": "is more than the layers allow",
    "virtual_pipeline": "is more than the layers allow",
    "context_parallel": "does not divide the sequence or the GPUs",
    "expert_parallel": "does not divide the experts and the ranks of a stage",
    "world_size": "is no multiple of the ranks of a replica",
    "global_batch_size": "is no multiple of a micro-batch on every replica",
    "lora_rank": "is not modeled where layers differ",
}
# The same where layers differ.
_WHY_LAYERS = {
    "tensor_parallel": "does not divide the heads of every kind of layer",
    "context_parallel": "cannot split every kind of its layers",
}


def nearest_run(inputs: Inputs) -> tuple[Run, tuple[Text, ...]]:
    """Return the nearest valid run, and its differences from the inputs as sentences."""
    possible = nearest_inputs(inputs)
    changes = change_sentences(inputs, possible)
    if inputs.gpu == OWN_GPU:
        changes += own_gpu_changes(inputs)
    return _read_run(possible), changes


def _read_run(inputs: Inputs) -> Run:
    return document.read_document(run_document(inputs), _read_model)


def _read_model(value: object, problems: list[str]) -> Model | None:
    recent = isinstance(value, str) and value in RECENT_NAMES
    return catalog_model(str(value)) if recent else document.read_model(value, problems)


def catalog_model(key: str) -> Model:
    """Return a model of the catalog; a recent one is imported now."""
    if key not in RECENT_NAMES:
        return MODELS[key]
    from engine.catalog.recent_models import RECENT_MODELS

    return RECENT_MODELS[key]


def change_sentences(
    inputs: Inputs, possible: Inputs, following: frozenset[str] = frozenset()
) -> tuple[Text, ...]:
    """Return the changed sizes with reasons, except `following` ones."""
    fused = (
        (say("Computed with fused attention: no other is modeled where layers differ."),)
        if possible.flash_attention != inputs.flash_attention
        else ()
    )
    return fused + tuple(
        say(
            f"Computed with {{found}} for {words}: "
            f"{{given}} {_problem_text(name, inputs, possible)}.",
            found=(getattr(possible, name), COUNT),
            given=(getattr(inputs, name), COUNT),
        )
        for name, words in _WORDS.items()
        if name not in following and getattr(possible, name) != getattr(inputs, name)
    )


def _problem_text(name: str, inputs: Inputs, possible: Inputs) -> str:
    """Return the problem with a size."""
    if name in _RANKS and getattr(inputs, name) > inputs.world_size:
        return "is more than there are GPUs"
    if name == "virtual_pipeline":
        if possible.pipeline_parallel == 1:
            return "needs more than one stage"
        if inputs.schedule != "interleaved":
            return "needs interleaved 1F1B"
    if name == "expert_parallel" and possible.expert_parallel == 1:
        own = inputs.model == CUSTOM
        if not (inputs if own else catalog_model(inputs.model)).num_experts:
            return "needs a model with experts"
    differ = inputs.model in RECENT_NAMES and name in _WHY_LAYERS
    return (_WHY_LAYERS if differ else _WHY).get(name, "does not fit")


def run_document(inputs: Inputs) -> dict[str, object]:
    """Return the inputs as a run file."""
    gradients = {"off": "", "on": "bf16", "fp32": "fp32"}[inputs.half_gradients]
    return {
        "model": inputs.model if inputs.model != CUSTOM else _shape(inputs),
        "sequence_length": inputs.sequence_length,
        "cluster": {"gpu": _gpu_section(inputs)} | _selected_values(inputs, _CLUSTER),
        "parallelism": _selected_values(inputs, _PLAN) | {"zero_stage": int(inputs.zero_stage)},
        "training": _selected_values(inputs, _TRAINING)
        | ({"gradient_precision": gradients} if gradients else {}),
    }


def _gpu_section(inputs: Inputs) -> object:
    if inputs.gpu == OWN_GPU:
        return own_gpu_section(inputs)
    return LIMITED_KEYS if inputs.gpu == LIMITED else inputs.gpu


def _shape(inputs: Inputs) -> dict[str, object]:
    return _selected_values(inputs, _SHAPE + (EXPERTS if inputs.num_experts else ()))


def _selected_values(inputs: Inputs, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(inputs, name) for name in names}


def nearest_inputs(inputs: Inputs) -> Inputs:
    """Return the inputs with every size lowered to one that divides."""
    shape = inputs
    if inputs.model == CUSTOM:
        shape = _possible_shape(inputs)
        layers, heads = shape.num_layers, shape.num_attention_heads
        experts = shape.num_experts
    else:
        model = catalog_model(inputs.model)
        layers, heads = model.num_layers, model.num_attention_heads
        experts = model.num_experts
    possible = _possible_groups(_possible_split(shape, layers, heads), experts)
    return possible if inputs.model in (CUSTOM, *MODELS) else _possible_layers(possible, experts)


def _possible_layers(inputs: Inputs, experts: Count) -> Inputs:
    """Return the inputs of a recent model with what all of its layers can be split by."""
    from engine.run.layer_keys import indivisible_layers

    if not catalog_model(inputs.model).mix:
        return inputs
    plain = replace(inputs, lora_rank=0, flash_attention=True)
    parts = product(_divisors(inputs.tensor_parallel), _divisors(inputs.context_parallel))
    for tensor, context in sorted(parts, key=lambda both: -both[0] * both[1]):
        split = replace(plain, tensor_parallel=tensor, context_parallel=context)
        possible = _possible_groups(split, experts)
        run = _read_run(possible)
        if not indivisible_layers(run.model, run.plan, run.training):
            break
    return possible


def _divisors(whole: Count) -> list[Count]:
    return [part for part in range(1, whole + 1) if whole % part == 0]


def _possible_shape(inputs: Inputs) -> Inputs:
    heads, experts = inputs.num_attention_heads, inputs.num_experts
    changed = replace(
        inputs, num_key_value_heads=_largest_valid(inputs.num_key_value_heads, _of(heads))
    )
    if not experts:
        return changed
    return replace(
        changed,
        experts_per_token=min(inputs.experts_per_token, experts),
        num_dense_layers=min(inputs.num_dense_layers, inputs.num_layers),
    )


def _possible_split(inputs: Inputs, layers: Count, heads: Count) -> Inputs:
    """Return the inputs with tensor, pipeline and context parallelism that divide the model."""
    gpus = inputs.world_size
    tensor = _largest_valid(min(inputs.tensor_parallel, gpus), _of(heads))
    pipeline = min(inputs.pipeline_parallel, gpus // tensor, layers + 2)
    interleaved = pipeline > 1 and inputs.schedule == "interleaved"
    pieces = min(inputs.virtual_pipeline, (layers + 2) // pipeline) if interleaved else 1
    most = min(inputs.context_parallel, gpus // (tensor * pipeline))
    context = _largest_valid(most, _of(inputs.sequence_length))
    parts = tensor * pipeline * context
    return replace(
        inputs,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        virtual_pipeline=pieces,
        context_parallel=context,
        world_size=gpus // parts * parts,
    )


def _possible_groups(inputs: Inputs, experts: Count) -> Inputs:
    """Return the inputs with groups of ranks and a batch that divide."""
    stage = inputs.world_size // inputs.pipeline_parallel
    ranks = stage // inputs.tensor_parallel
    both = _largest_valid(inputs.expert_parallel, lambda n: experts % n == 0 and stage % n == 0)
    split = _largest_valid(inputs.expert_tensor_parallel, _of(stage // both if experts else 1))
    sequences = inputs.micro_batch_size * ranks // inputs.context_parallel
    batches = max(1, round(inputs.global_batch_size / sequences))
    return replace(
        inputs,
        expert_parallel=both if experts else 1,
        expert_tensor_parallel=split,
        shard_group=_largest_valid(inputs.shard_group, _of(ranks)) if inputs.shard_group else 0,
        global_batch_size=batches * sequences,
    )


def _of(whole: Count) -> Callable[[Count], bool]:
    return lambda part: whole % part == 0


def _largest_valid(value: Count, fine: Callable[[Count], bool]) -> Count:
    """Return the largest number up to `value` that is fine; 1 always is."""
    return next((n for n in range(value, 1, -1) if fine(n)), 1)
