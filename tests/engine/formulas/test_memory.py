"""Against the tables of ZeRO, Korthikanti and Zero Bubble; measured runs: tests/validation."""

import math
import random
from dataclasses import replace

import pytest

from engine.basis.units import GB, GiB
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.formulas.activations import (
    attention_inputs,
    attention_scores_kept,
    embedding_kept,
    expert_rows,
    korthikanti_activations,
    layer_memory,
    linear_input,
    logits_memory,
    modules_repeated,
)
from engine.formulas.states import (
    MIXED_PRECISION,
    StateBytes,
    largest_model,
    rank_parameters,
    sharded_states,
    state_bytes,
)
from engine.run.parallelism import Plan, Training, data_parallel
from engine.simulate.memory import fits, in_flight, memory, reserve, stage_memory, stage_states
from tests.each import each


def trained(model, **changes):
    """A run of the paper by Korthikanti: half precision, no FlashAttention, one node wide."""
    run = Training(micro_batch_size=1, global_batch_size=64, sequence_length=2048)
    return replace(run, precision="fp16", flash_attention=False, **changes)


# --- ZeRO, table 1: GB of model states per rank for stages 1, 2 and 3.
ZERO = {
    (7.5e9, 1): ("120", "120", "120"),
    (7.5e9, 4): ("52.5", "41.3", "30"),
    (7.5e9, 16): ("35.6", "21.6", "7.5"),
    (7.5e9, 64): ("31.4", "16.6", "1.88"),
    (7.5e9, 256): ("30.4", "15.4", "0.47"),
    (7.5e9, 1024): ("30.1", "15.1", "0.12"),
    (128e9, 1): ("2048", "2048", "2048"),
    (128e9, 4): ("896", "704", "512"),
    (128e9, 16): ("608", "368", "128"),
    (128e9, 64): ("536", "284", "32"),
    (128e9, 256): ("518", "263", "8"),
    (128e9, 1024): ("513", "257", "2"),
    (1e12, 1): ("16000", "16000", "16000"),
    (1e12, 4): ("7000", "5500", "4000"),
    (1e12, 16): ("4750", "2875", "1000"),
    (1e12, 64): ("4187", "2218", "250"),
    (1e12, 256): ("4046", "2054", "62.5"),
    (1e12, 1024): ("4011", "2013", "15.6"),
}


def digits(text):
    return len(text.partition(".")[2])


@each(("case", "printed"), ZERO.items())
@each("stage", [1, 2, 3])
def test_zero_needs_what_its_table_1_prints(case, printed, stage):
    parameters, ranks = case
    states = sharded_states(parameters, MIXED_PRECISION, stage, ranks)
    total = (states.parameters + states.gradients + states.optimizer) / GB
    text = printed[stage - 1]
    # The table rounds small figures and cuts those of three digits and more (513.5 is "513").
    step = 10.0 ** -digits(text)
    assert -step / 2 <= total - float(text) + 1e-9 < step


# --- ZeRO, table 2: largest model on V100 of 32 GB, billions, by ranks of model parallelism.
LARGEST = {
    1: ("2", "7.6", "14.4", "128"),
    2: ("4", "15.2", "28.8", "256"),
    4: ("8", "30.4", "57.6", "512"),
    8: ("16", "60.8", "115.2", "1000"),
    16: ("32", "121.6", "230.4", "2000"),
}


@each(("model_parallel", "printed"), LARGEST.items())
@each("stage", [0, 1, 2, 3])
def test_the_largest_model_is_that_of_table_2_of_zero(model_parallel, printed, stage):
    one = largest_model(32 * GB, MIXED_PRECISION, stage, 64) / 1e9
    # The table multiplies what it has rounded for one rank, and calls 1024 billion a trillion.
    rounded = float(f"{one:.{digits(LARGEST[1][stage])}f}")
    text = printed[stage]
    in_trillions = {"1000": 1024.0, "2000": 2048.0}
    assert rounded * model_parallel == pytest.approx(in_trillions.get(text, float(text)))


