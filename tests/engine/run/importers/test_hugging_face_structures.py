"""Structures of many families: parameters as published, or a refusal that names the key.

Sizes are those of the published files and of the classes of Transformers 5.24, retyped.
"""

import json

import pytest

from engine.formulas.parameters import active_parameters, total_parameters
from engine.run.importers.assemble import import_run
from engine.run.importers.hugging_face import read_config_model, read_shape
from tests.each import each
from tests.engine.run.importers.hf_files import _of

TIED, UNTIED = {"tie_word_embeddings": True}, {"tie_word_embeddings": False}
_GRANITE = ["mamba"] * 5 + ["attention"] + ["mamba"] * 4
_MAMBA = {"mamba_n_heads": 128, "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_d_conv": 4}
_SEED = _of("seed_oss", 64, 5120, 80, 8, 27648, 155136, head_dim=128, **UNTIED)
_LING = {"num_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 512}
_LING |= {"num_shared_experts": 1, "first_k_dense_replace": 1, "head_dim": 128}
_PHI = {"ff_intermediate_size": 14336, "hidden_act": "gegelu"}
_HUNYUAN = {"num_experts": 64, "moe_topk": [8] * 32, "num_shared_expert": [1] * 32}
_HUNYUAN |= {"moe_intermediate_size": [3072] * 32, "head_dim": 128, "use_cla": False}
_EXPERTS = {"num_local_experts": 72, "num_experts_per_tok": 10, "shared_intermediate_size": 1536}
_WINDOWS = {"sliding_window": 4096, "sliding_window_pattern": "LLLG", "head_dim": 128}
_GLM = {"padded_vocab_size": 65024, "multi_query_attention": True, "multi_query_group_num": 2}
_GLM |= {"ffn_hidden_size": 13696, "num_layers": 28}

# (keys, total and active parameters as their authors or the Hub's count of the weights say)
PUBLISHED = {
    "Apertus 8B": (
        _of("apertus", 32, 4096, 32, 8, 21504, 131072, hidden_act="xielu", **UNTIED),
        8.05e9,
        8.05e9,
    ),
    "BitNet b1.58 2B": (
        _of("bitnet", 30, 2560, 20, 5, 6912, 128256, hidden_act="relu2", **TIED),
        2.41e9,
        2.41e9,
    ),
    "Qwen 7B": (_of("qwen", 32, 4096, 32, None, 22016, 151936, **UNTIED), 7.72e9, 7.72e9),
    "Phi-3 small": (_of("phi3small", 32, 4096, 32, 8, None, 100352, **_PHI), 7.39e9, 7.39e9),
    "ChatGLM3 6B": (_of("chatglm", None, 4096, 32, None, None, None, **_GLM), 6.24e9, 6.24e9),
    "EXAONE 4.0 32B": (
        _of("exaone4", 64, 5120, 40, 8, 27392, 102400, **_WINDOWS, **UNTIED),
        32.0e9,
        32.0e9,
    ),
    "Bamba 9B": (
        _of(
            "bamba",
            32,
            4096,
            32,
            8,
            14336,
            128256,
            mamba_d_head="auto",
            attn_layer_indices=[9, 18, 27],
            **_MAMBA,
            **UNTIED,
        ),
        9.78e9,
        9.78e9,
    ),
    "Granite 4.0 H Small": (
        _of(
            "granitemoehybrid",
            40,
            4096,
            32,
            8,
            768,
            100352,
            layer_types=_GRANITE * 4,
            mamba_d_head=64,
            **_EXPERTS,
            **_MAMBA,
            **TIED,
        ),
        32.2e9,
        8.8e9,
    ),
    "Ling-mini-2.0": (
        _of("bailing_moe", 20, 2048, 16, 4, 5120, 157184, **_LING, **UNTIED),
        16.26e9,
        1.43e9,
    ),
    "Hunyuan A13B": (
        _of("hunyuan_v1_moe", 32, 4096, 32, 8, 3072, 128167, **_HUNYUAN, **TIED),
        80.4e9,
        12.8e9,
    ),
    "Seed-OSS 36B": (_SEED, 36.15e9, 36.15e9),
    # Language models that multimodal files leave to their classes.
    "Gemma 3 4B": (
        {
            "model_type": "gemma3",
            "text_config": {
                "model_type": "gemma3_text",
                "hidden_size": 2560,
                "intermediate_size": 10240,
                "num_hidden_layers": 34,
                "sliding_window": 1024,
            },
        },
        3.88e9,
        3.88e9,
    ),
    "LLaVA 1.5 7B": (
        {"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}},
        6.74e9,
        6.74e9,
    ),
}


@each("name", list(PUBLISHED))
def test_parameters_are_as_published(name):
    config, total, active = PUBLISHED[name]
    problems = []
    model = read_config_model(config, "model", problems)
    assert problems == []
    assert total_parameters(model) == pytest.approx(total, rel=0.01)
    assert active_parameters(model) == pytest.approx(active, rel=0.01)


def test_what_a_multimodal_file_leaves_to_its_class_is_told():
    found = import_run(json.dumps(PUBLISHED["Gemma 3 4B"][0]))
    told = {one.key: one.meaning for one in found.entries if one.kind == "assumed"}
    said = "262208: the file leaves it to gemma3_text's class (Transformers 5.24)"
    assert told["model.vocab_size"] == said
    # Elsewhere a size that is missing is a problem.
    alone = {"model_type": "llama", "vocab_size": 32064}
    assert read_shape(alone).problems[0].startswith("num_hidden_layers: missing")


_PLAIN = _of("other", 32, 4096, 32, 8, 14336, 32000, **UNTIED)


@each(
    "key, value",
    [
        ("layer_group_size", 6),
        ("linear_num_heads", 32),
        ("mamba_n_heads", 128),
        ("conv_L_cache", 3),
        ("swa_num_attention_heads", 24),
        ("block_types", ["recurrent", "attention"]),
        ("n_recurrent_loops", 2),
        ("H_cycles", 2),
        ("cca_time0", 2),
        ("hc_count", 4),
        ("ngram_size", 3),
        ("parallel_attn_mlp_res", True),
        ("num_key_value_heads_per_layer", [4, 8]),
        ("kv_source_layers", [0, 0]),
    ],
)
def test_a_structure_that_is_not_priced_is_refused_at_its_key(key, value):
    (problem,) = read_shape(_PLAIN | {key: value}).problems
    assert problem.startswith(f"{key}: ")
    assert "not priced" in problem


def test_sizes_of_a_mixer_that_no_layer_has_are_none_of_the_model():
    listed = {"layer_types": ["full_attention"] * 32, "mamba_n_heads": 128}
    assert not read_shape(_PLAIN | listed).problems
    assert not read_shape(_PLAIN | {"kv_source_layers": [*range(32)]}).problems


@each("key", ["is_moe", "use_moe"])
def test_experts_that_are_switched_off_are_none(key):
    experts = {"num_experts": 64, "num_experts_per_tok": 8, "moe_intermediate_size": 512}
    assert read_shape(_PLAIN | experts).fields["num_experts"] == 64
    assert "num_experts" not in read_shape(_PLAIN | experts | {key: False}).fields


@each("family, gated", [("afmoe", True), ("beam", True), ("qwen3_moe", False)])
def test_attention_of_some_families_has_a_gate(family, gated):
    assert read_shape(_PLAIN | {"model_type": family}).layers.get("gated", False) is gated


def test_kimi_delta_attention_is_read_on_one_level():
    flat = {"linear_num_heads": 32, "linear_head_dim": 128, "linear_conv_kernel_dim": 4}
    kinds = {"layer_types": ["linear_attention", "full_attention"] * 16}
    layers = read_shape(_PLAIN | {"model_type": "kimi_linear"} | flat | kinds).layers
    assert (layers["order"], layers["key_heads"], layers["value_size"]) == ("K*", 32, 128)
    assert (layers["kernel"], layers["gate_rank"]) == (4, 128)


def test_the_filter_of_yuan_is_not_priced():
    (problem,) = read_shape(_PLAIN | {"model_type": "yuan"}).problems
    assert "convolutions" in problem


def test_experts_without_any_width_are_a_problem():
    keys = {key: value for key, value in _PLAIN.items() if key != "intermediate_size"}
    experts = {"num_experts": 8, "num_experts_per_tok": 2}
    (problem,) = read_shape(keys | experts).problems
    assert problem.startswith("intermediate_size: missing")


def test_heads_of_a_window_are_the_hidden_size_over_the_heads_where_no_key_says_them():
    keys = {"layer_types": ["sliding_attention", "full_attention"] * 16, "sliding_window": 1024}
    shape = read_shape(_PLAIN | keys | {"global_head_dim": 512})
    assert shape.layers["window_head_size"] == 128
