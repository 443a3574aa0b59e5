"""What follows from several arguments of Megatron-LM, and what stands where none says it.

Defaults: megatron-core 0.19.2, `megatron/training/arguments.py` and `MLATransformerConfig`.
"""

from engine.run.importers.import_report import RunDraft
from engine.run.importers.megatron_derived import finish_megatron, finish_scaling
from tests.each import each

SIZES = {"model.num_layers": 24, "model.hidden_size": 4096, "model.num_attention_heads": 32}
BRIDGE = "Megatron-Bridge overrides"


def finished(values=(), notes=(), dialects=()):
    draft = RunDraft(values=SIZES | dict(values), notes=dict(notes), dialects=list(dialects))
    finish_megatron(draft)
    return draft


def at(draft, key):
    """Return the value of a key in whatever section, or None."""
    return next((one for path, one in draft.values.items() if path.endswith(f".{key}")), None)


@each(
    "notes, stage",
    [
        ({}, 0),
        ({"use-megatron-fsdp": True}, 0),
        ({"use-megatron-fsdp": True, "data-parallel-sharding-strategy": "no_shard"}, 0),
        ({"use-megatron-fsdp": True, "data-parallel-sharding-strategy": "optim"}, 1),
        ({"use-megatron-fsdp": True, "data-parallel-sharding-strategy": "optim_grads"}, 2),
        ({"use-megatron-fsdp": "true", "data-parallel-sharding-strategy": "optim_grads_params"}, 3),
        ({"use-megatron-fsdp": True, "data-parallel-sharding-strategy": "other"}, 0),
        ({"use-megatron-fsdp": False, "data-parallel-sharding-strategy": "optim"}, 0),
        ({"data-parallel-sharding-strategy": "optim"}, 0),
    ],
)
def test_the_strategy_of_megatron_fsdp_is_a_stage(notes, stage):
    assert at(finished(notes=notes), "zero_stage") == stage


def test_megatron_does_nothing_of_its_own_where_no_argument_says_it():
    found = finished().values
    assert found["parallelism.sequence_parallel"] is False
    assert found["training.overlap_gradient_reduce"] is False
    assert "training.recompute" not in found


@each("split, sequence", [(1, False), (2, True)])
def test_recipes_of_megatron_bridge_shard_overlap_and_split_the_sequence(split, sequence):
    found = finished({"parallelism.tensor_parallel": split}, dialects=[BRIDGE]).values
    assert found["parallelism.zero_stage"] == 1
    assert found["training.overlap_gradient_reduce"] is True
    assert found["parallelism.sequence_parallel"] is sequence


def test_experts_are_split_as_the_layers_are_unless_they_say_otherwise():
    split = {"parallelism.tensor_parallel": 4}
    mixture = split | {"model.num_experts": 8}
    own = {"parallelism.expert_tensor_parallel": 2}
    assert at(finished(mixture), "expert_tensor_parallel") == 4
    assert at(finished(mixture | own), "expert_tensor_parallel") == 2
    assert at(finished(split | own), "expert_tensor_parallel") is None
    assert at(finished(split), "expert_tensor_parallel") is None


@each("model, kept", [("mixtral-8x7b", 2), ("llama-3-8b", None), ("no-such-model", None)])
def test_a_named_model_has_experts_or_none(model, kept):
    draft = RunDraft(values={"model": model, "parallelism.expert_tensor_parallel": 2})
    finish_megatron(draft)
    assert draft.values.get("parallelism.expert_tensor_parallel") == kept
    assert "model.mlp" not in draft.values


GRANULARITY, MODULES = "recompute-granularity", "recompute-modules"


@each(
    "notes, kind",
    [
        ({GRANULARITY: "selective"}, "selective"),
        ({GRANULARITY: "selective", MODULES: "core_attn"}, "selective"),
        ({GRANULARITY: "selective", MODULES: ["core_attn"]}, "selective"),
        ({GRANULARITY: "selective", MODULES: ["mlp", "moe_act"]}, ["mlp", "moe_act"]),
        ({GRANULARITY: "selective", MODULES: "mlp,moe_act"}, ["mlp", "moe_act"]),
        ({GRANULARITY: "selective", MODULES: ["mlp", "mhc"]}, ["mlp"]),
        ({GRANULARITY: "full"}, "full"),
        ({GRANULARITY: "full", MODULES: ["mlp"]}, "full"),
        ({GRANULARITY: "other", MODULES: ["mlp"]}, None),
        ({MODULES: ["mlp"]}, None),
        ({}, None),
    ],
)
def test_what_is_recomputed_is_what_the_granularity_and_the_modules_say(notes, kind):
    assert at(finished(notes=notes), "recompute") == kind


