"""One job under five schedules: bytes and messages counted by hand."""

from dataclasses import replace

import pytest

from engine.simulate.overlap.overlap_job import OverlapSetting, build_overlap_job
from engine.simulate.overlap.overlap_step import (
    PROGRAMS,
    data_messages,
    schedule_outcome,
    tensor_traffic,
)

# Llama 3 8B: 32 layers of 218.1 million parameters, 4,096 wide.
SHARDED = OverlapSetting(
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
    assert schedule_outcome(SHARDED, build_overlap_job(SHARDED), "blocking").sent == pytest.approx(
        2 * 63 / 64 * 2 * WHOLE
    )


def test_full_sharding_gathers_parameters_twice_and_scatters_gradients():
    assert schedule_outcome(SHARDED, build_overlap_job(SHARDED), "sharded").sent == pytest.approx(
        3 * 63 / 64 * 2 * WHOLE
    )


def test_full_sharding_sends_as_much_again_for_every_micro_batch():
    many = replace(SHARDED, num_microbatches=5)
    one = schedule_outcome(SHARDED, build_overlap_job(SHARDED), "sharded").sent
    assert schedule_outcome(many, build_overlap_job(many), "sharded").sent == pytest.approx(5 * one)


def test_without_tensor_parallelism_it_sends_nothing():
    assert tensor_traffic(SHARDED, build_overlap_job(SHARDED)) == (0, 0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_gpu_sends_no_bytes(name):
    alone = replace(SHARDED, data_parallel=1)
    assert schedule_outcome(alone, build_overlap_job(alone), name).sent == 0


def test_accumulation_reduces_once_however_many_micro_batches():
    many = replace(SHARDED, num_microbatches=8)
    assert data_messages(many, build_overlap_job(many), "buckets") == data_messages(
        SHARDED, build_overlap_job(SHARDED), "buckets"
    )


TENSOR = OverlapSetting(
    model="llama-3-70b",
    gpu="h100",
    tensor_parallel=8,
    pipeline_parallel=4,
    data_parallel=32,
    num_microbatches=16,
    tokens=16_384,
    port=50e9,
)


def test_a_layer_sends_its_hidden_state_ten_times_as_megatron_does():
    # 20 layers, 16 micro-batches, 10 passes of 7/8 of 16,384 x 8,192 in 16 bits.
    sent = 20 * 16 * 10 * 7 / 8 * 16_384 * 8192 * 2
    assert tensor_traffic(TENSOR, build_overlap_job(TENSOR)) == (pytest.approx(sent), 20 * 16 * 10)


def test_the_program_moves_the_bytes_that_the_table_counts():
    one = replace(TENSOR, num_microbatches=1, data_parallel=1)
    spans = schedule_outcome(one, build_overlap_job(one), "blocking").spans
    moved = sum(span.op.size for span in spans if ":gather" in span.op.key)
    moved += sum(span.op.size for span in spans if ":scatter" in span.op.key)
    assert moved == pytest.approx(tensor_traffic(one, build_overlap_job(one))[0])


def test_a_ring_over_whole_nodes_has_the_ports_of_all_its_ranks():
    assert build_overlap_job(SHARDED).line_rate == pytest.approx(8 * 50e9)


def test_one_rank_of_a_node_has_one_port():
    assert build_overlap_job(TENSOR).line_rate == pytest.approx(50e9)


@pytest.mark.parametrize("setting", [SHARDED, TENSOR], ids=["sharded", "tensor"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_wire_is_shorter_than_the_collectives_alone(setting, name):
    work = build_overlap_job(setting)
    one = schedule_outcome(setting, work, name)
    assert one.sent / work.line_rate < one.isolated
