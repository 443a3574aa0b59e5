"""The map of ranks: published groups, every rank in one group of each axis, bytes by hand."""

from dataclasses import replace
from itertools import permutations

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.units import Gbit
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.step.map_traffic import (
    TRAFFIC_AXES,
    group_edges,
    plan_traffic,
    sent_per_step,
    share_leaving_nodes,
)
from engine.simulate.step.rank_map import AXES, Mesh, group_placement, position_on_axis, ranks_along
from engine.simulate.step.step_time import step_time
from tests.each import each

MEGATRON = ("tensor", "context", "data", "pipeline")
LLAMA = ("tensor", "context", "pipeline", "data")
ORDERS = list(permutations(AXES))


def mesh(sizes, order=MEGATRON, expert=1, gpus_per_node=8):
    """A mesh; `sizes` of tensor, context, data, pipeline."""
    by_axis = dict(zip(AXES, sizes, strict=True))
    return Mesh(sizes=by_axis, order=order, expert=expert, gpus_per_node=gpus_per_node)


def test_the_groups_of_16_gpus_are_those_in_megatrons_documentation():
    # parallel_state.py: tensor 2, pipeline 4 on 16 GPUs.
    sixteen = mesh((2, 1, 2, 4))
    assert sixteen.groups("tensor") == tuple((i, i + 1) for i in range(0, 16, 2))
    assert sixteen.groups("pipeline") == tuple((i, i + 4, i + 8, i + 12) for i in range(4))
    data = [(0, 2), (1, 3), (4, 6), (5, 7), (8, 10), (9, 11), (12, 14), (13, 15)]
    assert sixteen.groups("data") == tuple(data)


def test_the_neighbors_of_gpu_0_are_those_in_the_llama_3_paper():
    # Figure 5: 16 GPUs, two along each of [TP, CP, PP, DP].
    sixteen = mesh((2, 2, 2, 2), LLAMA)
    assert [ranks_along(sixteen, axis, 0)[1] for axis in LLAMA] == [1, 2, 4, 8]


@each("order", ORDERS, ids="-".join)
@each("axis", [*AXES, "expert", "expert_data"])
def test_every_rank_is_in_one_group_of_each_axis(order, axis):
    found = mesh((2, 3, 4, 2), order, expert=6).groups(axis)
    assert sorted(rank for one in found for rank in one) == list(range(48))


@each("order", ORDERS, ids="-".join)
def test_places_along_all_axes_name_a_rank(order):
    twenty_four = mesh((2, 3, 2, 2), order)
    names = {
        tuple(position_on_axis(twenty_four, rank, axis) for axis in AXES) for rank in range(24)
    }
    assert len(names) == 24


@each("order", ORDERS, ids="-".join)
def test_experts_never_leave_their_stage(order):
    cube = mesh((2, 2, 2, 3), order, expert=4)
    for one in cube.groups("expert"):
        assert len({position_on_axis(cube, rank, "pipeline") for rank in one}) == 1


def test_experts_reuse_the_ranks_of_a_stage():
    # Megatron's parallel folding: the experts of a stage spread over its 8 ranks.
    assert mesh((2, 1, 4, 2), expert=8).group("expert", 3) == tuple(range(8))


def test_the_same_experts_are_held_a_group_apart():
    assert mesh((2, 1, 4, 2), expert=4).group("expert_data", 1) == (1, 5)


def test_gradients_are_reduced_over_context_ranks_too():
    assert mesh((2, 2, 2, 1)).group("data", 0) == (0, 2, 4, 6)


def test_the_24_gpus_keep_tensor_groups_in_a_node():
    assert mesh((4, 1, 2, 3)).nodes_spanned("tensor") == 1


def test_swapping_tensor_and_pipeline_spreads_tensor_groups_over_all_nodes():
    swapped = mesh((4, 1, 2, 3), ("pipeline", "context", "data", "tensor"))
    assert swapped.nodes_spanned("tensor") == 3


def test_three_tensor_ranks_straddle_nodes_of_8():
    # Ranks 6, 7 and 8.
    assert mesh((3, 1, 8, 1)).nodes_spanned("tensor") == 2


def test_placed_counts_the_gpus_of_a_group_in_a_node():
    assert group_placement(mesh((4, 1, 2, 3))) == {
        "tensor": 4,
        "context": 1,
        "data": 2,
        "expert": 1,
        "expert_data": 8,
    }


def test_placed_counts_the_pipeline_only_where_it_is_not_outermost():
    assert group_placement(mesh((4, 1, 2, 3), LLAMA))["pipeline"] == 1
    assert group_placement(mesh((2, 1, 2, 2), LLAMA))["pipeline"] == 2


PLAN = Plan(
    world_size=24, tensor_parallel=4, pipeline_parallel=3, sequence_parallel=True, zero_stage=1
)
TRAINING = Training(micro_batch_size=4, global_batch_size=64, sequence_length=2048)
MODEL = MODELS["gpt-22b"]
MAP = mesh((4, 1, 2, 3))


def test_a_layer_of_llama_70b_moves_470_mb_of_4096_tokens_over_tensor_parallel_8():
    # Published (without the second gather): 8 x 7/8 x 4,096 x 8,192 x 2 bytes.
    plan = Plan(world_size=8, tensor_parallel=8)
    training = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096)
    model = MODELS["llama-2-70b"]
    sent, _ = sent_per_step(model, plan, training, mesh((8, 1, 1, 1)))["tensor"]
    assert sent / model.num_layers == pytest.approx(8 * 7 / 8 * 4096 * 8192 * 2)


