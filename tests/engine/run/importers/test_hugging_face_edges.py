"""A `config.json` at its limits: what is missing, heads, latents, widths, names, windows."""

from engine.run.importers.hugging_face import (
    is_hugging_face_config,
    model_name,
    read_config_model,
    read_shape,
)
from tests.each import each
from tests.engine.run.importers.hf_files import LLAMA

LATENTS = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
# The largest size of a run file.
MOST = 1 << 20


def shape(without=(), **others):
    return read_shape({key: one for key, one in (LLAMA | others).items() if key not in without})


@each(
    "key, said",
    [
        ("num_hidden_layers", "a whole number from 1 to 4096"),
        ("hidden_size", "a whole number from 1 to 1048576"),
        ("num_attention_heads", "a whole number from 1 to 65536"),
        ("vocab_size", "a whole number from 1 to 16777216"),
    ],
)
def test_a_size_that_every_model_has_is_missed(key, said):
    assert shape(without=[key]).problems == [f"{key}: missing; allowed: {said}"]
    assert shape(**{key: None}).problems == [f"{key}: missing; allowed: {said}"]


def test_a_size_is_taken_at_its_limit_and_refused_beyond():
    assert shape(num_hidden_layers=4096).fields["num_layers"] == 4096
    beyond = shape(num_hidden_layers=4097)
    assert beyond.problems == ["num_hidden_layers: 4097; allowed: a whole number from 1 to 4096"]
    assert beyond.used == {
        "hidden_size": "hidden_size",
        "num_attention_heads": "num_attention_heads",
        "num_key_value_heads": "num_key_value_heads",
        "intermediate_size": "ffn_hidden_size",
        "vocab_size": "vocab_size",
        "tie_word_embeddings": "tied_embeddings",
    }


def test_the_next_name_of_a_size_counts_where_the_first_is_null():
    assert shape(num_hidden_layers=None, n_layer=12).fields["num_layers"] == 12
    assert shape(n_layer=12).fields["num_layers"] == 32


@each(
    "others, heads",
    [
        ({"multi_query_attention": True, "multi_query_group_num": 2}, 2),
        ({"multi_query_attention": True, "multi_query_group_num": 1}, 1),
        ({"multi_query_attention": True, "multi_query_group_num": 0}, 8),
        ({"multi_query_attention": True, "multi_query_group_num": True}, 8),
        ({"multi_query_attention": True, "multi_query_group_num": "2"}, 8),
        ({"multi_query_attention": True}, 8),
        ({"multi_query_attention": False, "multi_query_group_num": 2}, 8),
        ({"multi_query_group_num": 2}, 8),
        ({"multi_query": True}, 1),
        ({"multi_query": True, "new_decoder_architecture": False}, 1),
        ({"multi_query": True, "new_decoder_architecture": True}, 8),
        ({"multi_query": False}, 8),
        ({"new_decoder_architecture": True}, 8),
    ],
)
def test_groups_of_heads_are_those_that_a_family_names(others, heads):
    found = shape(**others)
    assert found.fields["num_key_value_heads"] == heads
    own = [key for key, becomes in found.used.items() if becomes == "num_key_value_heads"]
    assert (own == ["num_key_value_heads"]) is (heads == 8)
    assert "num_key_value_heads" not in found.derived


def test_without_groups_every_query_head_has_its_own():
    found = shape(without=["num_key_value_heads"])
    assert found.fields["num_key_value_heads"] == 32
    assert found.derived["num_key_value_heads"] == "as many as query heads, no grouping is named"


@each("rank", [None, 0])
def test_without_a_latent_of_keys_there_is_no_latent_attention(rank):
    found = shape(kv_lora_rank=rank, qk_rope_head_dim=64, qk_nope_head_dim=128)
    named = {"attention", "query_latent_size", "key_value_latent_size", "rotary_head_size"}
    assert named.isdisjoint(found.fields)
    assert found.problems == []


@each("nope, head", [(1, 65), (128, 192), (MOST, MOST + 64)])
def test_a_head_with_latents_is_its_plain_and_its_rotary_part(nope, head):
    found = shape(**LATENTS | {"qk_nope_head_dim": nope, "head_dim": 64})
    assert (found.fields["attention"], found.fields["head_size"]) == ("mla", head)
    assert found.used["qk_nope_head_dim"] == "head_size"
    assert found.derived["head_size"].startswith("qk_nope_head_dim + qk_rope_head_dim")
    assert found.problems == []


@each("nope, told", [(0, "0"), (-1, "-1"), (MOST + 1, "1048577"), ("128", '"128"'), (True, "true")])
def test_a_head_with_latents_needs_the_size_of_its_plain_part(nope, told):
    (problem,) = shape(**LATENTS | {"qk_nope_head_dim": nope}).problems
    assert problem == (
        f"qk_nope_head_dim: {told}; allowed: with kv_lora_rank a whole number, beside "
        "qk_rope_head_dim"
    )


