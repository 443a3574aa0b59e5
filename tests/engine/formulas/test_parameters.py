import pytest

from engine.catalog.models import MODELS
from engine.formulas.gpt import gpt_parameters
from engine.formulas.parameters import (
    active_parameters,
    attention_parameters,
    dense_layer_parameters,
    embedding_parameters,
    layer_parameters,
    mlp_parameters,
    norm_parameters,
    output_parameters,
    sparse_layer_parameters,
    total_parameters,
)

# As counted from the released weights, or as the paper prints it; multi-token prediction and
# norms inside the attention are left out by some, so a tenth of a percent is allowed.
PUBLISHED = {
    "gpt-22b": 22.0e9,
    "gpt-3-175b": 174.6e9,
    "gpt-530b": 529.6e9,
    "gpt-1t": 1008.0e9,
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3-405b": 405_853_388_800,
    "bloom-176b": 176_247_271_424,
    "mpt-7b": 6_649_286_656,
    "mixtral-8x7b": 46_702_792_704,
    "mixtral-8x22b": 140_630_071_296,
    "qwen2-57b-a14b": 57.41e9,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    "gpt-oss-120b": 116.83e9,
    "deepseek-v3": 671_026_419_200,
    "kimi-k2": 1_026_408_232_448,
}
# Printed with one digit after the point, of billions.
ROUNDED = {"gpt-22b"}


@pytest.mark.parametrize(("name", "count"), PUBLISHED.items())
def test_a_model_has_as_many_parameters_as_published(name, count):
    tolerance = 5e-3 if name in ROUNDED else 1e-3
    assert total_parameters(MODELS[name]) == pytest.approx(count, rel=tolerance)


EXACT = ("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3-405b")


@pytest.mark.parametrize("name", [*EXACT, "mpt-7b", "mixtral-8x7b", "mixtral-8x22b"])
def test_released_weights_are_counted_exactly(name):
    assert total_parameters(MODELS[name]) == PUBLISHED[name]


# Active parameters as the reports print them, in billions; the input embedding is left out.
ACTIVE = {
    "mixtral-8x7b": "13",
    "qwen3-235b-a22b": "22",
    "deepseek-v3": "37",
    "kimi-k2": "32",
    "gpt-oss-120b": "5",
}


@pytest.mark.parametrize(("name", "billions"), ACTIVE.items())
def test_a_sparse_model_has_as_many_active_parameters_as_published(name, billions):
    model = MODELS[name]
    active = active_parameters(model) - embedding_parameters(model)
    assert f"{active / 1e9:.0f}" == billions


def test_the_formula_for_a_gpt_counts_what_its_parts_do():
    model = MODELS["gpt-3-175b"]
    parts = total_parameters(model) - norm_parameters(model)
    assert gpt_parameters(96, 12288, 51200, 2048) == parts


def test_a_gpt_layer_has_twelve_squares_and_thirteen_vectors():
    layer = dense_layer_parameters(MODELS["gpt-3-175b"])
    assert layer.total == 12 * 12288**2 + 13 * 12288


def test_tensor_parallelism_cannot_split_norms_and_biases_of_rows():
    assert dense_layer_parameters(MODELS["gpt-3-175b"]).replicated == 6 * 12288


def test_grouped_queries_save_seven_eighths_of_keys_and_values():
    matrices, replicated = attention_parameters(MODELS["llama-3-70b"])
    assert (matrices, replicated) == (8192**2 * 2 + 2 * 8192 * 1024, 0)


def test_the_attention_of_deepseek_v3_has_187_million_parameters():
    # 7168 x 1536 + 1536 x 24576 + 7168 x 576 + 512 x 32768 + 16384 x 7168, and two norms.
    by_hand = 11_010_048 + 37_748_736 + 4_128_768 + 16_777_216 + 117_440_512 + 1536 + 512
    assert sum(attention_parameters(MODELS["deepseek-v3"])) == by_hand


def test_a_gated_feed_forward_part_has_three_matrices():
    assert mlp_parameters(MODELS["llama-3-8b"], 14336) == (3 * 4096 * 14336, 0)


def test_a_sparse_layer_of_deepseek_v3_keeps_257_experts_and_a_router():
    model = MODELS["deepseek-v3"]
    layer = sparse_layer_parameters(model)
    attention = sum(attention_parameters(model))
    expert = 3 * 7168 * 2048
    assert layer.total == attention + 257 * expert + 256 * 7168 + 2 * 7168


def test_a_model_without_sparse_layers_activates_all_parameters():
    model = MODELS["llama-3-8b"]
    assert active_parameters(model) == total_parameters(model)


def test_layers_and_ends_make_the_whole():
    model = MODELS["llama-3-8b"]
    ends = embedding_parameters(model) + output_parameters(model) + norm_parameters(model)
    assert layer_parameters(model) + ends == total_parameters(model)
