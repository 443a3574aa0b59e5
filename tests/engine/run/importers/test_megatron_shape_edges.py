"""The shape of a model that arguments of Megatron-LM tell by its sizes.

Defaults: megatron-core 0.19.2, `megatron/training/arguments.py` and `MLATransformerConfig`.
"""

from engine.run.importers.import_report import RunDraft
from engine.run.importers.megatron_derived import finish_megatron
from tests.each import each

SIZES = {"num_layers": 24, "hidden_size": 4096, "num_attention_heads": 32}


def shape(notes=(), **sizes):
    values = {f"model.{key}": one for key, one in (SIZES | sizes).items()}
    draft = RunDraft(values=values, notes=dict(notes))
    finish_megatron(draft)
    return {path[6:]: one for path, one in draft.values.items() if path.startswith("model.")}


@each(
    "sizes, width",
    [
        ({}, 16384),
        # Two thirds of four times, down to a multiple of 64: 4096 * 8 / 3 = 10922.7 = 170.7 * 64.
        ({"mlp": "swiglu"}, 10880),
        ({"mlp": "swiglu", "hidden_size": 96}, 256),
        ({"mlp": "swiglu", "hidden_size": 1536}, 4096),
        ({"ffn_hidden_size": 5}, 5),
    ],
)
def test_a_width_that_is_not_told_follows_from_the_hidden_size(sizes, width):
    assert shape(**sizes)["ffn_hidden_size"] == width


def test_a_model_is_gpt_unless_arguments_say_otherwise():
    found = shape()
    told = {"mlp": "gelu", "tied_embeddings": True, "vocab_size": 50304, "biases": True}
    assert found | told == found
    assert found.keys() == {*SIZES, *told, "ffn_hidden_size"}
    assert shape(vocab_size=8)["vocab_size"] == 8


@each(
    "notes, biases", [({"disable-bias-linear": True}, None), ({"disable-bias-linear": "0"}, True)]
)
def test_biases_may_be_disabled(notes, biases):
    assert shape(notes).get("biases") is biases


@each("said, heads", [({}, 8), ({"group-query-attention": True}, 8),
                      ({"group-query-attention": "False"}, None)])  # fmt: skip
def test_groups_of_heads_count_unless_they_are_off(said, heads):
    assert shape(said, num_key_value_heads=8).get("num_key_value_heads") == heads


POSITIONS, KIND = "max-position-embeddings", "position-embedding-type"


@each(
    "notes, rows",
    [
        ({POSITIONS: "2048"}, 2048),
        ({POSITIONS: "2048", KIND: "learned_absolute"}, 2048),
        ({POSITIONS: "2048", KIND: "rope"}, None),
        ({POSITIONS: "2048", KIND: "none"}, None),
        ({POSITIONS: "2048", KIND: "relative"}, None),
        ({KIND: "learned_absolute"}, None),
        ({POSITIONS: "many"}, 0),
        ({POSITIONS: "-1"}, 0),
        ({POSITIONS: "0"}, 0),
    ],
)
def test_a_table_of_positions_is_there_unless_they_are_of_another_kind(notes, rows):
    assert shape(notes).get("learned_positions") == rows


LATENTS = {
    "query_latent_size": 1536,
    "key_value_latent_size": 256,
    "rotary_head_size": 32,
    "value_head_size": 96,
}
LATENT = {"multi-latent-attention": True}


def test_sizes_of_latents_count_where_there_are_latents():
    assert LATENTS.keys().isdisjoint(shape(**LATENTS))
    assert "attention" not in shape(**LATENTS)
    found = shape(LATENT, **LATENTS, num_key_value_heads=8)
    told = LATENTS | {"attention": "mla", "head_size": 128 + 32}
    assert found | told == found
    assert "num_key_value_heads" not in found


def test_latents_have_defaults():
    found = shape(LATENT)
    sizes = {"key_value_latent_size": 512, "rotary_head_size": 64, "value_head_size": 128}
    assert found | sizes | {"head_size": 192} == found
    assert shape(LATENT | {"qk-head-dim": "64"})["head_size"] == 64 + 64


def test_sizes_of_experts_count_where_there_are_experts():
    sizes = {"experts_per_token": 4, "nodes_per_token": 2, "expert_ffn_hidden_size": 512}
    assert sizes.keys().isdisjoint(shape(**sizes))
    assert sizes.keys().isdisjoint(shape(**sizes, num_experts=0))
    found = shape(**sizes, num_experts=8)
    assert found | sizes == found


def test_experts_have_defaults():
    found = shape(num_experts=8, ffn_hidden_size=1024)
    assert (found["experts_per_token"], found["expert_ffn_hidden_size"]) == (2, 1024)
    assert "num_shared_experts" not in found


@each("width, count", [(512, 1), (1024, 2), (1, 1), (0, None)])
def test_shared_experts_are_counted_by_their_width(width, count):
    notes = {"moe-shared-expert-intermediate-size": width}
    found = shape(notes, num_experts=8, expert_ffn_hidden_size=512)
    assert found.get("num_shared_experts") == count


@each(
    "said, key, value",
    [
        ("1", None, None),
        (1, None, None),
        ("2", "dense_layer_every", 2),
        ("([0]*3+[1]*21)", "num_dense_layers", 3),
        ("[0]+[1]*23", "num_dense_layers", 1),
        ("'([0]*1+[1]*23)'", "num_dense_layers", 1),
        ("([0,1]*12)", "dense_layer_every", 2),
        (["[0", "1]*12"], None, ()),
        ("([0,1]*11)", None, ()),
        ("3", None, ()),
        ("[" + ",".join("001" + "1" * 21) + "]", "num_dense_layers", 2),
        ([0] + [1] * 23, "num_dense_layers", 1),
        ([0, 1] * 12, "dense_layer_every", 2),
        ([1] * 24, None, None),
        ([0] + [1] * 22, None, ()),
        ([1, 0] * 12, None, ()),
    ],
)
def test_layers_without_experts_are_the_first_or_every_other_one(said, key, value):
    draft = RunDraft(values={"model.num_layers": 24, "model.num_experts": 8})
    draft.notes["moe-layer-freq"] = said
    finish_megatron(draft)
    keys = ("dense_layer_every", "num_dense_layers")
    found = {one: draft.values[f"model.{one}"] for one in keys if f"model.{one}" in draft.values}
    assert found == ({key: value} if key else {})
    assert len(draft.contradictions) == (value == ())


def test_two_layers_alternate_without_a_number():
    draft = RunDraft(values={"model.num_layers": 2, "model.num_experts": 8})
    draft.notes["moe-layer-freq"] = "[0,1]"
    finish_megatron(draft)
    assert draft.values["model.dense_layer_every"] == 2


def test_a_named_model_with_experts_is_split_as_its_recipe_does():
    draft = RunDraft(values={"model": "mixtral-8x7b", "parallelism.tensor_parallel": 4})
    finish_megatron(draft)
    assert "parallelism.expert_tensor_parallel" not in draft.values