def test_modules_alone_are_selective_in_overrides_of_a_recipe():
    assert at(finished(notes={MODULES: ["mlp"]}, dialects=[BRIDGE]), "recompute") == ["mlp"]
    assert at(finished(dialects=[BRIDGE]), "recompute") is None
    full = {GRANULARITY: "full", MODULES: ["mlp"]}
    assert at(finished(notes=full, dialects=[BRIDGE]), "recompute") == "full"


# Of 24 layers in 4 stages of 1 piece, a piece has 6; in 2 pieces, 3.
@each(
    "method, count, virtual, kind",
    [
        ("block", 2, 1, "none"),
        ("block", 3, 1, "full"),
        ("block", 5, 1, "full"),
        ("block", 6, 1, "full"),
        ("block", 1, 2, "none"),
        ("block", 2, 2, "full"),
        ("block", 3, 2, "full"),
        ("uniform", 1, 1, "full"),
        ("block", None, 1, "full"),
        ("block", 0, 1, "full"),
        # More pieces than layers: each has one.
        ("block", 1, 12, "full"),
    ],
)
def test_a_block_of_layers_that_is_recomputed_is_the_nearer_of_all_and_none(
    method, count, virtual, kind
):
    cut = {"parallelism.pipeline_parallel": 4, "parallelism.virtual_pipeline": virtual}
    block = {"recompute-method": method, "recompute-num-layers": count}
    draft = finished(cut, block | {GRANULARITY: "full"})
    assert at(draft, "recompute") == kind
    (why,) = [one.meaning for one in draft.entries if one.key == "training.recompute"]
    each_piece = {1: 6, 2: 3}.get(virtual, 1)
    partly = method == "block" and count and count < each_piece
    said = f"{count} of {each_piece} layers are recomputed; the nearer of all and none is taken"
    assert why == (said if partly else "--recompute-granularity full")


@each("model, kind", [("llama-3-8b", "none"), ("no-such-model", "full")])
def test_a_block_of_layers_is_compared_with_those_of_a_named_model(model, kind):
    # Llama 3 8B has 32 layers.
    block = {"recompute-method": "block", "recompute-num-layers": 15, GRANULARITY: "full"}
    draft = RunDraft(values={"model": model}, notes=block)
    finish_megatron(draft)
    assert draft.values["training.recompute"] == kind


PER_PIECE = "num-layers-per-virtual-pipeline-stage"
EMBEDDING, LOSS = (f"account-for-{kind}-in-pipeline-split" for kind in ("embedding", "loss"))


@each(
    "layers, ranks, notes, virtual, counted",
    [
        (24, 4, {PER_PIECE: 2}, 3, 0),
        (24, 4, {PER_PIECE: 6}, 1, 0),
        (24, 4, {PER_PIECE: 7}, None, 0),
        (24, 2, {PER_PIECE: 4}, 3, 0),
        (24, 1, {PER_PIECE: 2}, None, 0),
        (24, 4, {PER_PIECE: 0}, None, 0),
        (30, 4, {PER_PIECE: 4, EMBEDDING: True, LOSS: True}, 2, 2),
        (31, 4, {PER_PIECE: 4, EMBEDDING: True}, 2, 1),
        (31, 4, {PER_PIECE: 4, LOSS: "True"}, 2, 1),
        (30, 4, {EMBEDDING: False, LOSS: True}, None, 1),
    ],
)
def test_pieces_of_a_rank_follow_from_the_layers_of_each(layers, ranks, notes, virtual, counted):
    sizes = {"model.num_layers": layers, "parallelism.pipeline_parallel": ranks}
    draft = finished(sizes, notes)
    assert at(draft, "virtual_pipeline") == virtual
    assert draft.notes["counted_as_layers"] == counted


def test_an_uneven_cut_is_told_with_the_argument_that_says_it():
    draft = finished({"parallelism.pipeline_parallel": 2}, {"decoder-first-pipeline-num-layers": 4})
    assert at(draft, "pipeline_layout") == [4, 20]
    (one,) = [one for one in draft.entries if one.key == "parallelism.pipeline_layout"]
    assert one.meaning == "--decoder-first- and --decoder-last-pipeline-num-layers"


@each(
    "gpu, precision, recipe, once",
    [
        ("B200", "fp8", "delayed", True),
        ("B200", "fp8", "tensorwise", True),
        ("B200", "fp8", None, True),
        ("B200", "fp8", "mxfp8", None),
        ("B200", "fp8", "blockwise", None),
        ("B200", "bf16", "delayed", None),
        ("H100-SXM", "fp8", "delayed", None),
        ("no-such-gpu", "fp8", "delayed", None),
    ],
)
def test_one_copy_of_a_weight_in_fp8_serves_both_passes_on_blackwell(gpu, precision, recipe, once):
    notes = {} if recipe is None else {"fp8-recipe": recipe}
    draft = RunDraft(values={"cluster.gpu": gpu, "training.precision": precision}, notes=notes)
    finish_scaling(draft)
    assert draft.values.get("training.quantized_once") is once
