"""Buckets behind a backward pass: the closed form is the simulation, and the napkin's numbers."""

from dataclasses import replace

import pytest

from engine.simulate.data_parallel.reduce_buckets import BucketJob, bucket_times, bucketed_backward

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
