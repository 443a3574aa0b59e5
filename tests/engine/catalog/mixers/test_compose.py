"""Models of a reader's own mixture of layers."""

import pytest

from engine.catalog.mixers.compose import composed_model, layer_letters, mixer_counts
from engine.catalog.recent_models import EVERY_MODEL
from engine.formulas.parameters import total_parameters
from tests.each import each

NONE = {"full": 0, "windowed": 0, "chosen": 0, "linear": 0}


@each("key", ["qwen3-next-80b-a3b", "nemotron-3-super", "kimi-linear-48b-a3b", "deepseek-v3.2"])
def test_a_model_s_own_proportions_give_its_own_order(key):
    model = EVERY_MODEL[key]
    same = composed_model(model, mixer_counts(model), 1024)
    assert layer_letters(same) == layer_letters(model)
    assert total_parameters(same) == total_parameters(model)


def test_a_ratio_is_enough():
    model = EVERY_MODEL["qwen3-next-80b-a3b"]
    own = composed_model(model, {**NONE, "full": 1, "linear": 3}, 1024)
    assert layer_letters(own) == "GGG*" * 12


def test_layers_without_a_mixer_stay_where_they_are():
    model = EVERY_MODEL["nemotron-3-nano"]
    letters = layer_letters(composed_model(model, {**NONE, "full": 1}, 1024))
    assert letters == layer_letters(model).replace("M", "*")


def test_kinds_are_spread_evenly():
    model = EVERY_MODEL["llama-3-70b"]
    letters = layer_letters(composed_model(model, {**NONE, "full": 1, "windowed": 7}, 512))
    assert letters.count("*") == 10
    assert {letters[start : start + 8].count("*") for start in range(0, 80, 8)} == {1}


def test_nothing_chosen_is_full_attention():
    model = EVERY_MODEL["gemma-3-27b"]
    assert set(layer_letters(composed_model(model, NONE, 1024))) == {"*"}


def test_a_dense_model_gets_the_deltanet_of_qwen3_next():
    sizes = composed_model(EVERY_MODEL["llama-3-70b"], {**NONE, "linear": 1}, 1024).mix.sizes
    own = EVERY_MODEL["qwen3-next-80b-a3b"]
    assert sizes.value_heads / 8192 == own.mix.sizes.value_heads / own.hidden_size
    assert sizes.value_heads == 2 * sizes.key_heads


def test_full_attention_everywhere_is_the_model_itself_if_it_has_no_other():
    model = EVERY_MODEL["llama-3-70b"]
    assert composed_model(model, {**NONE, "full": 3}, 1024) is model


@pytest.mark.parametrize("kind", ["windowed", "chosen", "linear"])
def test_every_kind_can_be_had_alone(kind):
    model = composed_model(EVERY_MODEL["olmo-3-32b"], {**NONE, kind: 2}, 2048)
    assert mixer_counts(model) == {**NONE, kind: 64}
