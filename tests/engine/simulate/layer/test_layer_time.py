"""One layer against the milliseconds of Korthikanti et al. 2022, table 4."""

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import COMMON
from engine.catalog.models import MODELS
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_time import embedding_time, layer_time, output_time

SELENE = Cluster(
    gpu=ACCELERATORS["A100-SXM-80GB"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=25e9
)
H100 = Cluster(gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9)


def run(**changes):
    settings = {"micro_batch_size": 1, "global_batch_size": 64, "sequence_length": 2048}
    return Training(**(settings | changes))


def timed(model, plan, training, cluster=H100, sparse=False):
    return layer_time(MODELS[model], plan, training, rank_rates(cluster, training), sparse=sparse)


# Sequence parallelism, recomputation, forward and backward together in milliseconds.
TABLE_4 = [
    (False, "none", 19.6),
    (True, "none", 19.0),
    (False, "full", 27.2),
    (False, "selective", 20.9),
    (True, "selective", 20.3),
]


@pytest.mark.parametrize(("scattered", "recompute", "milliseconds"), TABLE_4)
def test_a_layer_of_22b_takes_the_time_of_table_4(scattered, recompute, milliseconds):
    training = run(micro_batch_size=4, precision="fp16", recompute=recompute, flash_attention=False)
    plan = Plan(world_size=8, tensor_parallel=8, sequence_parallel=scattered)
    found = timed("gpt-22b", plan, training, SELENE).total
    assert found == pytest.approx(milliseconds / 1000, rel=0.05)


def test_full_recomputation_repeats_the_forward_pass():
    found = timed("llama-3-8b", Plan(world_size=8), run(recompute="full"))
    assert found.repeated == found.forward


def test_recomputation_of_pytorch_stops_before_the_last_product():
    training = run(recompute="full", framework="fsdp")
    found = timed("llama-3-8b", Plan(world_size=8), training)
    assert 0.6 * found.forward < found.repeated < 0.85 * found.forward


def test_unfused_kernels_take_longer():
    eager = timed("llama-3-8b", Plan(world_size=8), run(compiled=False))
    assert eager.forward > 1.1 * timed("llama-3-8b", Plan(world_size=8), run()).forward


def test_fp8_speeds_up_products_but_not_attention():
    long = {"sequence_length": 131072}
    short = timed("llama-3-8b", Plan(world_size=8), run(precision="fp8")).forward
    gain = timed("llama-3-8b", Plan(world_size=8), run()).forward / short
    slow = timed("llama-3-8b", Plan(world_size=8), run(precision="fp8", **long)).forward
    assert timed("llama-3-8b", Plan(world_size=8), run(**long)).forward / slow < gain


def test_a_sparse_layer_exchanges_its_tokens():
    plan = Plan(world_size=8, expert_parallel=8)
    found = timed("qwen3-30b-a3b", plan, run(sequence_length=32768), sparse=True)
    assert found.expert_parallel > 0


def test_the_host_bounds_a_small_sparse_layer():
    plan = Plan(world_size=8, expert_parallel=8)
    small = timed("qwen3-30b-a3b", plan, run(sequence_length=512), sparse=True)
    assert small.backward == pytest.approx(2 * small.forward)


def test_a_large_vocabulary_costs_as_much_as_layers():
    training = run(sequence_length=8192)
    rank = rank_rates(H100, training)
    output = output_time(MODELS["llama-3-8b"], Plan(world_size=8), training, rank)
    assert output > timed("llama-3-8b", Plan(world_size=8), training).total


def test_the_lookup_of_tokens_is_cheap():
    training = run(sequence_length=8192)
    rank = rank_rates(H100, training)
    lookup = embedding_time(MODELS["llama-3-8b"], Plan(world_size=8), training, rank)
    assert lookup < 0.1 * timed("llama-3-8b", Plan(world_size=8), training).total


SPARSE = Plan(world_size=8, expert_parallel=8)


def test_replayed_steps_do_not_wait_for_the_host_to_launch_small_experts():
    launched = timed("qwen3-30b-a3b", SPARSE, run(), sparse=True)
    replayed = timed("qwen3-30b-a3b", SPARSE, run(cuda_graphs=True), sparse=True)
    assert launched.forward == COMMON.expert_launches > replayed.forward


def test_fused_grouped_products_save_passes_over_the_copies_for_the_experts():
    whole = run(cuda_graphs=True, fused_experts=True)
    fused = timed("deepseek-v3", SPARSE, whole, sparse=True).forward
    apart = timed("deepseek-v3", SPARSE, run(cuda_graphs=True), sparse=True).forward
    saved = COMMON.unfused_copy * 2048 * 8 * 7168 / rank_rates(H100, whole).memory
    # 32 experts on each rank, each with a product up and one down, and operands that are as slow.
    assert apart - fused == pytest.approx(saved + 2 * 32 * COMMON.expert_product)
