"""A modelled plan: its parts add up, and it agrees with the models that it is made of."""

from dataclasses import replace

import pytest

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs, run_inputs
from engine.catalog.transports import EFA_V1, INFINIBAND
from engine.form.run.nearest_valid import nearest_run
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import num_microbatches
from engine.simulate.layer.batch_cuts import batch_cuts
from engine.simulate.layer.device_model import rank_rates, stage_hops
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.modeled_plan import (
    active_layer_parameters,
    compute_share,
    model_plan,
    replica_tokens,
)

RUN, _ = nearest_run(run_inputs(Inputs()))
PLAN = model_plan(RUN, 0.5)


def test_the_computation_is_six_operations_for_each_parameter_and_token():
    # 68.45B of the layers on 32 GPUs, 8 micro-batches of 4,096 tokens, half of 989 TFLOP/s.
    assert active_layer_parameters(RUN) == pytest.approx(
        total_parameters(RUN.model) - 2 * 128_256 * 8192 - 8192
    )
    assert replica_tokens(RUN) == 8 * 4096
    assert pytest.approx(0.8505, rel=1e-3) == PLAN.computation


def test_the_stages_hold_all_layers_and_the_fullest_is_the_memory_models():
    assert [stage.layers for stage in PLAN.stages] == [20] * 4
    whole = rank_memory(RUN.model, RUN.plan, RUN.training).total
    assert PLAN.stages[PLAN.fullest].memory.total == pytest.approx(whole)


def test_more_micro_batches_leave_more_of_the_step_to_computation():
    shares = [compute_share(RUN, count) for count in (1, 4, 16, 64)]
    assert shares == sorted(shares)
    own = num_microbatches(RUN.plan, RUN.training)
    assert compute_share(RUN, own) == pytest.approx(PLAN.step.compute / PLAN.step.total)


def test_smaller_micro_batches_cost_latencies_and_save_bubble():
    cuts = batch_cuts(RUN, 8, 8 * 64e6)
    assert [(cut.num_microbatches, cut.sequences) for cut in cuts] == [
        (1, 8),
        (2, 4),
        (4, 2),
        (8, 1),
    ]
    assert cuts[-1].latencies == pytest.approx(8 * cuts[0].latencies)
    assert cuts[-1].bubble < cuts[0].bubble
    bytes_only = [cut.time - cut.latencies for cut in cuts]
    assert bytes_only == pytest.approx([bytes_only[0]] * 4)


def test_a_cut_of_the_batch_waits_for_the_network_of_the_cluster():
    slower = replace(RUN, cluster=replace(RUN.cluster, transport="efa-v1"))
    here, there = (batch_cuts(run, 8, 8 * 64e6)[-1] for run in (RUN, slower))
    nodes = stage_hops(rank_rates(RUN.cluster, RUN.training), RUN.plan).slowest.nodes
    step = EFA_V1.step - INFINIBAND.step if nodes > 1 else 0.0
    assert there.latencies - here.latencies == pytest.approx(2 * 8 * step)


def test_a_gpu_alone_moves_nothing():
    one = replace(Inputs(), tensor_parallel=1, pipeline_parallel=1, data_parallel=1)
    assert model_plan(nearest_run(run_inputs(one))[0], 0.5).axes == ()


def test_stages_that_cross_nodes_talk_over_the_network():
    # TP 1, DP 4, PP 4 on nodes of eight: stages 0 and 1 share a node, 1 and 2 do not.
    plan = replace(Inputs(), tensor_parallel=1, pipeline_parallel=4, data_parallel=4)
    found = {axis.key: axis for axis in model_plan(nearest_run(run_inputs(plan))[0], 0.5).axes}
    assert (found["pipeline"].wire, found["data"].wire) == ("network", "NVLink")


def test_stages_of_one_node_talk_over_nvlink():
    plan = replace(Inputs(), tensor_parallel=1, pipeline_parallel=4, data_parallel=2)
    found = {axis.key: axis for axis in model_plan(nearest_run(run_inputs(plan))[0], 0.5).axes}
    assert found["pipeline"].wire == "NVLink"
