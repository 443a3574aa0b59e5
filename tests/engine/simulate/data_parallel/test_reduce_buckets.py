"""Buckets behind a backward pass: the closed form is the simulation, and the napkin's numbers."""

from dataclasses import replace

import pytest

from engine.catalog.hardware import GPUS
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.run import Run
from engine.simulate.data_parallel.dense_shape import dense_shape
from engine.simulate.data_parallel.reduce_buckets import (
    BucketJob,
    bucket_times,
    bucketed_backward,
    composed_wait,
)
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.step.sharding_time import data_parallel_exchange, rank_weights
from engine.simulate.step.step_time import step_time

NAPKIN = BucketJob(
    parameters=7e9, bucket=5e8, tokens=4096, utilization=0.4, gpu="h100", ranks=8, port=50e9
)


def test_a_model_of_7_billion_makes_14_buckets_of_deepspeeds_default():
    assert bucketed_backward(NAPKIN).count == 14


def test_a_bucket_computes_about_nine_times_as_long_as_it_is_sent():
    # By hand: 4 x 5e8 x 4096 / (0.4 x 989.5e12) = 20.7 ms; 7/8 of 1 GB over 366 GB/s = 2.39 ms.
    found = bucketed_backward(NAPKIN)
    assert found.computing == pytest.approx(20.7e-3, rel=0.002)
    assert found.sending == pytest.approx(2.39e-3, rel=0.05)


def test_only_the_last_of_14_buckets_sticks_out():
    found = bucketed_backward(NAPKIN)
    assert found.exposed == pytest.approx(found.sending)
    assert found.exposed / found.isolated == pytest.approx(1 / 14)


def test_a_model_smaller_than_a_bucket_hides_nothing():
    found = bucketed_backward(replace(NAPKIN, parameters=3e8))
    assert found.count == 1
    assert found.exposed == pytest.approx(found.isolated)


def test_without_overlap_everything_is_exposed():
    found = bucketed_backward(replace(NAPKIN, overlap=False))
    assert found.exposed == pytest.approx(found.isolated)
    assert found.buffers == 1e9
    assert bucketed_backward(NAPKIN).buffers == 2e9


@pytest.mark.parametrize("parameters", [3e8, 1.3e9, 7e9, 6.99e10])
@pytest.mark.parametrize("bucket", [2.5e7, 4e8, 5e8, 2e9])
@pytest.mark.parametrize(("tokens", "port"), [(4096, 50e9), (64, 3e9), (512, 12.5e9)])
@pytest.mark.parametrize("whole", [False, True])
def test_the_closed_form_is_the_simulation(parameters, bucket, tokens, port, whole):
    job = replace(
        NAPKIN,
        parameters=parameters,
        bucket=bucket,
        tokens=tokens,
        port=port,
        whole=whole,
        ranks=64,
    )
    ran, told = bucket_times(job), bucketed_backward(job)
    assert told.count == len(ran)
    assert told.backward + told.exposed == pytest.approx(ran[-1].end)
    assert told.isolated == pytest.approx(sum(piece.end - piece.start for piece in ran))


def test_the_estimate_of_deepspeeds_buckets_is_its_own():
    # With the size that DeepSpeed takes unasked, what a step waits for is the estimate's.
    run = Run(
        model=dense_shape(7e9),
        cluster=Cluster(gpu=GPUS["h100"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9),
        plan=Plan(world_size=8, zero_stage=2),
        training=Training(
            micro_batch_size=1,
            global_batch_size=8,
            sequence_length=4096,
            framework="deepspeed",
            gradient_precision="bf16",
        ),
    )
    step = step_time(run.model, run.cluster, run.plan, run.training)
    rank = rank_rates(run.cluster, run.training)
    weights = rank_weights(run.model, run.plan)
    gather = data_parallel_exchange(run.plan, run.training, rank, weights).gather
    assert composed_wait(replace(NAPKIN, whole=True)) == pytest.approx(step.data_parallel - gather)
    assert composed_wait(NAPKIN) < composed_wait(replace(NAPKIN, whole=True))


@pytest.mark.parametrize("bucket", [5e7, 5e8, 2e9])
@pytest.mark.parametrize("ranks", [8, 64])
def test_the_bound_is_less_than_what_the_estimate_waits_for(bucket, ranks):
    job = replace(NAPKIN, bucket=bucket, ranks=ranks)
    assert bucketed_backward(job).exposed < composed_wait(job)
