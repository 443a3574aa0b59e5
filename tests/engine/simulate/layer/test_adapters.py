"""Adapters against a published warning, and what each way of training keeps."""

from dataclasses import replace

import pytest

from engine.catalog.models import MODELS
from engine.formulas.parameters import total_parameters
from engine.formulas.states import NF4, adapter_parameters
from engine.run.file import read_run
from engine.run.parallelism import Plan, Training
from engine.run.problems import problems
from engine.simulate.layer.adapters import adapter_memory, block_with_adapters
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_time import layer_time
from tests.engine.run.test_run_file import GOOD
from tests.validation.any_run import changed

LLAMA = MODELS["llama-3-8b"]
TRAINING = Training(
    micro_batch_size=1,
    global_batch_size=8,
    sequence_length=2048,
    framework="fsdp",
    lora_rank=16,
    lora_layers="all",
)


def held(trained, *, trapped=False, ranks=8):
    plan = Plan(world_size=ranks, zero_stage=3)
    return adapter_memory(LLAMA, plan, TRAINING, trained, trapped=trapped)


def test_the_warning_of_a_litgpt_user_to_the_last_element():
    block = block_with_adapters(MODELS["mixtral-8x7b"], 8)
    assert (block.together, block.trained) == (1_451_376_640, 106_496)


def test_a_frozen_weight_in_four_bits_takes_a_quarter_and_its_scales():
    saved = held("lora", ranks=1).parameters - held("qlora", ranks=1).parameters
    # Llama 3 8B without its embedding, its output layer and its last norm; the 64 others, 0.004 %
    # of a layer, are counted with it.
    packed = total_parameters(LLAMA) - 2 * 128_256 * 4096 - 4096
    assert saved == pytest.approx((2 - NF4) * packed)
    assert pytest.approx(4.127 / 8) == NF4


def test_the_weights_of_qlora_are_those_of_a_published_checkpoint():
    """The file of unsloth/llama-3-8b-bnb-4bit, NF4 with double quantization, has 5.70 GB."""
    adapters = 4 * adapter_parameters(LLAMA, Plan(world_size=1), 16, 32, "all")
    assert held("qlora", ranks=1).parameters - adapters == pytest.approx(5.70e9, rel=1e-3)


def test_weights_in_four_bits_are_unpacked_once_for_each_pass():
    cluster = read_run(GOOD).cluster
    rank = rank_rates(cluster, TRAINING)
    plan = Plan(world_size=1)
    kept = layer_time(LLAMA, plan, TRAINING, rank, sparse=False)
    packed = layer_time(LLAMA, plan, replace(TRAINING, nf4_weights=True), rank, sparse=False)
    # A layer of Llama 3 8B without its norms.
    seconds = (NF4 + 2) * 218_103_808 / rank.memory
    assert packed.forward - kept.forward == pytest.approx(seconds)
    assert packed.backward - kept.backward == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"nf4_weights": True}, "needs a lora_rank"),
        ({"nf4_weights": True, "lora_rank": 16, "precision": "fp8"}, "precision fp8"),
        ({"nf4_weights": True, "lora_rank": 16, "framework": "megatron"}, "bitsandbytes"),
    ],
)
def test_weights_in_four_bits_are_frozen_and_without_megatron(keys, said):
    run = read_run(changed(GOOD, "training", **keys))
    found = problems(run.model, run.cluster, run.plan, run.training)
    assert any(said in sentence for sentence in found)


def test_the_trap_brings_a_gradient_of_two_bytes_for_every_layer():
    # 32 layers of 218,112,000 and adapters of 41,943,040 parameters; none for both ends.
    whole = 2 * (32 * 218_112_000 + 41_943_040)
    assert held("lora", trapped=True).gradients == pytest.approx(whole / 8)
    assert held("lora", trapped=True, ranks=1).gradients == pytest.approx(whole)
    assert held("lora").gradients < held("full").gradients / 100


def test_nothing_is_gathered_for_the_trap_on_one_rank():
    assert held("lora", trapped=True, ranks=1).buffers == 0
    assert held("lora", trapped=True).buffers == held("lora").buffers


def test_the_trap_costs_nothing_where_all_is_trained():
    assert held("full", trapped=True) == held("full")


def test_adapters_leave_the_activations():
    assert held("lora").activations == held("full").activations


def test_a_frozen_feed_forward_part_without_adapters_keeps_no_inputs_of_its_products():
    def activations(layers):
        training = replace(TRAINING, lora_layers=layers)
        plan = Plan(world_size=8, zero_stage=3)
        return adapter_memory(LLAMA, plan, training, "lora", trapped=False).activations

    tokens = TRAINING.micro_batch_size * TRAINING.sequence_length
    inputs = 32 * tokens * 2 * (LLAMA.hidden_size + LLAMA.ffn_hidden_size)
    assert activations("all") - activations("attention") == pytest.approx(inputs)
