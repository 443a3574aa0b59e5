"""The parts of a `config.json` beside one another; what a family leaves out; keys with lines."""

import json

from engine.catalog.models import MODELS
from engine.run.importers.assemble import import_run
from engine.run.importers.hugging_face_flat import (
    flatten_config,
    unknown_experts_key,
    unsupported_reasons,
)
from engine.run.importers.hugging_face_keys import find_catalog_model
from engine.run.importers.model_families import has_biases, learned_positions
from tests.each import each
from tests.engine.run.importers.hf_files import LLAMA


@each("key", ["text_config", "llm_config", "language_config"])
def test_a_nested_language_model_goes_before_what_stands_outside(key):
    found = flatten_config({"hidden_size": 1, "vocab_size": 5, key: {"hidden_size": 2}})
    assert found == {"hidden_size": 2, "vocab_size": 5, key: {"hidden_size": 2}}


@each("key", ["attn_config", "ffn_config"])
def test_what_stands_outside_goes_before_a_nested_part(key):
    part = {"hidden_size": 2, "kv_n_heads": 8}
    found = flatten_config({"hidden_size": 1, key: part})
    assert found == {"hidden_size": 1, "kv_n_heads": 8, key: part}


def test_a_name_of_a_part_that_holds_no_object_is_a_key_like_others():
    given = {"text_config": None, "attn_config": "x", "hidden_size": 1}
    assert flatten_config(given) == given


@each(
    "value, taken",
    [
        ([8, 8], 8),
        ([8] * 32, 8),
        ([8], [8]),
        ([], []),
        ([8, 4], [8, 4]),
        ([4, 8, 8], [4, 8, 8]),
        ([8, 8.0], [8, 8.0]),
        ([1, True], [1, True]),
        ([True, True], [True, True]),
        (["a", "a"], ["a", "a"]),
        ("88", "88"),
    ],
)
def test_a_size_that_all_layers_share_may_stand_there_for_each(value, taken):
    found = flatten_config({"key": value})["key"]
    assert (found, type(found)) == (taken, type(taken))


@each("config, family, said", [
    ({}, "llama", []),
    ({}, "mamba2", ['model_type: "mamba2"; allowed: a family whose layers all have attention']),
    ({}, "bert", ['model_type: "bert"; allowed: a family of decoders alone']),
    ({"is_encoder_decoder": True}, "x", ['model_type: "x"; allowed: a family of decoders alone']),
    ({"is_encoder_decoder": False}, "llama", []),
    ({"is_encoder_decoder": 1}, "llama", []),
    ({"block_configs": []}, "llama", []),
    ({"block_configs": [{}]}, "deci",
     ["block_configs: one for each layer; allowed: none, the layers of a model are alike"]),
])  # fmt: skip
def test_what_is_no_decoder_with_layers_alike_is_told_once(config, family, said):
    assert list(unsupported_reasons(config, family)) == said


@each(
    "config, key",
    [
        ({"my_experts": 2}, "my_experts"),
        ({"my_experts": 1}, ""),
        ({"my_experts": True}, ""),
        ({"my_experts": "8"}, ""),
        ({"my_experts": [8]}, ""),
        ({"my_shared_experts": 2}, ""),
        ({"num_experts_per_tok_of_experts": 2}, ""),
        ({"experts_of_mine": 2}, ""),
        ({"a_experts": 1, "b_experts": 8, "c_experts": 4}, "b_experts"),
    ],
)
def test_the_first_number_of_experts_under_another_name_is_found(config, key):
    assert unknown_experts_key(config) == key


MOST = 1 << 30


@each(
    "config, family, found",
    [
        ({"n_positions": 1024}, "gpt2", [("n_positions", "learned_positions", 1024)]),
        ({"n_positions": 1}, "gpt2", [("n_positions", "learned_positions", 1)]),
        ({"n_positions": MOST - 1}, "gpt2", [("n_positions", "learned_positions", MOST - 1)]),
        ({"n_positions": MOST}, "gpt2", []),
        ({"n_positions": 0}, "gpt2", []),
        ({"n_positions": True}, "gpt2", []),
        ({"n_positions": "1024"}, "gpt2", []),
        ({"n_positions": 1024}, "llama", []),
        ({"max_position_embeddings": 2048}, "opt",
         [("max_position_embeddings", "learned_positions", 2048)]),
        ({"max_position_embeddings": 2048, "n_positions": 1024}, "gpt_neo",
         [("n_positions", "learned_positions", 1024)]),
    ],
)  # fmt: skip
def test_a_table_of_positions_is_that_of_a_family_that_learns_them(config, family, found):
    assert list(learned_positions(config, family)) == found


@each(
    "config, family, found",
    [
        ({}, "gpt2", True),
        ({}, "llama", False),
        ({"use_bias": False}, "starcoder2", False),
        ({"use_bias": True}, "starcoder2", True),
        ({"no_bias": True}, "bloom", False),
        ({"no_bias": False}, "bloom", True),
        ({"use_bias": True}, "llama", False),
        ({}, "gpt_oss", True),
        ({"attention_bias": True}, "gpt_oss", True),
        ({"attention_bias": False}, "gpt_oss", False),
        ({"attention_bias": True}, "llama", False),
    ],
)
def test_biases_are_those_of_a_family_unless_a_file_has_none(config, family, found):
    assert has_biases(config, family) is found


def test_a_table_of_positions_is_told_with_its_key():
    sizes = {"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257}
    found = import_run(json.dumps({**sizes, "n_positions": 1024}))
    meanings = {one.key: (one.kind, one.meaning) for one in found.entries}
    assert meanings["n_positions"] == ("understood", "model.learned_positions = 1024")
    assert found.run.model.learned_positions == 1024


def test_every_key_is_told_with_what_became_of_it():
    text = json.dumps({**LLAMA, "text_config": {"head_dim": 128}, "torch_dtype": "x"}, indent=1)
    told = {one.key: (one.line, one.kind, one.meaning) for one in import_run(text).entries}
    none = "how the file's weights are stored; training's precision is said elsewhere"
    family = "the family; its defaults are those of Transformers 5.24"
    assert told["model_type"] == (2, "understood", family)
    assert told["num_hidden_layers"] == (3, "understood", "model.num_layers = 32")
    assert told["text_config.head_dim"] == (11, "understood", "model.head_size = 128")
    assert told["torch_dtype"] == (13, "without effect", none)
    assert told["model.mlp"] == (0, "derived", "three matrices: the activation is gated")


def test_what_is_assumed_of_a_model_is_told_so():
    text = json.dumps({key: one for key, one in LLAMA.items() if key != "tie_word_embeddings"})
    told = {one.key: (one.kind, one.value) for one in import_run(text).entries}
    assert told["model.tied_embeddings"] == ("assumed", "false")


def test_a_model_with_the_sizes_of_a_row_is_that_row():
    assert find_catalog_model(MODELS["llama-3-8b"]) == "llama-3-8b"
    assert import_run(json.dumps(LLAMA)).document["model"] == "llama-3-8b"
    other = import_run(json.dumps(LLAMA | {"vocab_size": 128255})).document["model"]
    assert (other["num_layers"], other["vocab_size"]) == (32, 128255)
