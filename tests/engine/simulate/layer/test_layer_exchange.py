"""Collectives inside a layer: rings of keys and values, exchanges of tokens, tensor parallelism."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import COMMON
from engine.catalog.models import MODELS
from engine.formulas.operations import attention_scores
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.context_exchange import context_parallel_time
from engine.simulate.layer.device_model import rank_group, rank_rates
from engine.simulate.layer.layer_exchange import (
    exchange_time,
    expert_parallel_time,
    tensor_parallel_time,
)

LLAMA = MODELS["llama-3-8b"]


def run(**changes):
    settings = {"micro_batch_size": 1, "global_batch_size": 64, "sequence_length": 65536}
    return Training(**(settings | changes))


def rank(gpu="H800-SXM", training=None):
    cluster = Cluster(gpu=ACCELERATORS[gpu], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9)
    return rank_rates(cluster, training or run())


# zhuzilin/ring-flash-attention: attention of Llama 3.1 8B, 8,192 tokens on each of 8 GPUs, zig-zag.
# GPU, passes per second of an eighth of the whole on one GPU, and of the ring; forward, and both.
RING = [
    ("H800-SXM", (73.9, 63.0), (19.3, 17.4)),
    ("A100-SXM-80GB", (46.7, 38.2), (11.8, 10.6)),
]


@pytest.mark.parametrize(("gpu", "forward", "both"), RING)
def test_a_ring_of_keys_and_values_costs_what_was_measured(gpu, forward, both):
    training = run(compiled=False)
    plan = Plan(world_size=8, context_parallel=8)
    scores = attention_scores(LLAMA, plan, training)
    core = (1 / forward[0], 1 / both[0] - 1 / forward[0])
    added = context_parallel_time(scores, plan, training, rank(gpu, training), core)
    assert 1 / both[0] + added == pytest.approx(1 / both[1], rel=0.02)


def test_one_rank_sends_no_keys():
    scores = attention_scores(LLAMA, Plan(world_size=8), run())
    assert context_parallel_time(scores, Plan(world_size=8), run(), rank(), (1.0, 1.0)) == 0.0


def exposed(training, **changes):
    plan = Plan(world_size=8, tensor_parallel=8, sequence_parallel=True, **changes)
    return tensor_parallel_time(LLAMA, plan, training, rank(), 1.0, 0.0, sparse=False)


def test_overlap_hides_most_of_tensor_parallelism():
    left = (1 - COMMON.hidden) * exposed(run())
    assert exposed(run(overlap_tensor_parallel=True)) == pytest.approx(left)


def test_nothing_is_exchanged_without_tensor_parallelism():
    plan = Plan(world_size=8)
    assert tensor_parallel_time(LLAMA, plan, run(), rank(), 1.0, 0.0, sparse=False) == 0.0


# DeepEP, normal kernels on H800 with ports of 50 GB/s: 4,096 tokens of 7,168, 8 of 256 experts.
# Logical bandwidth at the bottleneck: 153 to 158 GB/s inside a node.
def test_an_exchange_inside_a_node_runs_at_the_measured_bandwidth():
    one = rank()
    time = exchange_time(4096, MODELS["deepseek-v3"], one, rank_group(one, 8, 1))
    sent = 4096 * 8 * 7168 * 2.0 * 7 / 8
    assert sent / time == pytest.approx(156e9, rel=0.10)


# 58 and 57 GB/s over four nodes, counting the copies that stay in the node.
def test_an_exchange_over_four_nodes_is_bound_by_the_ports():
    one = rank()
    time = exchange_time(4096, MODELS["deepseek-v3"], one, rank_group(one, 32, 1))
    reached = 4 * (1 - (3 / 4) ** 8)
    assert 4096 * 7168 * 2.0 * reached / time == pytest.approx(57.5e9, rel=0.10)


def test_experts_on_every_rank_exchange_nothing():
    model = MODELS["deepseek-v3"]
    plan = Plan(world_size=8)
    assert expert_parallel_time(model, plan, run(), rank(), 0.0, 1.0) == 0.0


def test_more_chosen_experts_exchange_more():
    model = MODELS["deepseek-v3"]
    plan = Plan(world_size=8, expert_parallel=8)
    fewer = replace(model, experts_per_token=4)
    times = [expert_parallel_time(m, plan, run(), rank(), 0.0, 1.0) for m in (fewer, model)]
    assert times[0] < times[1]
