"""Parameters, gradients and optimizer states of a rank, against the tables of ZeRO."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS
from engine.core.units import GB, GiB, MiB
from engine.formulas.states import (
    MIXED_PRECISION,
    rank_parameters,
    sharded_states,
    state_bytes,
)
from engine.formulas.zero_gains import largest_model
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.memory import stage_states
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


def test_weights_in_8_bits_alone_have_no_copy_in_16():
    # Transformer Engine: "hold only quantized copies of its parameters, as opposed to the default
    # behavior where both higher precision and quantized copies are present".
    model, plan = MODELS["llama-3-8b"], Plan(world_size=8)
    run = Training(micro_batch_size=1, global_batch_size=8, sequence_length=8192, precision="fp8")
    both, alone = (
        stage_states(model, plan, replace(run, quantized_weights=one), 0).parameters
        for one in (False, True)
    )
    ends = 2 * 128_256 * 4096 + 4096
    assert both == 4 * (8_030_261_248 - ends) + 2 * ends
    # Rows and columns in 8 bits; embedding and output stay in 16.
    assert alone == 2 * 8_030_261_248


def test_one_copy_of_a_weight_in_fp8_serves_both_passes_on_blackwell():
    # Transformer Engine's own example: a layer of 1024 x 1024 is 1 MiB in FP8, beside 2 MiB in
    # bf16 where these stay (docs, performance considerations); a transpose would be 1 MiB more.
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1, precision="fp8")
    found = {
        (alone, once): state_bytes(replace(run, quantized_weights=alone, quantized_once=once))
        for alone in (False, True)
        for once in (False, True)
    }
    matrix = 1024 * 1024
    assert found[True, True].parameter * matrix == 1 * MiB
    assert found[False, True].parameter * matrix == 3 * MiB
    assert found[True, False].parameter * matrix == 2 * MiB
    assert found[False, False].parameter * matrix == 4 * MiB
    # NVFP4 has no such layout; bf16 has no copy.
    for precision in ("fp4", "bf16"):
        other = replace(run, precision=precision)
        assert state_bytes(replace(other, quantized_once=True)) == state_bytes(other)


def test_llama_3_405b_on_gb300_keeps_half_of_its_weights_in_fp8():
    # Tensor parallel 4, 8 stages: the first has 15 layers of 3,187,703,808 parameters, of which
    # 32,768 belong to norms, and its part of 128,256 x 16,384 in 16 bits.
    model = MODELS["llama-3-405b"]
    plan = Plan(world_size=64, tensor_parallel=4, pipeline_parallel=8)
    run = Training(
        micro_batch_size=1,
        global_batch_size=64,
        sequence_length=8192,
        precision="fp8",
        quantized_weights=True,
    )
    both, once = (
        stage_states(model, plan, replace(run, quantized_once=one), 0).parameters
        for one in (False, True)
    )
    layers = 15 * (3_187_671_040 / 4 + 32_768)
    assert once == layers + 2 * 128_256 * 16_384 / 4
    assert both - once == layers


def test_only_megatron_in_8_or_4_bits_keeps_weights_so():
    run = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
    for changes in ({"precision": "bf16"}, {"precision": "fp8", "framework": "fsdp"}):
        one = replace(run, **changes)
        assert state_bytes(replace(one, quantized_weights=True)) == state_bytes(one)


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
