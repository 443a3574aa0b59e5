"""One job under five schedules: bytes and messages counted by hand."""

from dataclasses import replace

import pytest

from engine.simulate.overlap_job import Setting, job
from engine.simulate.overlap_step import PROGRAMS, data_messages, outcome, tensor_traffic

# Llama 3 8B: 32 layers of 218.1 million parameters, 4,096 wide.
SHARDED = Setting(
    model="llama-3-8b",
    gpu="h100",
    tensor_parallel=1,
    pipeline_parallel=1,
    data_parallel=64,
    num_microbatches=1,
    tokens=8192,
    port=50e9,
)
WHOLE = 32 * 218_103_808


def test_an_all_reduce_sends_every_gradient_nearly_twice():
    assert outcome(SHARDED, job(SHARDED), "blocking").sent == pytest.approx(2 * 63 / 64 * 2 * WHOLE)


def test_full_sharding_gathers_parameters_twice_and_scatters_gradients():
    assert outcome(SHARDED, job(SHARDED), "sharded").sent == pytest.approx(3 * 63 / 64 * 2 * WHOLE)


def test_full_sharding_sends_as_much_again_for_every_micro_batch():
    many = replace(SHARDED, num_microbatches=5)
    one = outcome(SHARDED, job(SHARDED), "sharded").sent
    assert outcome(many, job(many), "sharded").sent == pytest.approx(5 * one)


def test_without_tensor_parallelism_it_sends_nothing():
    assert tensor_traffic(job(SHARDED), 1) == (0, 0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_gpu_sends_no_bytes(name):
    alone = replace(SHARDED, data_parallel=1)
    assert outcome(alone, job(alone), name).sent == 0


def test_accumulation_reduces_once_however_many_micro_batches():
    many = replace(SHARDED, num_microbatches=8)
    assert data_messages(many, job(many), "buckets") == data_messages(
        SHARDED, job(SHARDED), "buckets"
    )