def test_a_stage_boundary_of_llama_70b_moves_67_mb_each_way():
    plan = Plan(world_size=2, pipeline_parallel=2)
    training = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096)
    sent, messages = sent_per_step(MODELS["llama-2-70b"], plan, training, mesh((1, 1, 1, 2)))[
        "pipeline"
    ]
    assert (sent / messages, messages) == (4096 * 8192 * 2, 2)


def test_a_token_of_deepseek_v3_crosses_to_8_experts_and_back():
    # 8 x 7,168 x 2 bytes each way, forward and backward, of 63 in 64 tokens, in 58 of 61 layers.
    model = MODELS["deepseek-v3"]
    plan = Plan(world_size=64, expert_parallel=64)
    training = Training(micro_batch_size=1, global_batch_size=64, sequence_length=4096)
    sent, _ = sent_per_step(model, plan, training, mesh((1, 1, 64, 1), expert=64))["expert"]
    assert sent == pytest.approx(58 * 4 * 4096 * 8 * 7168 * 2 * 63 / 64)


def test_one_rank_sends_nothing():
    plan = Plan(world_size=1)
    training = Training(micro_batch_size=1, global_batch_size=1, sequence_length=4096)
    found = sent_per_step(MODEL, plan, training, mesh((1, 1, 1, 1)))
    assert {sent for sent, _ in found.values()} == {0.0}


@each("order", ORDERS, ids="-".join)
def test_the_order_does_not_change_the_bytes(order):
    here = sent_per_step(MODEL, PLAN, TRAINING, replace(MAP, order=order))
    assert here == sent_per_step(MODEL, PLAN, TRAINING, MAP)


def test_no_tensor_parallel_byte_of_the_24_gpus_leaves_a_node():
    assert share_leaving_nodes(MAP, "tensor") == 0


def test_all_pipeline_bytes_of_the_24_gpus_leave_a_node():
    assert share_leaving_nodes(MAP, "pipeline") == 1


def test_seven_of_eight_expert_bytes_leave_the_node_of_64_ranks():
    # Of 63 peers 56 are elsewhere.
    found = share_leaving_nodes(mesh((1, 1, 64, 1), expert=64), "expert")
    assert found == pytest.approx(56 / 63)


@each("order", ORDERS, ids="-".join)
@each("axis", TRAFFIC_AXES)
def test_the_share_that_leaves_is_that_of_the_single_links(order, axis):
    one = mesh((2, 2, 2, 3), order, expert=4, gpus_per_node=4)
    pairs = [pair for ranks in one.groups(axis) for pair in group_edges(axis, ranks)]
    across = sum(share for a, b, share in pairs if one.node_of(a) != one.node_of(b))
    total = sum(share for _, _, share in pairs)
    assert share_leaving_nodes(one, axis) == pytest.approx(across / total)


def test_every_axis_of_a_plan_is_in_its_traffic():
    assert tuple(plan_traffic(MODEL, PLAN, TRAINING, MAP)) == TRAFFIC_AXES


CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=400 * Gbit
)


def seconds(order, plan=PLAN, model=MODEL):
    where = group_placement(replace(MAP, order=order))
    return step_time(model, CLUSTER, plan, TRAINING, placed=where)


def test_the_usual_order_takes_as_long_as_without_a_map():
    # Tensor, context, data, pipeline from the inside is what the cost model takes unasked.
    assert seconds(MEGATRON).total == step_time(MODEL, CLUSTER, PLAN, TRAINING).total


def test_tensor_parallelism_across_nodes_costs_more():
    assert seconds(("pipeline", "context", "data", "tensor")).tensor_parallel > (
        4 * seconds(MEGATRON).tensor_parallel
    )


def test_the_node_with_fewest_gpus_of_a_group_sets_its_pace():
    # Ranks 0, 6, 12, 18: two of them on node 0, one each on nodes 1 and 2.
    assert (
        group_placement(mesh((4, 1, 2, 3), ("pipeline", "context", "data", "tensor")))["tensor"]
        == 1
    )


@each("order", ORDERS, ids="-".join)
def test_no_order_of_the_24_gpus_beats_tensor_parallelism_inside(order):
    assert seconds(order).total >= 0.999 * min(seconds(MEGATRON).total, seconds(LLAMA).total)


@each("order", ORDERS, ids="-".join)
@each("axis", [*AXES, "expert", "expert_data"])
def test_the_widest_group_is_the_widest_of_all_groups(order, axis):
    one = mesh((2, 3, 4, 2), order, expert=6, gpus_per_node=5)
    spans = [len({one.node_of(rank) for rank in ranks}) for ranks in one.groups(axis)]
    assert one.nodes_spanned(axis) == max(spans)


def test_the_ends_of_a_pipeline_have_one_neighbor():
    four = mesh((2, 1, 1, 4))
    assert [four.pipeline_neighbors(rank) for rank in range(8)] == [1, 1, 2, 2, 2, 2, 1, 1]
    assert mesh((8, 1, 1, 1)).pipeline_neighbors(3) == 0
