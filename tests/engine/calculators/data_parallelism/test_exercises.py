"""The exercises of path C: what the words of each answer say, worked by hand."""

import pytest

from tests.engine.calculators.asked import solved


def close(value, rel=1e-3):
    return pytest.approx(value, rel=rel)


# Data parallelism from scratch


def test_tokens_that_hide_an_all_reduce_depend_on_the_ports_and_not_on_the_model():
    job = solved("data_parallel_scaling")
    # Gradients in fp32: 2 F/W.
    assert job.hiding_tokens == close(2 * job.rate / job.widest)
    assert solved("data_parallel_scaling", gradient="bf16").hiding_tokens == close(
        job.hiding_tokens / 2, rel=0.02
    )
    assert solved("data_parallel_scaling", ports_per_node=1).hiding_tokens == close(
        4 * job.hiding_tokens
    )
    assert solved("data_parallel_scaling", port=50e9).hiding_tokens == close(job.hiding_tokens / 4)
    larger = solved("data_parallel_scaling", model="llama-2-13b")
    assert larger.hiding_tokens == close(job.hiding_tokens, rel=0.05)
    assert larger.states == close(13.016 / 6.738 * job.states)


def test_without_the_node_of_a_slow_gpu_the_job_is_faster():
    with_it = solved("data_parallel_scaling", slower=0.1)
    without = solved("data_parallel_scaling", num_gpus=248)
    assert without.speedup > with_it.speedup
    assert with_it.waiting > 3 * solved("data_parallel_scaling").waiting


# Overlap: gradient buckets


def test_the_last_bucket_of_a_1b_model_is_its_embedding_and_what_was_waiting():
    found = solved("bucket_lab", model="llama-3.2-1b", dtype="bf16")
    table = 128_256 * 2048 * 2
    assert table < found.last_size < table + 25 * 2**20 + 2048 * 8192 * 2
    assert found.last_share == close(found.last_size / (2 * 1.2358e9))


def test_from_16_to_64_pieces_the_tail_falls_by_less_than_four():
    few, many = (solved("chunk_tail", pieces=n).exposed for n in (16, 64))
    whole = 2 * 7 / 8 * 500e6 / 300e9
    assert few == close(whole / 16 + 5e-6)
    assert 3 < few / many < 4


def test_where_a_piece_takes_as_long_as_its_latency_the_tail_is_twice_the_latency():
    half = solved("chunk_tail").half
    assert half == close(2 * 7 / 8 * 500e6 / 300e9 / 5e-6)
    assert solved("chunk_tail", pieces=round(half)).exposed == close(10e-6)


# ZeRO-1


@pytest.mark.parametrize(("ranks", "gradient", "whole"), [(3, 2.0, 4), (2, 4.0, 6)])
def test_a_share_weighs_as_much_as_what_stays_whole(ranks, gradient, whole):
    found = solved("zero_saving", ranks=ranks, gradient_bytes=gradient)
    assert found.bytes_per_parameter == close(2 * whole)
    twice = solved("zero_saving", ranks=2 * ranks, gradient_bytes=gradient).bytes_per_parameter
    assert 1 - twice / found.bytes_per_parameter == close(0.25)


def test_no_number_of_gpus_makes_70b_fit_with_zero_1_and_zero_3_does():
    held = {
        stage: solved("zero_saving", model="llama-3-70b", ranks=64, zero_stage=stage).held
        for stage in "123"
    }
    assert held["1"] > held["2"] > 80e9 > held["3"]
    assert solved("zero_saving", model="llama-3-70b", ranks=1024).held > 80e9


# ZeRO-2


def test_each_gigabyte_freed_costs_three_sent_with_four_micro_batches():
    found = solved("zero_2_lab", model="llama-2-13b", ranks=16, micro_batches=4)
    assert found.saved == close(15 / 16 * 2 * 13.016e9)
    assert found.more == close(3 * found.saved)


def test_stage_2_holds_less_than_three_bytes_from_15_gpus_on():
    bytes_of = {
        n: solved("zero_saving", zero_stage="2", ranks=n).bytes_per_parameter for n in (14, 15)
    }
    assert bytes_of == {14: close(3.0), 15: close(2 + 14 / 15)}


# ZeRO-3


def test_critical_tokens_are_the_peak_over_the_ports_and_half_as_many_at_half_of_it():
    short = solved("critical_tokens", port=25e9, ports="4", gradients="bf16")
    full = solved("critical_tokens", port=25e9, ports="4")
    half = solved("critical_tokens", port=25e9, ports="4", utilization=0.5)
    assert short.critical == close(989e12 / 100e9, rel=1e-2)
    assert full.critical == close(1.5 * short.critical)
    assert half.critical == close(full.critical / 2)


def test_keeping_the_parameters_of_70b_does_not_fit():
    kept = solved("zero_3_lab", model="llama-3-70b", ranks=128, reshard=False).peak
    freed = solved("zero_3_lab", model="llama-3-70b", ranks=128).peak
    assert kept > 80e9 > freed
    assert kept - freed < 2 * 70.6e9


# ZeRO and FSDP knobs


def test_overlap_costs_no_second_buffer_under_stage_3_and_one_below():
    on, off = (solved("zero_3_knobs", overlap=one) for one in (True, False))
    assert on.buffers == off.buffers
    assert on.exposed < off.exposed
    twice, once = (solved("bucket_napkin", overlap=one).buffers for one in (True, False))
    assert twice == 2 * once


def test_two_buckets_hide_what_is_not_in_the_last_one():
    small, even = (solved("bucket_napkin", parameters=one) for one in (6e8, 1e9))
    assert (small.buckets, even.buckets) == (2, 2)
    assert solved("bucket_napkin", parameters=5e8).buckets == 1
    assert even.share == close(0.5)
    # A sixth of the gradients, and as much latency as the bucket that is five times as large.
    assert 1 / 6 < small.share < even.share / 2


# Hierarchical sharding


def test_sixteen_micro_batches_cross_three_times_two_times_or_once():
    gradient = 2 * 8.0303e9
    one, each, once = (
        solved("shard_width", micro_batches=16, **changes).sent
        for changes in ({"shard": 64}, {"shard": 8, "sums": "each"}, {"shard": 8})
    )
    assert one == close(16 * 3 * 63 / 64 * gradient)
    assert each == close(16 * 2 * 7 / 8 * gradient)
    assert once == close(2 * 7 / 8 * gradient)


def test_the_states_of_13b_take_a_third_of_each_gpu_of_a_node():
    narrow, wide = (solved("shard_width", model="llama-2-13b", shard=n).memory for n in (8, 64))
    assert narrow == close(16 * 13.016e9 / 8)
    assert wide == close(narrow / 8)
    assert narrow / 80e9 == close(1 / 3, rel=0.05)
