"""Data parallelism and the optimizer: what is hidden, what each stage of ZeRO costs."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS, SMALL_MODELS
from engine.core.units import MiB
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.data_parallel.gradient_buckets import pack_buckets
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.step.exposed_exchange import ShardedUnits, sharded_time
from engine.simulate.step.sharding_time import (
    collective_units,
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


def exchange(plan, training, cluster=CLUSTER):
    rank = rank_rates(cluster, training)
    return data_parallel_exchange(plan, training, rank, rank_weights(MODEL, plan))


def test_long_computation_hides_all_but_the_embedding_and_a_bucket():
    training = run()
    sent, weights = exchange(PLAN, training), rank_weights(MODEL, PLAN)
    last = sent.last_reduce + sent.last_gather
    bucket = (sent.reduce + sent.gather - last) / sent.units
    rank = rank_rates(CLUSTER, training)
    # The passes take longer beside four bytes of each gradient and two of each parameter.
    slower = rank.common.taken * 6 * weights.total / rank.scale_up
    assert exposed(PLAN, training, 10.0) == pytest.approx(bucket + last + slower)
    # 0.525 of 8.03 billion parameters are the embedding's.
    assert weights.embedding == pytest.approx(0.525e9, rel=0.002)


def test_without_computation_nothing_is_hidden():
    sent = exchange(PLAN, run())
    assert exposed(PLAN, run(), 0.0) == pytest.approx(sent.reduce + sent.gather)


def test_gradients_travel_in_buckets_beside_the_backward_pass_and_at_once_without():
    # 8.03 billion parameters in buckets of 64 million, one million for each rank.
    assert exchange(PLAN, run()).units == 126
    assert exchange(PLAN, run(overlap_gradient_reduce=False)).units == 1
    # FSDP: 32 layers, and a unit of embedding and output layer.
    assert exchange(Plan(world_size=64, zero_stage=3), run(framework="fsdp")).units == 33


@pytest.mark.parametrize(("bits", "limit"), [("", 4.0), ("bf16", 2.0)])
def test_unsharded_pytorch_has_the_buckets_of_ddp(bits, limit):
    training = run(framework="fsdp", gradient_precision=bits)
    plan, rank = Plan(world_size=64, zero_stage=0), rank_rates(CLUSTER, training)
    for model in (*SMALL_MODELS.values(), *MODELS.values()):
        if model.num_experts or model.attention != "mha" or model.biases:
            continue
        weights = rank_weights(model, plan)
        units = collective_units(plan, training, rank, weights)
        packed = pack_buckets(model, limit, 25 * MiB, 1 * MiB)
        # The embedding's is counted apart, and norms are left out.
        assert units == max(1, len(packed) - 1)


def test_the_buckets_of_llama_2_7b_are_its_matrices():
    # 7 matrices in each of 32 layers, all larger than 25 MiB, the embedding and the output layer.
    training = run(framework="fsdp")
    plan, rank = Plan(world_size=64, zero_stage=0), rank_rates(CLUSTER, training)
    weights = rank_weights(MODELS["llama-2-7b"], plan)
    assert collective_units(plan, training, rank, weights) == 225
    assert len(pack_buckets(MODELS["llama-2-7b"], 4.0, 25 * MiB, 1 * MiB)) == 226


def test_the_buckets_of_mpt_125m_are_a_layer_each():
    # 9.4 MB of the last product close the first bucket. A layer is 28.3 MB, and each three large
    # matrices with four small ones between them pass 25 MiB: 11 of the 330 MB that are left.
    training = run(framework="fsdp")
    plan, rank = Plan(world_size=64, zero_stage=0), rank_rates(CLUSTER, training)
    model = MODELS["mpt-125m"]
    assert collective_units(plan, training, rank, rank_weights(model, plan)) == 12
    assert len(pack_buckets(model, 4.0, 25 * MiB, 1 * MiB)) == 13


def test_fsdp_that_keeps_its_parameters_scatters_each_layer():
    assert exchange(Plan(world_size=64, zero_stage=2), run(framework="fsdp")).units == 33


def test_many_ranks_pay_their_latency_in_every_layer():
    # 8B over 100 times as many ranks: the bytes of a rank stay, the steps of a ring do not.
    few, many = (
        exchange(Plan(world_size=size, zero_stage=3), run(framework="fsdp", global_batch_size=size))
        for size in (16, 2048)
    )
    assert many.gather > 4 * few.gather


def test_stage_2_scatters_every_micro_batch():
    plan, training = Plan(world_size=64, zero_stage=2), run(framework="deepspeed")
    four = run(framework="deepspeed", global_batch_size=256)
    sent = exchange(plan, training)
    once, more = exposed(plan, training, 0.0), exposed(plan, four, 0.0)
    assert more - once == pytest.approx(3 * sent.reduce)
    stage_1 = Plan(world_size=64, zero_stage=1)
    assert exposed(stage_1, four, 0.0) == pytest.approx(exposed(stage_1, training, 0.0))


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


HYBRID = Plan(world_size=64, zero_stage=3, shard_group=8)


def units_of(sent, forward, backward):
    return ShardedUnits(
        count=sent.units,
        forward=forward,
        backward=backward,
        gather=sent.gather / sent.units,
        scatter=sent.scatter / sent.units,
        copy=sent.copies / sent.units,
    )


def test_copies_of_the_shards_are_reduced_across_nodes_on_wires_of_their_own():
    sent = exchange(HYBRID, run(framework="fsdp"))
    # Without computation the second wire starts behind the gathers of the forward pass.
    unit = units_of(sent, forward=0.0, backward=0.0)
    assert exposed(HYBRID, run(framework="fsdp"), 0.0) == pytest.approx(sharded_time(unit))
    inside = 2 * sent.gather + sent.scatter
    assert max(inside, sent.copies) < sharded_time(unit) < inside + sent.copies


def test_copies_hide_behind_the_backward_pass_alone():
    slow = replace(CLUSTER, nic_bandwidth=1e9)
    training = run(framework="fsdp")
    rank, weights = rank_rates(slow, training), rank_weights(MODEL, HYBRID)
    sent = data_parallel_exchange(HYBRID, training, rank, weights)
    waits = data_parallel_time(MODEL, HYBRID, training, rank, (weights, sent), 5.0, 1.0)
    # Five seconds forward hide none of it; it begins when a unit has passed backward.
    assert sent.copies > 5
    assert sent.copies < waits + 1.0 < 1.02 * sent.copies


def test_parameters_gathered_after_the_step_are_exposed():
    assert exposed(PLAN, run(framework="deepspeed"), 10.0) > exposed(PLAN, run(), 10.0)


def test_a_sharded_optimizer_is_faster():
    training = run()
    rank = rank_rates(CLUSTER, training)
    weights = rank_weights(MODEL, PLAN)
    whole = optimizer_time(Plan(world_size=64, zero_stage=0), training, rank, weights)
    assert optimizer_time(PLAN, training, rank, weights) < 0.2 * whole