def test_a_head_with_latents_needs_the_size_of_its_rotary_part():
    (problem,) = shape(kv_lora_rank=512, qk_nope_head_dim=128).problems
    assert problem.startswith("qk_nope_head_dim: 128; allowed: ")


@each(
    "others, mlp, why",
    [
        ({}, "swiglu", "three matrices: the activation is gated"),
        ({"hidden_act": "silu"}, "swiglu", "three matrices: the activation is gated"),
        ({"hidden_act": "relu2"}, "gelu", "two matrices in llama"),
        ({"activation_function": "relu2"}, "gelu", "two matrices in llama"),
        ({"model_type": "nemotron"}, "gelu", "two matrices in nemotron"),
        ({"model_type": "", "hidden_act": "relu2"}, "gelu", "two matrices in this family"),
    ],
)
def test_a_feed_forward_part_has_three_matrices_where_it_is_gated(others, mlp, why):
    found = shape(**others)
    assert (found.fields["mlp"], found.derived["mlp"]) == (mlp, why)


@each("given, ratio", [(1, 1), (3, 3), (63, 63), (64, 4), (0, 4), (-1, 4), ("3", 4), (True, 4)])
def test_a_width_that_is_not_said_is_a_multiple_of_the_hidden_size(given, ratio):
    found = shape(without=["intermediate_size"], expansion_ratio=given, model_type="mpt")
    assert found.fields["ffn_hidden_size"] == ratio * 4096
    why = f"{ratio} x hidden_size, the default of such classes"
    assert found.derived["ffn_hidden_size"] == why


def test_a_width_that_nothing_says_is_four_times_the_hidden_size_of_some_families_alone():
    found = shape(without=["intermediate_size"], model_type="gpt2")
    assert found.fields["ffn_hidden_size"] == 16384
    assert "ffn_hidden_size" not in shape().derived
    (problem,) = shape(without=["intermediate_size"]).problems
    assert problem.startswith("intermediate_size: missing")


@each("family, tied", [("gpt2", True), ("gemma3_text", True), ("llama", False), ("qwen3", False)])
def test_tied_embeddings_that_are_not_said_are_those_of_the_class(family, tied):
    found = shape(without=["tie_word_embeddings"], model_type=family)
    assert found.fields["tied_embeddings"] is tied
    words = "tied" if tied else "not tied"
    told = f"{words}: the default of {family}'s class (Transformers 5.24)"
    assert found.assumed["tied_embeddings"] == told
    assert "tied_embeddings" not in shape(model_type=family).assumed


@each("family", ["gpt_oss", "gemma2"])
@each("window, taken", [(1, True), ((1 << 30) - 1, True), (1 << 30, False), (0, False),
                        (None, False), ("128", False)])  # fmt: skip
def test_every_second_layer_of_two_families_has_a_window(family, window, taken):
    found = shape(model_type=family, sliding_window=window)
    assert found.fields.get("sliding_window", 0) == (window if taken else 0)
    assert found.used.get("sliding_window", "") == ("sliding_window" if taken else "")


def test_a_window_of_another_family_is_not_that_of_every_second_layer():
    assert "sliding_window" not in shape(model_type="mistral", sliding_window=4096).fields


def test_a_model_has_the_problems_of_its_shape_under_its_path():
    found = []
    assert read_config_model({**LLAMA, "vocab_size": 0}, "model", found) is None
    assert found == ["model.vocab_size: 0; allowed: a whole number from 1 to 16777216"]


def test_a_model_whose_sizes_contradict_each_other_is_none():
    found = []
    assert read_config_model({**LLAMA, **LATENTS, "v_head_dim": 0}, "model", found) is None
    assert found == ["model.value_head_size: 0; allowed: 1 or more with attention mla"]


def test_a_model_is_called_what_its_file_calls_it():
    found = []
    model = read_config_model(LLAMA, "model", found)
    assert (model.name, model.num_layers, found) == ("llama", 32, [])
    assert model_name({"_name_or_path": "org/name", "model_type": "llama"}) == "org/name"
    assert (model_name({"_name_or_path": ""}), model_name({})) == ("custom", "custom")
    assert model_name({"model_type": "x" * 81}) == "x" * 80


def test_a_configuration_is_told_from_the_model_of_a_run_file():
    told = ("model_type", "architectures", "text_config", "n_layer", "n_embd", "num_hidden_layers")
    assert all(is_hugging_face_config({key: 1}) for key in told)
    assert not is_hugging_face_config({"num_layers": 32, "hidden_size": 4096, "vocab_size": 32000})
