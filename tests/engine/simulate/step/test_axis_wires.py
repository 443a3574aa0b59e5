"""Three times of an axis: bytes at line rate by hand, and the order of the three."""

from dataclasses import replace

import pytest

from engine.catalog.transports import EFA_V1, INFINIBAND
from engine.form.what_if.inputs import PRESETS, Inputs, run_and_changes
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.step.axis_wires import axis_times, ring_line_rate
from engine.simulate.step.what_if import run_step_time

JOBS = {name: run_and_changes(replace(Inputs(), **changes))[0] for name, changes in PRESETS.items()}
SHARDED = JOBS["The network first: ZeRO-3 on one 100 Gb/s port a node"]
NODE = replace(Inputs(), **PRESETS["The network last: 8B on one node"], zero_stage="3")


def wires(run):
    return {one.key: one for one in axis_times(run, run_step_time(run))}


def test_a_ring_over_whole_nodes_has_all_ports_of_a_node():
    rank = rank_rates(SHARDED.cluster, SHARDED.training)
    # One port of 100 Gb/s a node: 12.5 GB/s, not an eighth of it.
    assert ring_line_rate(SHARDED.cluster, rank, 64, 1) == pytest.approx(12.5e9)


def test_a_ring_inside_a_node_runs_at_the_rate_of_its_links():
    rank = rank_rates(SHARDED.cluster, SHARDED.training)
    assert ring_line_rate(SHARDED.cluster, rank, 8, 1) == SHARDED.cluster.gpu.scale_up


def test_sharding_over_eight_nodes_crosses_each_port_once():
    one = wires(SHARDED)["data"]
    assert one.at_line_rate == pytest.approx(one.sent / 12.5e9)


def test_parameters_are_gathered_twice_and_gradients_scattered_in_every_micro_batch():
    run, _ = run_and_changes(NODE)
    held = 2 * 128_256 * 4096 + 32 * 218_103_808  # Llama 3 8B: both embeddings, 32 layers
    each = 2 * 2 + 4  # bytes of two gathers, and of a gradient in single precision
    assert wires(run)["data"].sent == pytest.approx(8 * each * held * 7 / 8, rel=1e-3)


def test_a_pipeline_spreads_over_a_node_for_every_stage_where_a_stage_fills_nodes():
    found = wires(JOBS["405B parameters on 8,192 H100"])  # 16 stages of 512 GPUs
    assert (found["pipeline"].ranks, found["pipeline"].nodes) == (16, 16)


def test_messages_of_a_pipeline_wait_for_the_network_of_the_cluster():
    run = JOBS["405B parameters on 8,192 H100"]
    slower = replace(run, cluster=replace(run.cluster, transport="efa-v1"))
    here, there = wires(run)["pipeline"], wires(slower)["pipeline"]
    # Every message, and as many again as the pipeline has stages to fill and to drain.
    messages = here.messages + 2 * (here.ranks - 1)
    step = EFA_V1.step - INFINIBAND.step
    assert there.alone - here.alone == pytest.approx(messages * step)


@pytest.mark.parametrize("name", JOBS)
def test_wire_is_shorter_than_alone(name):
    assert all(one.at_line_rate < one.alone for one in wires(JOBS[name]).values())


@pytest.mark.parametrize("name", JOBS)
def test_the_step_waits_for_no_more_than_it_takes_alone(name):
    run = JOBS[name]
    layers = run.model.num_layers / run.plan.pipeline_parallel
    fullest = -(-run.model.num_layers // run.plan.pipeline_parallel) / layers
    found = axis_times(run, run_step_time(run))
    assert [one.key for one in found if one.exposed > one.alone * fullest * (1 + 1e-9)] == []
