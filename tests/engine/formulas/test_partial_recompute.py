"""Full recomputation of some layers, and inputs of an activation that are kept in 8 bits."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.formulas.activations import layer_memory
from engine.formulas.step_operations import hardware_operations, model_operations
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.step.step_time import step_time

LLAMA = MODELS["llama-3-8b"]
PLAN = Plan(world_size=8)
NONE = Training(micro_batch_size=1, global_batch_size=8, sequence_length=8192)
FULL = replace(NONE, recompute="full")
SOME = replace(FULL, recompute_layers=8)  # a quarter of the layers
H100 = Cluster(gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=5e10)


def mixed(of):
    """A quarter of what full recomputation has, and three quarters of what none has."""
    return 0.25 * of(FULL) + 0.75 * of(NONE)


def test_some_layers_keep_their_input_alone():
    def kept(training):
        return layer_memory(LLAMA, PLAN, training).kept

    assert kept(SOME) == pytest.approx(mixed(kept))
    assert layer_memory(LLAMA, PLAN, SOME).working == layer_memory(LLAMA, PLAN, FULL).working


def test_some_layers_are_computed_twice():
    def compute(training):
        return step_time(LLAMA, H100, PLAN, training).compute

    assert compute(SOME) == pytest.approx(mixed(compute))
    again = hardware_operations(LLAMA, SOME) - model_operations(LLAMA, SOME)
    assert again == pytest.approx(
        0.25 * (hardware_operations(LLAMA, FULL) - model_operations(LLAMA, FULL))
    )


def test_more_layers_than_the_model_has_are_all():
    assert step_time(LLAMA, H100, PLAN, replace(FULL, recompute_layers=99)) == step_time(
        LLAMA, H100, PLAN, FULL
    )


def test_inputs_of_an_activation_take_half_in_8_bits():
    small = layer_memory(LLAMA, PLAN, replace(NONE, fp8_activation_inputs=True)).kept
    gate_and_up = 2 * LLAMA.ffn_hidden_size * 8192
    assert layer_memory(LLAMA, PLAN, NONE).kept - small == pytest.approx(gate_and_up)
