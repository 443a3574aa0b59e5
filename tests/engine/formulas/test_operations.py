import pytest

from engine.catalog.models import MODELS, num_sparse_layers
from engine.formulas.gpt import megatron_operations, palm_operations
from engine.formulas.operations import (
    attention_gemms,
    attention_operations,
    attention_scores,
    expert_gemms,
    layer_gemms,
    local_tokens,
    mlp_gemms,
    output_gemm,
    up_projections,
)
from engine.formulas.parameters import (
    active_parameters,
    embedding_parameters,
    matrix_parameters,
)
from engine.formulas.step_operations import hardware_operations, model_operations
from engine.run.parallelism import Plan, Training

GPT = MODELS["gpt-3-175b"]
ONE = Plan(world_size=1)


def training(sequence_length=2048, **changes):
    return Training(
        micro_batch_size=1, global_batch_size=1, sequence_length=sequence_length, **changes
    )


def per_token(name, sequence_length, counting):
    run = training(sequence_length)
    return model_operations(MODELS[name], run, counting) / sequence_length


# TFLOP per token as the sources count them: NeMo 24.07 (all pairs) and Megatron-Bridge (half).
COUNTED = [
    ("gpt-3-175b", 2048, "matrices", "1.0765"),
    ("llama-3-8b", 8192, "matrices", "0.0579"),
    ("llama-3-70b", 8192, "matrices", "0.4814"),
    ("llama-3-8b", 8192, "causal", "0.0515"),
    ("llama-3-70b", 8192, "causal", "0.4492"),
    ("llama-3-405b", 8192, "causal", "2.5240"),
]


@pytest.mark.parametrize(("name", "length", "counting", "printed"), COUNTED)
def test_operations_per_token_are_those_of_nemo_and_megatron_bridge(
    name, length, counting, printed
):
    assert f"{per_token(name, length, counting) / 1e12:.4f}" == printed


def test_deepseek_v3_takes_250_gigaflop_per_token():
    # Zhao et al. 2025, table 2, at 4,096 tokens, half of the pairs.
    assert f"{per_token('deepseek-v3', 4096, 'causal') / 1e9:.0f}" == "250"


def test_a_gpt_takes_what_equation_7_of_korthikanti_says():
    run = Training(micro_batch_size=1, global_batch_size=64, sequence_length=2048)
    equation = megatron_operations(64, 2048, 96, 12288, 51200)
    # The equation leaves out biases and norms, 0.01 percent.
    assert model_operations(GPT, run) == pytest.approx(equation, rel=1e-4)


def test_a_22b_step_on_eight_a100_reaches_41_5_percent():
    # Korthikanti et al. 2022, table 5: 1.10 s for 4 sequences, selective recomputation.
    rate = megatron_operations(4, 2048, 48, 6144, 51200) / 1.10 / 8
    assert rate / 312e12 == pytest.approx(0.415, abs=0.003)


def test_a_175b_model_of_narayanan_computes_what_equation_3_says():
    run = Training(
        micro_batch_size=1, global_batch_size=1536, sequence_length=2048, recompute="full"
    )
    length, layers, hidden, vocab = 2048, 96, 12288, 51200
    shares = 1 + length / (6 * hidden) + vocab / (16 * layers * hidden)
    equation = 96 * 1536 * length * layers * hidden**2 * shares
    assert hardware_operations(GPT, run) == pytest.approx(equation, rel=1e-4)


def test_palm_540b_counts_6n_and_attention():
    # Chowdhery et al. 2022, appendix B: 45.7 % without attention and 46.2 % with it.
    with_attention = palm_operations(540.35e9, 118, 48 * 256, 2048)
    assert with_attention / (6 * 540.35e9) == pytest.approx(46.2 / 45.7, abs=1e-3)


def test_selective_recomputation_repeats_the_attention_alone():
    run = training(recompute="selective")
    extra = hardware_operations(GPT, run) - model_operations(GPT, run)
    assert extra == pytest.approx(2048 * attention_operations(GPT, 2048, 1.0))


def test_without_recomputation_model_and_hardware_operations_agree():
    run = training()
    assert hardware_operations(GPT, run) == model_operations(GPT, run)


