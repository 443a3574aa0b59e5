"""The products of a token, one by one, against PyTorch's counter and the closed form."""

import pytest

from engine.catalog.models import MODELS, TINY_260
from engine.formulas.token_operations import token_operations
from engine.simulate.layer.token_cost import repeated_operations, token_cost_parts


def test_the_tiny_model_costs_what_pytorch_counts():
    # torch.utils.flop_counter on the same model: 416 in products of matrices and 256 in batched
    # ones, forward; twice that backward.
    parts = token_cost_parts(TINY_260, 8, 1.0)
    attention = next(part for part in parts if part.key == "attention")
    assert attention.forward == 256
    assert sum(part.forward for part in parts) == 416 + 256
    assert sum(part.all for part in parts) == 2016


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_parts_sum_to_the_formula_but_for_norms_and_biases(name):
    found = sum(part.all for part in token_cost_parts(MODELS[name], 4096, 0.5))
    assert found == pytest.approx(token_operations(MODELS[name], 4096, "causal"), rel=2e-3)


def test_a_mixture_counts_the_experts_that_a_token_visits():
    parts = {part.key: part for part in token_cost_parts(MODELS["deepseek-v3"], 4096, 0.5)}
    assert (parts["experts_up"].copies, parts["experts_up"].layers) == (8, 58)


def test_full_recomputation_repeats_a_third_but_for_the_output_layer():
    model = MODELS["gpt-3-175b"]
    again = repeated_operations(model, 2048, "matrices", "full")
    forward = token_operations(model, 2048, "matrices") / 3
    assert again == pytest.approx(forward - 2 * model.vocab_size * model.hidden_size)


def test_selective_recomputation_repeats_the_scores():
    again = repeated_operations(TINY_260, 8, "matrices", "selective")
    assert again == 2 * 2 * 4 * 8 * 2  # scores and sums, two layers of width 4, eight tokens


def test_nothing_is_repeated_without_recomputation():
    assert repeated_operations(TINY_260, 8, "matrices", "none") == 0
