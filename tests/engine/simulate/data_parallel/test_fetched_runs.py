"""DeepSpeed's ZeRO-3 in the runs of Narayanan et al. 2021, table 2: fetch schedule and estimate.

The schedule alone, over the one port that the estimate has, hides all that it fetches ahead. The
runs were slower, so that a page takes from it only what a setting changes.
"""

from statistics import fmean

import pytest

from engine.run.parallelism import num_microbatches, sharding_ranks
from engine.simulate.data_parallel.fetched_step import (
    BUCKET,
    FetchSettings,
    ReduceBuckets,
    fetch_schedule,
    play_fetches,
)
from engine.simulate.data_parallel.gradient_buckets import ParameterTensor
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.step.published_runs import predictions
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import pipeline_cost, step_time

RUNS = [
    one
    for one in predictions()
    if one.case.run.training.framework == "deepspeed" and one.case.run.plan.zero_stage == 3
]


def tensors_of(model):
    """The matrices of a GPT, whose output layer is its embedding."""
    hidden, table = model.hidden_size, float(model.vocab_size * model.hidden_size)
    matrices = [3 * hidden, hidden, model.ffn_hidden_size, model.ffn_hidden_size]
    layers = [
        ParameterTensor(name="matrix", layer=layer, parameters=rows * hidden, work=rows * hidden)
        for layer in range(1, model.num_layers + 1)
        for rows in matrices
    ]
    ends = [
        ParameterTensor(name="embedding", layer=0, parameters=table, work=0.0),
        ParameterTensor(name="output", layer=model.num_layers + 1, parameters=0.0, work=table),
    ]
    return (ends[0], *layers, ends[1])


def played_error(one):
    """The relative error of the schedule with the estimate's passes, optimizer and host."""
    run = one.case.run
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    slowest = pipeline_cost(model, plan, training, layer_costs(model, plan, training, rank)).slowest
    parts = step_time(model, run.cluster, plan, training)
    ranks, port = sharding_ranks(plan), rank.software.sharded_ports * rank.port

    def send(elements):
        return 2 * elements * (ranks - 1) / ranks / port

    tensors = tensors_of(model)
    played = play_fetches(
        tensors,
        fetch_schedule([tensor.parameters for tensor in tensors], FetchSettings()),
        ReduceBuckets(size=BUCKET),
        (slowest.forward, slowest.total - slowest.forward),
        send,
        send,
    )
    step = num_microbatches(plan, training) * played.length + parts.optimizer + parts.other
    return step / one.case.time - 1


def test_six_runs_are_nearer_to_the_estimate_than_to_the_schedule():
    assert len(RUNS) == 6
    played = fmean(abs(played_error(one)) for one in RUNS)
    estimated = fmean(abs(one.error) for one in RUNS)
    assert played == pytest.approx(0.147, abs=0.005)
    assert estimated == pytest.approx(0.058, abs=0.005)


def test_the_schedule_is_too_fast_where_the_wire_and_the_gpu_are_as_slow_as_each_other():
    small = [played_error(one) for one in RUNS if one.case.run.model.num_layers == 96]
    assert all(-0.28 < error < -0.18 for error in small)