@pytest.mark.parametrize("name", ["gpt-3-175b", "llama-3-70b", "mixtral-8x7b", "deepseek-v3"])
def test_the_products_of_all_layers_are_two_operations_per_active_parameter(name):
    model, run = MODELS[name], training()
    dense = sum(gemm.operations for gemm in layer_gemms(model, ONE, run))
    total = output_gemm(model, ONE, run).operations
    sparse = num_sparse_layers(model)
    total += (model.num_layers - sparse) * dense
    if sparse:
        gemms = layer_gemms(model, ONE, run, sparse=True)
        total += sparse * sum(gemm.operations for gemm in gemms)
    # Norms and biases are parameters without products.
    assert total == pytest.approx(2 * 2048 * matrix_parameters(model), rel=2e-4)


def test_matrix_parameters_leave_the_input_embedding_out():
    model = MODELS["llama-3-8b"]
    assert matrix_parameters(model) == active_parameters(model) - embedding_parameters(model)


def test_tensor_parallelism_splits_the_columns_going_up_and_the_sum_coming_down():
    up, down = mlp_gemms(GPT, Plan(world_size=8, tensor_parallel=8), training(), 49152)
    assert ((up.m, up.n, up.k), (down.m, down.n, down.k)) == (
        (2048, 6144, 12288),
        (2048, 12288, 6144),
    )


def test_queries_keys_and_values_of_llama_3_are_one_product_with_6144_columns():
    (inputs, output) = attention_gemms(MODELS["llama-3-8b"], ONE, training())
    assert (inputs.n, output.k) == (6144, 4096)


def test_a_causal_mask_leaves_half_of_the_pairs_and_the_diagonal():
    assert attention_scores(GPT, ONE, training(4)).visible == 10 / 16


def test_a_sliding_window_sees_itself_and_its_past():
    # Of 4 tokens with a window of 2: 1 + 2 + 2 + 2 pairs.
    assert attention_scores(GPT, ONE, training(4), window=2).visible == 7 / 16


def test_context_parallelism_splits_queries_but_not_keys():
    scores = attention_scores(GPT, Plan(world_size=4, context_parallel=4), training())
    assert (scores.queries, scores.keys) == (512, 2048)


def test_scores_and_sums_of_an_attention_are_as_attention_operations_says():
    scores = attention_scores(GPT, ONE, training())
    counted = 2048 * attention_operations(GPT, 2048, scores.visible) / GPT.num_layers
    assert scores.operations == pytest.approx(counted)


def test_experts_of_a_rank_get_the_tokens_of_all_ranks_that_share_them():
    model = MODELS["mixtral-8x7b"]
    (up, _) = expert_gemms(model, Plan(world_size=8, expert_parallel=8), training(4096))
    # Eight ranks bring 4,096 tokens each, twice, for eight experts: one of them is here.
    assert (up.m, up.count) == (8192, 1)


def test_expert_parallelism_leaves_the_work_of_a_rank_as_it_is():
    model = MODELS["mixtral-8x7b"]
    plans = [Plan(world_size=8, expert_parallel=parts) for parts in (1, 2, 8)]
    found = {expert_gemms(model, plan, training(4096))[0].operations for plan in plans}
    assert len(found) == 1


def test_a_rank_sees_its_part_of_the_tokens_of_a_micro_batch():
    run = Training(micro_batch_size=2, global_batch_size=2, sequence_length=8192)
    assert local_tokens(Plan(world_size=4, context_parallel=4), run) == 4096


def test_the_up_projections_of_deepseek_v3_worked_by_hand():
    # 128 heads of 192 from a latent of 1,536; keys of 128 and values of 128 from one of 512.
    expected = 61 * 128 * (1536 * 192 + 512 * 256)
    assert up_projections(MODELS["deepseek-v3"]) == expected
    assert up_projections(GPT) == 0


def test_repeating_modules_costs_the_up_projections_again():
    plain, again = (training(recompute=recompute) for recompute in ("none", "modules"))
    model = MODELS["deepseek-v3"]
    more = hardware_operations(model, again) - hardware_operations(model, plain)
    assert more == pytest.approx(2048 * 2 * up_projections(model))
