import pytest

from engine.catalog.models import (
    MODELS,
    head_size,
    num_sparse_in,
    num_sparse_layers,
    value_head_size,
)


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_queries_share_keys_evenly(model):
    assert model.num_attention_heads % model.num_key_value_heads == 0


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_a_head_has_a_whole_size(model):
    assert model.head_size or model.hidden_size % model.num_attention_heads == 0


def test_a_head_of_llama_3_has_128_channels():
    assert head_size(MODELS["llama-3-405b"]) == 128


def test_keys_of_deepseek_v3_are_wider_than_its_values():
    model = MODELS["deepseek-v3"]
    assert (head_size(model), value_head_size(model)) == (192, 128)


def test_58_of_the_61_layers_of_deepseek_v3_have_experts():
    assert num_sparse_layers(MODELS["deepseek-v3"]) == 58


def test_a_dense_model_has_no_sparse_layers():
    assert num_sparse_layers(MODELS["llama-3-8b"]) == 0


def test_the_first_four_layers_of_deepseek_v3_hold_one_sparse_layer():
    assert num_sparse_in(MODELS["deepseek-v3"], range(4)) == 1


def test_sparse_layers_of_all_stages_add_up():
    model = MODELS["deepseek-v3"]
    parts = [num_sparse_in(model, range(start, start + 4)) for start in range(0, 60, 4)]
    assert sum(parts) + num_sparse_in(model, range(60, 61)) == 58