def test_more_ranks_never_need_more():
    stages = [
        sharded_states(1e9, MIXED_PRECISION, 1, ranks).optimizer for ranks in (1, 2, 4, 8, 64)
    ]
    assert stages == sorted(stages, reverse=True)


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
    pieces_held = sum(in_flight(schedule, stages, pieces, 0, 10 * stages))
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
    pieces = in_flight(schedule, 8, 1, 0, 64)
    # In a V each of two pieces is half of what 1F1B holds. 2p - 1 of p is printed as 2x.
    held = sum(pieces) / len(pieces) / sum(in_flight("1f1b", 8, 1, 0, 64))
    assert min(SHARES.values(), key=lambda share: abs(share - held)) == SHARES[printed]
    assert abs(held - SHARES[printed]) <= 1 / 8


def test_1f1b_holds_one_micro_batch_for_each_stage_to_come():
    assert [in_flight("1f1b", 4, 1, stage, 8) for stage in range(4)] == [(4,), (3,), (2,), (1,)]


def test_gpipe_holds_all_micro_batches():
    assert in_flight("gpipe", 4, 1, 0, 32) == (32,)


def test_dualpipe_holds_one_micro_batch_more_than_its_ranks():
    # DeepSeek-V3, table 2: activations PP + 1.
    assert sum(in_flight("dualpipe", 16, 1, 0, 64)) == 17


def test_interleaving_holds_the_share_more_that_korthikanti_states():
    held = sum(in_flight("interleaved", 8, 3, 0, 64)) / 3
    assert held / 8 == pytest.approx(1 + 7 / (8 * 3))


def test_a_step_of_few_micro_batches_holds_no_more_than_it_has():
    assert in_flight("1f1b", 16, 1, 0, 4) == (4,)
    assert sum(in_flight("interleaved", 8, 2, 0, 8)) <= 16


# --- Parameters and states of a rank.
def test_parameters_of_all_ranks_are_those_of_the_model():
    model = MODELS["llama-3-8b"]
    plan = Plan(world_size=8, tensor_parallel=2, pipeline_parallel=4)
    run = Training(micro_batch_size=1, global_batch_size=8, sequence_length=8192)
    total = 2 * sum(rank_parameters(model, plan, run, stage).dense for stage in range(4))
    # Norms are on both ranks of tensor parallelism.
    assert total == 8_030_261_248 + 65 * 4096


def test_a_tied_embedding_has_a_copy_on_the_last_stage():
    model = MODELS["gpt-3-175b"]
    run = trained("gpt-3-175b")
    plan = Plan(world_size=2, pipeline_parallel=2)
    first, last = (rank_parameters(model, plan, run, stage).dense for stage in (0, 1))
    assert first - last == model.learned_positions * 12288 - 2 * 12288


def test_experts_are_split_over_their_ranks():
    model = MODELS["mixtral-8x7b"]
    run = Training(micro_batch_size=1, global_batch_size=8, sequence_length=4096)
    found = rank_parameters(model, Plan(world_size=8, expert_parallel=8), run)
    assert found.experts == 32 * 3 * 4096 * 14336


def test_dualpipe_holds_its_parameters_twice():
    model = MODELS["llama-3-405b"]
    run = Training(micro_batch_size=1, global_batch_size=64, sequence_length=8192)
    plan = Plan(world_size=9, pipeline_parallel=9)
    one = rank_parameters(model, plan, run, 4).dense
    both = rank_parameters(model, plan, replace(run, schedule="dualpipe"), 4).dense
    assert both == 2 * one


def test_megatron_sums_bf16_gradients_in_single_precision_and_fp16_as_they_are():
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
    found = [state_bytes(replace(run, precision=one)).gradient for one in ("bf16", "fp16")]
    assert found == [4, 2]


def test_the_distributed_optimizer_of_an_8b_model_fills_41_gib_with_bf16_gradients():
    # NVIDIA's recipe for Llama 3.1 8B, 8 ranks, logs 41.23 GiB after a step.
    model = MODELS["llama-3-8b"]
    plan = Plan(world_size=8, context_parallel=2)
    run = Training(
        micro_batch_size=1, global_batch_size=128, sequence_length=8192, gradient_precision="bf16"
    )
    states = stage_states(model, plan, run, 0)
    total = states.parameters + states.gradients + states.optimizer
    assert total / GiB == pytest.approx(41.23, rel=0.005)


