"""Data parallelism and the optimizer: what is hidden, what each stage of ZeRO costs."""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.step.sharding_time import (
    data_parallel_exchange,
    data_parallel_time,
    optimizer_time,
    rank_weights,
)

MODEL = MODELS["llama-3-8b"]
CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9
)


def run(**changes):
    settings = {"micro_batch_size": 1, "global_batch_size": 64, "sequence_length": 4096}
    return Training(**(settings | changes))


def exposed(plan, training, computation):
    rank = rank_rates(CLUSTER, training)
    weights = rank_weights(MODEL, plan)
    half = computation / 3
    sent = weights, data_parallel_exchange(plan, training, rank, weights)
    return data_parallel_time(MODEL, plan, training, rank, sent, half, 2 * half)


PLAN = Plan(world_size=64)


def test_the_ranks_hold_the_matrices_of_llama_3_8b():
    # 8.03 billion parameters, norms left out.
    assert rank_weights(MODEL, PLAN).common == pytest.approx(8.03e9, rel=0.001)


def test_long_computation_hides_all_but_a_layer():
    alone = exposed(PLAN, run(overlap_gradient_reduce=False), 10.0)
    assert exposed(PLAN, run(), 10.0) == pytest.approx(alone / MODEL.num_layers)


def test_without_computation_nothing_is_hidden():
    alone = exposed(PLAN, run(overlap_gradient_reduce=False), 0.0)
    assert exposed(PLAN, run(), 0.0) == pytest.approx(alone)


def test_one_rank_has_nothing_to_exchange():
    assert exposed(Plan(world_size=1), run(global_batch_size=1), 1.0) == 0.0


def test_full_sharding_gathers_for_every_micro_batch():
    plan = Plan(world_size=64, zero_stage=3)
    once = exposed(plan, run(framework="fsdp"), 0.0)
    twice = exposed(plan, run(framework="fsdp", global_batch_size=128), 0.0)
    assert twice == pytest.approx(2 * once)


def test_one_group_of_all_ranks_is_full_sharding():
    training = run(framework="fsdp")
    group = Plan(world_size=64, zero_stage=3, shard_group=64)
    assert exposed(group, training, 0.0) == exposed(
        Plan(world_size=64, zero_stage=3), training, 0.0
    )


def test_copies_of_the_shards_are_reduced_across_nodes():
    training = run(framework="fsdp", global_batch_size=8)
    alone = exposed(Plan(world_size=8, zero_stage=3), training, 0.0)
    copies = Plan(world_size=64, zero_stage=3, shard_group=8)
    assert exposed(copies, run(framework="fsdp"), 0.0) > 1.5 * alone


def test_parameters_gathered_after_the_step_are_exposed():
    assert exposed(PLAN, run(framework="deepspeed"), 10.0) > exposed(PLAN, run(), 10.0)


def test_a_sharded_optimizer_is_faster():
    training = run()
    rank = rank_rates(CLUSTER, training)
    weights = rank_weights(MODEL, PLAN)
    whole = optimizer_time(Plan(world_size=64, zero_stage=0), training, rank, weights)
    assert optimizer_time(PLAN, training, rank, weights) < 0.2 * whole
