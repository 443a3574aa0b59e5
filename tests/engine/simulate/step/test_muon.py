"""Muon's step: who has how much to orthogonalize, and what it adds to a training step."""

from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.units import Gbit
from engine.formulas.muon import muon_exchanged, muon_gathered
from engine.formulas.parameters import (
    dense_layer_parameters,
    layer_parameters,
    norm_parameters,
)
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.muon_slices import MODES
from engine.simulate.layer.orthogonal_work import (
    MatrixShape,
    assign_matrices,
    busiest_rank,
    matrix_operations,
    matrix_parameters,
    matrix_pools,
    muon_time,
)
from engine.simulate.step.muon import SCHEMES, muon_step, scheme_plan
from engine.simulate.step.step_time import step_time
from tests.each import each

LLAMA = MODELS["llama-3-8b"]
CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=400 * Gbit
)
TRAINING = Training(micro_batch_size=1, global_batch_size=512, sequence_length=4096)
RANK = rank_rates(CLUSTER, TRAINING)


def step(scheme, world=64, tensor=1, mode="duplicated", model=LLAMA, expert=1):
    plan = Plan(world_size=world, tensor_parallel=tensor, expert_parallel=expert)
    return muon_step(model, plan, TRAINING, RANK, scheme, mode)


@each("model", ["llama-3-8b", "llama-3-70b", "qwen3-30b-a3b", "deepseek-v3", "gpt-3-175b"])
def test_the_matrices_are_the_layers_without_norms_and_biases(model):
    shape = MODELS[model]
    found = sum(matrix_parameters(pool.shapes) for pool in matrix_pools(shape, Plan(world_size=1)))
    vectors = 2 * shape.num_layers * norm_parameters(shape)
    whole = layer_parameters(shape)
    assert whole - vectors >= found >= (whole - vectors) * (1 - 3e-4)


def test_a_layer_of_llama_has_seven_matrices():
    shapes = matrix_pools(replace(LLAMA, num_layers=1), Plan(world_size=1))[0].shapes
    assert sum(count for _, count in shapes) == 7
    assert matrix_parameters(shapes) == dense_layer_parameters(LLAMA).matrices


def test_matrices_are_shared_out_the_costliest_first():
    # By hand: costs 27, 8, 8, 8 and 1 of 6 x 5 cubes on two ranks: 27 alone, 8 + 8 + 8 + 1.
    shapes = ((MatrixShape("a", 3, 3), 1), (MatrixShape("b", 2, 2), 3), (MatrixShape("c", 1, 1), 1))
    loads = sorted(matrix_operations(own) / 30 for own in assign_matrices(shapes, 2))
    assert loads == [25, 27]
    assert busiest_rank(shapes, 2).over_mean == pytest.approx(27 / 26)


def one_by_one(shapes, ranks):
    """The loads, every matrix given to the rank with the least, the lowest of equal ones."""
    loads = [0.0] * ranks
    for shape, count in sorted(shapes, key=lambda one: -one[0].operations):
        for _ in range(count):
            loads[loads.index(min(loads))] += shape.operations
    return loads


@each("ranks", [1, 2, 3, 7, 16, 100])
@each("sizes", [((5, 61), (3, 40), (2, 33), (1, 250)), ((4, 16), (2, 64)), ((6, 5), (1, 9))])
def test_dealing_whole_rounds_is_dealing_one_by_one(ranks, sizes):
    shapes = tuple((MatrixShape(f"{size}", size, size), count) for size, count in sizes)
    dealt = [matrix_operations(own) for own in assign_matrices(shapes, ranks)]
    assert dealt == one_by_one(shapes, ranks)


@each("scheme", SCHEMES)
def test_nothing_is_sent_where_one_rank_has_all(scheme):
    found = step(scheme, world=1)
    assert found.sent == found.communication == 0.0
    assert found.operations == step("repeat").operations


def test_what_is_sent_is_what_the_formulas_say():
    size = matrix_parameters(matrix_pools(LLAMA, Plan(world_size=1))[0].shapes)
    assert step("gather", 32).sent == pytest.approx(muon_gathered(size, 32, 2.0))
    # Owners of whole matrices are not quite even: the busiest has a little more.
    assert 1 <= step("exchange", 32).sent / muon_exchanged(size, 32, 2.0) < 1.1


def test_repeated_work_stays_and_shared_work_shrinks():
    assert step("gather", 512).products == step("gather", 8).products
    assert step("owner", 8).products / step("owner", 64).products == pytest.approx(8, rel=0.1)


def test_the_largest_matrix_is_the_floor():
    largest = max(
        shape.operations for shape, _ in matrix_pools(LLAMA, Plan(world_size=1))[0].shapes
    )
    assert step("owner", 4096).operations == largest


def test_every_way_of_slices_is_the_same_without_tensor_parallelism():
    assert len({step("owner", mode=mode).total for mode in MODES}) == 1


def test_the_order_that_was_measured_with_tensor_parallelism():
    # Megatron-LM's issue 6676: 632 ms duplicated, 356 ms distributed, 157 ms layer-sharded.
    times = [step("owner", 64, 8, mode).total for mode in MODES]
    blockwise, duplicated, distributed, layer_sharded = times
    assert duplicated > distributed > layer_sharded > blockwise


def test_experts_are_shared_over_the_ranks_that_have_the_same():
    model = MODELS["qwen3-30b-a3b"]
    pools = matrix_pools(model, Plan(world_size=64, expert_parallel=8))
    assert [pool.ranks for pool in pools] == [64, 8]
    whole = matrix_pools(model, Plan(world_size=64))[1].shapes
    assert matrix_parameters(pools[1].shapes) * 8 == matrix_parameters(whole)


def test_states_are_whole_where_the_scheme_says_so():
    plan = Plan(world_size=8)
    assert [scheme_plan(plan, scheme).zero_stage for scheme in SCHEMES] == [0, 0, 1, 1, 1]


def test_a_step_with_muon_holds_newton_schulz():
    plan = Plan(world_size=64)
    muon = replace(TRAINING, optimizer="muon")
    adam, found = (step_time(LLAMA, CLUSTER, plan, one) for one in (TRAINING, muon))
    added = muon_time(LLAMA, plan, muon, RANK)
    assert added == step("owner").products
    assert found.optimizer == pytest.approx(step("owner").total)
    assert found.total - adam.total == pytest.approx(found.optimizer - adam.optimizer)
    assert muon_time(LLAMA, plan, TRAINING, RANK) == 0.0