def test_fsdp_shards_everything():
    model = MODELS["llama-3-8b"]
    plan = Plan(world_size=8, zero_stage=3)
    run = Training(micro_batch_size=1, global_batch_size=8, sequence_length=8192, framework="fsdp")
    states = stage_states(model, plan, run, 0)
    total = states.parameters + states.gradients + states.optimizer
    assert total == pytest.approx(16 * 8_030_261_248 / 8)


# --- The whole.
SMALL = Plan(world_size=8, tensor_parallel=2, sequence_parallel=True)
RUN = Training(micro_batch_size=1, global_batch_size=8, sequence_length=8192)


def test_parts_add_up():
    found = memory(MODELS["llama-3-8b"], SMALL, RUN)
    parts = found.parameters + found.gradients + found.optimizer + found.activations
    assert found.total == parts + found.buffers + found.reserve


@each("framework", ["megatron", "fsdp", "deepspeed"])
def test_a_longer_sequence_never_needs_less(framework):
    run = replace(RUN, framework=framework)
    found = [
        memory(MODELS["llama-3-8b"], SMALL, replace(run, sequence_length=length)).total
        for length in (1024, 2048, 8192, 32768)
    ]
    assert found == sorted(found)


@each("framework", ["megatron", "fsdp", "deepspeed"])
@each("name", ["gpt-3-175b", "llama-3-8b", "mixtral-8x7b", "deepseek-v3"])
def test_recomputation_never_keeps_more(framework, name):
    run = replace(RUN, framework=framework, flash_attention=False)
    plan = SMALL
    found = [
        layer_memory(MODELS[name], plan, replace(run, recompute=one)).kept
        for one in ("full", "selective", "none")
    ]
    assert found == sorted(found)


def test_the_fullest_of_all_stages_is_found():
    model = MODELS["llama-3-405b"]
    plan = Plan(world_size=128, tensor_parallel=8, pipeline_parallel=16, sequence_parallel=True)
    run = replace(RUN, global_batch_size=64)
    layer = layer_memory(model, plan, run)
    every = [stage_memory(model, plan, run, stage, (layer, layer)).total for stage in range(16)]
    assert memory(model, plan, run).total == max(every)


def test_only_what_nvidia_smi_shows_counts_the_context():
    found = [reserve(replace(RUN, framework=one), 0.0) for one in ("megatron", "fsdp", "deepspeed")]
    assert found[1] < found[0] < found[2]


def test_a_70b_model_does_not_fit_one_node_without_sharding():
    model, plan = MODELS["llama-3-70b"], Plan(world_size=8, tensor_parallel=8, zero_stage=0)
    found = memory(model, plan, RUN)
    assert not fits(found, RUN, ACCELERATORS["H100-SXM"].memory)


def test_an_8b_model_fits_eight_h100_with_sharding():
    run = replace(RUN, framework="fsdp", recompute="full")
    found = memory(MODELS["llama-3-8b"], Plan(world_size=8, zero_stage=3), run)
    assert fits(found, run, ACCELERATORS["H100-SXM"].memory)


# The BLOOM team's sweep: 181B, micro-batch, TP, PP, DP of what ran out of 80 GB, and one that fit.
SWEEP = [((1, 8, 1, 48), False), ((2, 2, 6, 32), False), ((1, 2, 6, 32), False)]
SWEEP.append(((4, 8, 12, 4), True))


@each(("case", "fitted"), SWEEP)
def test_what_ran_out_of_memory_in_the_bloom_sweep_does_not_fit(case, fitted):
    sequences, tensor, stages, ranks = case
    model = replace(
        MODELS["bloom-176b"], num_layers=72, num_attention_heads=64, num_key_value_heads=64
    )
    plan = Plan(
        world_size=tensor * stages * ranks, tensor_parallel=tensor, pipeline_parallel=stages
    )
    run = Training(
        micro_batch_size=sequences,
        global_batch_size=2016 if ranks == 48 else 2048,
        sequence_length=2048,
        recompute="full",
        flash_attention=False,
        framework="deepspeed",
    )
    assert data_parallel(plan) == ranks
    found = memory(model, plan, run)
    assert fits(found, run, ACCELERATORS["A100-SXM-80GB"].memory) == fitted


