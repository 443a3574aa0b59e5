"""Saved tensors: their sum is that of the memory model, the best sets are the best of all."""

from dataclasses import replace
from itertools import combinations

import pytest

from engine.catalog.models import MODELS
from engine.formulas.activations import layer_memory
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.memory import layer_memories
from engine.simulate.memory.memory_over_step import (
    ANCHOR,
    memory_over_step,
    num_drop_sets,
    pareto_drop_sets,
    peak_moment,
    policy_drops,
    saved_layer,
)
from engine.simulate.memory.peak_activations import stage_activations

BASE = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096, framework="fsdp")
PLAN = Plan(world_size=1)
SPLIT = Plan(world_size=8, tensor_parallel=8, sequence_parallel=True)
SPLIT_TENSOR = Plan(world_size=8, tensor_parallel=8)
CASES = [
    (MODELS["llama-3-8b"], PLAN, BASE),
    (MODELS["llama-3-8b"], SPLIT, replace(BASE, compiled=False)),
    (MODELS["gpt-22b"], SPLIT_TENSOR, replace(BASE, framework="megatron")),
    (MODELS["gpt-22b"], SPLIT, replace(BASE, framework="megatron", flash_attention=False)),
    (MODELS["llama-2-70b"], SPLIT, replace(BASE, framework="megatron", precision="fp8")),
]
EACH = pytest.mark.parametrize(("model", "plan", "training"), CASES)


@EACH
@pytest.mark.parametrize(
    ("recompute", "policy"), [("none", "none"), ("full", "full"), ("selective", "core_attn")]
)
def test_what_stays_is_what_the_memory_model_keeps(model, plan, training, recompute, policy):
    if recompute == "selective" and training.framework == "fsdp":
        policy = "every_second"
        training = replace(training, compiled=True)
    layer = saved_layer(model, plan, training)
    expected = layer_memory(model, plan, replace(training, recompute=recompute)).kept
    assert layer.kept(policy_drops(layer, policy)) == pytest.approx(expected, rel=1e-12)


@EACH
@pytest.mark.parametrize("recompute", ["none", "full"])
def test_the_fullest_moment_is_that_of_the_memory_model(model, plan, training, recompute):
    layer = saved_layer(model, plan, training)
    found = peak_moment(
        memory_over_step(model, plan, training, layer, policy_drops(layer, recompute))
    ).activations
    told = replace(training, recompute=recompute)
    expected = stage_activations(model, plan, told, 0, layer_memories(model, plan, told))
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_best_sets_are_the_best_of_all_sets():
    layer = saved_layer(*CASES[0])
    keys = [one.key for one in layer.tensors if one.key != ANCHOR]
    every = [
        (layer.again(some), layer.kept(some))
        for count in range(len(keys) + 1)
        for some in combinations(keys, count)
    ]
    assert len(every) == num_drop_sets(layer)
    best, lowest = [], float("inf")
    for cost, kept in sorted(every):
        if kept < lowest * (1 - 1e-12):
            best, lowest = [*best, (cost, kept)], kept
    found = [(one.again, one.kept) for one in pareto_drop_sets(layer)]
    assert found == [pytest.approx(pair) for pair in best]


def test_full_recomputation_costs_less_than_a_third():
    layer = saved_layer(*CASES[0])
    extra = layer.again(policy_drops(layer, "full")) / (3 * layer.forward)
    assert 0.25 < extra < 1 / 3


def test_a_llama_layer_by_hand():
    # Per token: 12 h + 4 (8 x 128) + 6 f bytes and 4 bytes per head, the activation fused; queries
    # and keys once. Measured: a layer of 8,192 tokens keeps 1,142,161,408 bytes.
    layer = saved_layer(*CASES[0])
    assert layer.size == 4096 * (12 * 4096 + 4 * 1024 + 6 * 14_336 + 4 * 32)


def test_an_eager_llama_layer_by_hand():
    # Both norms keep their input in fp32 and what they multiply by the weight: 8 h more. The
    # activation of the gate is kept as well: 2 f more.
    model, plan, training = CASES[0]
    layer = saved_layer(model, plan, replace(training, compiled=False))
    assert layer.size == 4096 * (20 * 4096 + 4 * 1024 + 8 * 14_336 + 4 * 32)


def test_memory_returns_to_where_it_began():
    model, plan, training = CASES[0]
    layer = saved_layer(model, plan, training)
    moments = memory_over_step(model, plan, training, layer, frozenset())
    assert moments[-1].activations == pytest.approx(moments[0].activations, abs=1)


def test_dropping_makes_the_step_longer_by_what_runs_again():
    model, plan, training = CASES[0]
    layer = saved_layer(model, plan, training)
    drops = policy_drops(layer, "every_second")
    long, short = (
        memory_over_step(model, plan, training, layer, one)[-1].done for one in (drops, frozenset())
    )
    assert long - short == pytest.approx(model.num_layers * layer.again(drops), rel=1e-9)
