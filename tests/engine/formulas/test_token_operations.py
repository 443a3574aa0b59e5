"""Operations per token against published figures, and the two utilizations by hand."""

import pytest

from engine.catalog.flop_conventions import CONVENTIONS
from engine.catalog.models import MODELS
from engine.core.units import GIGA, TERA
from engine.formulas.step_operations import model_operations
from engine.formulas.token_operations import (
    attention_width,
    break_even_length,
    counted_pairs,
    counted_parameters,
    implied_peak,
    token_operations,
    utilization,
)
from engine.run.parallelism import Training


@pytest.mark.parametrize(
    ("model", "counting", "published"),
    [
        ("llama-3-8b", "palm", 61.1 * GIGA),  # torchtitan: 6N + 12Lhs
        ("llama-3-405b", "palm", 2.64 * TERA),
        ("llama-3-8b", "matrices", 57.9 * GIGA),  # NeMo 24.07: without the embedding
        ("llama-3-70b", "matrices", 481.6 * GIGA),
        ("llama-3-8b", "causal", 51.5 * GIGA),  # Megatron-Bridge: half of the pairs
        ("llama-3-70b", "causal", 449 * GIGA),
        ("llama-3-405b", "causal", 2.524 * TERA),
    ],
)
def test_published_operations_per_token(model, counting, published):
    assert token_operations(MODELS[model], 8192, counting) == pytest.approx(published, rel=0.002)


def test_llama_3_8b_costs_48_billion_operations_by_the_rule_of_six():
    assert round(token_operations(MODELS["llama-3-8b"], 8192, "six") / GIGA, 1) == 48.2


def test_both_terms_are_equal_at_the_break_even():
    model = MODELS["llama-3-8b"]
    counted = counted_parameters(model, "causal")
    even = break_even_length(counted, attention_width(model), counted_pairs("causal"))
    matrices = token_operations(model, 0, "causal")
    assert token_operations(model, even, "causal") == pytest.approx(2 * matrices, rel=1e-12)


def test_a_printed_mfu_gives_the_peak_back():
    assert implied_peak(50 * GIGA, 8000, utilization(50 * GIGA, 8000, 989 * TERA)) == 989 * TERA


# Llama 3 8B at 4,096 tokens by hand: 8,030,261,248 parameters, of them 128,256 x 4,096 in the
# table of the embedding; 32 layers, 32 heads of 128.
ALL, EMBEDDING = 8_030_261_248, 128_256 * 4096
PAIRS = 12 * 32 * 32 * 128 * 4096


@pytest.mark.parametrize(
    ("counting", "by_hand", "printed"),
    [
        ("palm", 6 * ALL + PAIRS, 54.6),
        ("six", 6 * ALL, 48.2),
        ("matrices", 6 * (ALL - EMBEDDING) + PAIRS, 51.5),
        ("causal", 6 * (ALL - EMBEDDING) + PAIRS / 2, 48.3),
    ],
)
def test_every_convention_by_hand(counting, by_hand, printed):
    found = token_operations(MODELS["llama-3-8b"], 4096, counting)
    assert found == pytest.approx(by_hand, rel=1e-6)
    assert round(found / GIGA, 1) == printed


def test_a_step_counts_as_its_tokens_do():
    training = Training(micro_batch_size=1, global_batch_size=8, sequence_length=4096)
    for counting in CONVENTIONS:
        token = token_operations(MODELS["llama-3-8b"], 4096, counting)
        step = model_operations(MODELS["llama-3-8b"], training, counting)
        assert step == pytest.approx(8 * 4096 * token)