# --- Any valid run: 2,000 of them, the same each time.
SCHEDULES = ("gpipe", "1f1b", "zb-1p", "zb-2p", "zbv", "v-half", "v-min", "dualpipe")


def any_run(source):
    model = MODELS[source.choice(sorted(MODELS))]
    tensor, stages, ranks = (source.choice((1, 2, 4, 8)) for _ in range(3))
    context = source.choice((1, 1, 2, 4))
    world = tensor * stages * ranks * context
    plan = Plan(
        world_size=world,
        tensor_parallel=tensor,
        pipeline_parallel=stages,
        context_parallel=context,
        expert_parallel=source.choice((1, ranks)) if model.num_experts else 1,
        sequence_parallel=source.random() < 0.5,
        zero_stage=source.randrange(4),
    )
    run = Training(
        micro_batch_size=source.choice((1, 2, 3)),
        global_batch_size=48 * ranks,
        sequence_length=source.choice((1024, 4096, 65536)),
        precision=source.choice(("bf16", "fp16", "fp8")),
        recompute=source.choice(("none", "selective", "full")),
        flash_attention=source.random() < 0.7,
        schedule=source.choice(SCHEDULES),
        framework=source.choice(("megatron", "fsdp", "deepspeed")),
        compiled=source.random() < 0.5,
    )
    return model, plan, run


RUNS = [any_run(random.Random(seed)) for seed in range(2000)]


def parts_of(found):
    names = ("parameters", "gradients", "optimizer", "activations", "buffers", "reserve")
    return [getattr(found, name) for name in names]


def test_every_part_of_any_run_is_finite_and_not_negative():
    parts = [part for run in RUNS for part in parts_of(memory(*run))]
    assert all(0 <= part < float("inf") for part in parts)


def test_any_run_needs_more_for_a_longer_sequence():
    def longer(model, plan, run):
        return model, plan, replace(run, sequence_length=2 * run.sequence_length)

    assert all(memory(*longer(*run)).total > memory(*run).total for run in RUNS)


def test_states_of_any_run_are_no_larger_when_more_is_sharded():
    def states(model, plan, run):
        return stage_states(model, plan, run, 0).total

    def sharded(model, plan, run):
        return model, replace(plan, zero_stage=min(3, plan.zero_stage + 1)), run

    assert all(states(*sharded(*run)) <= states(*run) for run in RUNS)


@each(("stage", "kept", "even"), [(1, 4, 3), (2, 2, 7), (3, 0, math.inf)])
def test_what_a_stage_keeps_whole_and_when_its_share_weighs_as_much(stage, kept, even):
    # 2 + 2 + 12 bytes: 12 sharded against 4, 14 against 2, all against nothing.
    types = MIXED_PRECISION
    assert (types.replicated(stage), types.break_even_ranks(stage)) == (kept, even)


def test_what_repeating_modules_saves_of_a_layer_of_deepseek_v3_worked_by_hand():
    # In fp8, per token: two norms' outputs of 7,168 bytes; the latents' norms, 2,048 halves;
    # queries, keys (also joined with their position) and values of 128 heads, 640 halves each; nine
    # experts of 2,048: the output in fp8, and the gate's two inputs kept in 1 byte instead of 2.
    model, plan = MODELS["deepseek-v3"], Plan(world_size=1)
    training = Training(
        micro_batch_size=1, global_batch_size=1, sequence_length=4096, precision="fp8"
    )
    norms, latents, heads, experts = 2 * 7168, 2 * 2048, 2 * 128 * 640, 9 * 2048 * 3
    saved = modules_repeated(model, plan, training, sparse=True)
    assert saved == norms + latents + heads + experts


def test_repeating_modules_keeps_less_than_repeating_nothing_and_more_than_repeating_all():
    model, plan = MODELS["deepseek-v3"], Plan(world_size=1)
    kept = [
        layer_memory(
            model,
            plan,
            Training(
                micro_batch_size=1,
                global_batch_size=1,
                sequence_length=4096,
                precision="fp8",
                recompute=recompute,
            ),
            sparse=True,
        ).kept
        for recompute in ("none", "modules", "full")
    ]
    assert kept == sorted(kept, reverse=True)
    assert kept[1] < 0.6 * kept[0]
