"""What a rank keeps of the forward pass, against Korthikanti's paper and its kin."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS
from engine.core.units import GiB
from engine.formulas.activations import (
    attention_inputs,
    attention_scores_kept,
    embedding_kept,
    expert_rows,
    layer_memory,
    linear_input,
    logits_memory,
)
from engine.formulas.gpt import korthikanti_activations
from engine.formulas.states import (
    StateBytes,
    sharded_states,
)
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.peak_activations import microbatches_in_flight
from tests.each import each


def trained(model, **changes):
    """A run of the paper by Korthikanti: half precision, no FlashAttention, one node wide."""
    run = Training(micro_batch_size=1, global_batch_size=64, sequence_length=2048)
    return replace(run, precision="fp16", flash_attention=False, **changes)


# --- Korthikanti, figures 1 and 7, from the equations: heads, hidden, layers, TP, PP, v, b.
KORTHIKANTI = {
    "gpt-22b": (1, 1, 4),
    "gpt-3-175b": (8, 3, 1),
    "gpt-530b": (35, 3, 1),
    "gpt-1t": (64, 1, 1),
}


GIB = {
    "gpt-22b": (45.5625, 59.25, 9.5625),
    "gpt-3-175b": (45.5625, 66.84375, 12.3515625),
    "gpt-530b": (31.640625, 114.0234375, 23.076171875),
    "gpt-1t": (32.958984375, 131.25, 26.5625),
}


PERCENT = {
    "gpt-22b": (66.84, 49.42, 16.18, 7.64),
    "gpt-3-175b": (62.04, 56.53, 18.49, 8.71),
    "gpt-530b": (58.31, 62.04, 20.27, 9.42),
    "gpt-1t": (58.31, 62.04, 20.27, 9.42),
}


def kept(name, *, sequence_parallel=False, recompute="none"):
    stages, _, sequences = KORTHIKANTI[name]
    plan = Plan(
        world_size=8 * stages,
        tensor_parallel=8,
        pipeline_parallel=stages,
        sequence_parallel=sequence_parallel,
    )
    run = replace(trained(name, recompute=recompute), micro_batch_size=sequences)
    return layer_memory(MODELS[name], plan, run).kept


def held_layers(name):
    """Layers times micro-batches that the first stage holds."""
    stages, pieces, _ = KORTHIKANTI[name]
    schedule = "interleaved" if pieces > 1 else "1f1b"
    pieces_held = sum(microbatches_in_flight(schedule, stages, pieces, 0, 10 * stages))
    return pieces_held * MODELS[name].num_layers / stages / pieces


@each(("name", "printed"), GIB.items())
def test_the_first_stage_keeps_what_figure_1_of_korthikanti_shows(name, printed):
    everything = held_layers(name) * kept(name) / GiB
    both = held_layers(name) * kept(name, sequence_parallel=True, recompute="selective") / GiB
    assert (everything, both) == pytest.approx(printed[1:], rel=1e-9)


@each(("name", "printed"), GIB.items())
def test_states_of_a_rank_are_those_of_figure_1_of_korthikanti(name, printed):
    model, (stages, _, _) = MODELS[name], KORTHIKANTI[name]
    layers = 12 * model.hidden_size**2 * model.num_layers / stages / 8
    types = StateBytes(parameter=2.0, gradient=4.0, optimizer=12.0)
    states = sharded_states(layers, types, 0, 1)
    assert (states.parameters + states.gradients + states.optimizer) / GiB == printed[0]


@each(("name", "printed"), PERCENT.items())
def test_savings_are_those_of_figure_7_of_korthikanti(name, printed):
    choices = [(True, "none"), (False, "selective"), (True, "selective")]
    whole = kept(name)
    found = [kept(name, sequence_parallel=one, recompute=two) / whole for one, two in choices]
    # Full recomputation there keeps the input once, not split.
    found.append(kept(name, recompute="full") / whole)
    # The figure shows bars; the percentages were read off them.
    assert [100 * share for share in found] == pytest.approx(printed, abs=0.15)


def test_a_layer_keeps_what_equation_2_of_korthikanti_says():
    equation = korthikanti_activations(2048, 12288, 96, 2048, 8)
    assert kept("gpt-3-175b") == pytest.approx(equation)


def test_sequence_parallelism_divides_a_layer_by_its_ranks():
    # Equation 4: s b h (34 + 5 a s / h) / t.
    by_hand = 2048 * 12288 / 8 * (34 + 5 * 96 * 2048 / 12288)
    assert kept("gpt-3-175b", sequence_parallel=True) == by_hand


def test_flash_attention_keeps_four_bytes_per_head_and_query():
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=8192)
    assert attention_scores_kept(MODELS["llama-3-8b"], Plan(world_size=1), run) == 4 * 32


def test_the_mask_of_an_embedding_is_one_byte():
    run = trained("gpt-3-175b")
    assert embedding_kept(MODELS["gpt-3-175b"], Plan(world_size=1), run) == 2048 * 12288


def test_a_llama_drops_nothing_and_keeps_no_mask():
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=8192)
    assert embedding_kept(MODELS["llama-3-8b"], Plan(world_size=1), run) == 0


def test_a_layer_of_llama_3_8b_keeps_36_5_bytes_per_channel_and_its_normalizers():
    # Norms and their outputs 8, queries, keys and values 3 and rotated 2.5, attention 2,
    # gate and up 14, their product 7; and 4 bytes for each of 32 heads.
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096)
    found = layer_memory(MODELS["llama-3-8b"], Plan(world_size=1), run).kept
    assert found == 4096 * (36.5 * 4096 + 4 * 32)


def test_a_norm_in_one_kernel_keeps_its_input_in_16_bits_in_eager_software_too():
    # In elementary operators 4 + 2 bytes: two norms of a layer keep 8 bytes more per channel.
    run = Training(
        micro_batch_size=1,
        global_batch_size=1,
        sequence_length=4096,
        framework="fsdp",
        compiled=False,
    )
    eager, fused = (
        layer_memory(MODELS["llama-2-13b"], Plan(world_size=1), replace(run, fused_norms=one)).kept
        for one in (False, True)
    )
    assert eager - fused == 8 * 4096 * 5120


def test_queries_keys_and_values_of_latent_attention_are_wide():
    # Latents 3,072 + 1,024 + 64, and 128 heads of 192 + 192 + 256.
    by_hand = 2 * (3072 + 1024 + 64 + 128 * 640)
    assert attention_inputs(MODELS["deepseek-v3"], Plan(world_size=1)) == by_hand


def test_transformer_engine_keeps_inputs_in_fp8():
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096, precision="fp8")
    assert (linear_input(run), linear_input(replace(run, framework="fsdp"))) == (1, 2)


def test_experts_of_a_rank_get_each_token_as_often_as_it_is_routed():
    assert expert_rows(MODELS["deepseek-v3"], Plan(world_size=64, expert_parallel=64)) == 8


def test_logits_of_llama_3_fill_four_gigabytes_at_4096_tokens():
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096, compiled=False)
    found = logits_memory(MODELS["llama-3-8b"], Plan(world_size=1), run)
    assert found.kept + found.working == 8 * 4096 * 128256 + 4 * 4096 * 4096


def test_the_fused_loss_writes_the_gradient_over_the_logits():
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096)
    found = logits_memory(MODELS["llama-3-8b"], Plan(world_size=1), run)
    assert found.kept == 2 * 4096 * 128256 + 4 * 4096 * 4096
    assert found.working == 2 * 128256 * 4096


# --- Micro-batches in flight.
# README of the zero-bubble schedules: peak of activations against 1F1B, of 8 ranks.
RATIOS = {"zb-1p": "1", "zb-2p": "2", "zbv": "1", "v-half": "1/2", "v-min": "1/3"}


SHARES = {"1": 1, "2": 2, "1/2": 1 / 2, "1/3": 1 / 3}


@each(("schedule", "printed"), RATIOS.items())
def test_zero_bubble_schedules_hold_what_their_table_prints(schedule, printed):
    pieces = microbatches_in_flight(schedule, 8, 1, 0, 64)
    # In a V each of two pieces is half of what 1F1B holds. 2p - 1 of p is printed as 2x.
    held = sum(pieces) / len(pieces) / sum(microbatches_in_flight("1f1b", 8, 1, 0, 64))
    assert min(SHARES.values(), key=lambda share: abs(share - held)) == SHARES[printed]
    assert abs(held - SHARES[printed]) <= 1 / 8


def test_1f1b_holds_one_micro_batch_for_each_stage_to_come():
    assert [microbatches_in_flight("1f1b", 4, 1, stage, 8) for stage in range(4)] == [
        (4,),
        (3,),
        (2,),
        (1,),
    ]


def test_gpipe_holds_all_micro_batches():
    assert microbatches_in_flight("gpipe", 4, 1, 0, 32) == (32,)


def test_dualpipe_holds_one_micro_batch_more_than_its_ranks():
    # DeepSeek-V3, table 2: activations PP + 1.
    assert sum(microbatches_in_flight("dualpipe", 16, 1, 0, 64)) == 17


def test_interleaving_holds_the_share_more_that_korthikanti_states():
    held = sum(microbatches_in_flight("interleaved", 8, 3, 0, 64)) / 3
    assert held / 8 == pytest.approx(1 + 7 / (8 * 3))


def test_a_step_of_few_micro_batches_holds_no_more_than_it_has():
    assert microbatches_in_flight("1f1b", 16, 1, 0, 4) == (4,)
    assert sum(microbatches_in_flight("interleaved", 8, 2, 0, 8)) <= 16
