"""Letters of layers: what they stand for, and what is refused."""

from dataclasses import replace

import pytest

from engine.catalog.mixers.mix import LayerSizes, letters_of, mixed_model, size_problems
from engine.catalog.models import MODELS, kinds_in, layer_kinds
from engine.catalog.recent_models import RECENT_MODELS
from engine.formulas.parameters import kind_parameters, layer_parameters, total_parameters

LLAMA = MODELS["llama-3-8b"]
WINDOWS = LayerSizes(order="WWW*", window=1024)


def test_layers_of_one_kind_are_the_model_itself():
    mixed = mixed_model(LLAMA, LayerSizes())
    assert total_parameters(mixed) == total_parameters(LLAMA)
    assert kinds_in(mixed, range(32)) == (32,)


def test_a_shorter_text_is_repeated():
    assert letters_of(WINDOWS, 8) == "WWW*WWW*"


def test_layers_are_counted_by_kind():
    mixed = mixed_model(LLAMA, WINDOWS)
    assert kinds_in(mixed, range(4)) == (3, 1)
    assert kinds_in(mixed, range(5, 10)) == (4, 1)


@pytest.mark.parametrize("key", RECENT_MODELS)
def test_all_stages_together_have_all_layers(key):
    model = RECENT_MODELS[key]
    stages = [kinds_in(model, range(at, min(at + 5, model.num_layers)))
              for at in range(0, model.num_layers, 5)]  # fmt: skip
    assert tuple(map(sum, zip(*stages, strict=True))) == kinds_in(model, range(model.num_layers))


@pytest.mark.parametrize("key", [key for key, model in RECENT_MODELS.items() if model.mix])
def test_the_parameters_of_all_layers_are_those_of_their_kinds(key):
    model = RECENT_MODELS[key]
    counts = kinds_in(model, range(model.num_layers))
    pairs = zip(counts, layer_kinds(model), strict=True)
    assert layer_parameters(model) == sum(n * kind_parameters(kind).total for n, kind in pairs)


def test_a_layer_of_mamba_worked_by_hand():
    # In: 4,096 x (2 x 8,192 + 2 x 8 x 128 + 128); out: 8,192 x 4,096; 10,240 filters of 4 and a
    # bias; three numbers for each of 128 heads; two norms.
    ((kind, _), *_) = RECENT_MODELS["nemotron-h-8b"].mix.kinds
    matrices = 4096 * (16384 + 2048 + 128) + 8192 * 4096
    small = 5 * 10240 + 3 * 128 + 8192 + 4096
    assert kind_parameters((kind, False)).total == matrices + small


def test_a_layer_of_gated_deltanet_worked_by_hand():
    # In: 2,048 x (2 x 2,048 + 2 x 4,096 + 2 x 32); out: 4,096 x 2,048; 8,192 filters of 4; two
    # numbers for each of 32 heads; a norm of 128.
    ((kind, _), *_) = RECENT_MODELS["qwen3-next-80b-a3b"].mix.kinds
    split, whole = kind.mixer.parameters(kind, (0, 0))
    matrices = 2048 * (4096 + 8192 + 64) + 4096 * 2048
    assert (split, whole) == (matrices + 4 * 8192 + 2 * 32, 128)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (LayerSizes(order="X"), "layers.order: 'X'; allowed: letters of *WSsGKMCH-E"),
        (LayerSizes(order="W"), "layers.window: 0; allowed: 1 or more, there are layers W"),
        (
            LayerSizes(order="WWW*W", window=8),
            "layers.order: 5 letters; allowed: one for each of the 32 layers, or a divisor of them",
        ),
        (LayerSizes(order="E*"), "layers.order: 'E'; allowed: where num_experts is 1 or more"),
        (
            LayerSizes(key_heads=3, value_heads=4),
            "layers.value_heads: 4; allowed: a multiple of key_heads = 3",
        ),
    ],
)
def test_what_letters_and_sizes_cannot_be_is_told(sizes, said):
    assert said in size_problems(LLAMA, sizes)


def test_a_window_stands_in_one_place():
    (problem,) = size_problems(replace(LLAMA, sliding_window=128), WINDOWS)
    assert problem.startswith("model.sliding_window: 128; allowed: 0 beside layers")
