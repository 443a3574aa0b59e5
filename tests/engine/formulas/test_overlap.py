import math

import pytest

from engine.catalog.hardware import GPUS
from engine.core.units import GB, Gbit, MiB
from engine.formulas.communication import ring_all_reduce_time, ring_bytes_sent
from engine.formulas.overlap import (
    backward_time,
    break_even_tokens,
    bucket_count,
    communication_share,
    compute_time,
    efficiency,
    exposed_time,
    forward_time,
    gradient_size,
    hidden_share,
    required_bandwidth,
    step_time,
)

PARAMETERS = 7e9
PEAK = GPUS["h100"].peak["bf16"]
RUN = (PARAMETERS, 4096, 0.5, PEAK)
ALL_REDUCE = ring_all_reduce_time(14 * GB, 8, 50 * GB)


def overlapped_efficiency(tokens):
    compute = compute_time(PARAMETERS, tokens, 0.5, PEAK)
    backward = backward_time(PARAMETERS, tokens, 0.5, PEAK)
    exposed = max(0, ALL_REDUCE - backward)  # the limit of many buckets
    return f"{efficiency(compute, exposed):.0%}"


def test_7_billion_bf16_gradients_are_14_gigabytes():
    assert gradient_size(7e9, 2) == 14 * GB


def test_4096_tokens_of_7_billion_parameters_take_348_ms():
    assert f"{compute_time(*RUN) * 1e3:.0f}" == "348"


def test_the_backward_pass_of_4096_tokens_takes_232_ms():
    assert f"{backward_time(*RUN) * 1e3:.0f}" == "232"


def test_the_backward_pass_is_two_forward_passes():
    assert backward_time(*RUN) == 2 * forward_time(*RUN)


def test_forward_and_backward_make_the_computation():
    assert forward_time(*RUN) + backward_time(*RUN) == pytest.approx(compute_time(*RUN))


def test_no_tokens_take_no_time():
    assert compute_time(PARAMETERS, 0, 0.5, PEAK) == 0


def test_the_published_3_5_ms_of_computation_are_41_tokens():
    tokens = 3.5e-3 / compute_time(PARAMETERS, 1, 0.5, PEAK)
    assert round(tokens) == 41


def test_7_billion_bf16_gradients_fill_534_buckets_of_25_mebibytes_and_begin_one_more():
    assert bucket_count(14 * GB, 25 * MiB) == 535


def test_8_billion_bf16_gradients_fill_613_buckets_at_8_03_billion_parameters():
    assert bucket_count(8.03e9 * 2, 25 * MiB) == 613


def test_a_buffer_smaller_than_a_bucket_is_one_bucket():
    assert bucket_count(1.0, 25 * MiB) == 1


def test_one_bucket_hides_nothing():
    assert exposed_time(0.49, 10.0, 1) == 0.49


def test_a_long_backward_pass_leaves_only_the_last_bucket():
    assert exposed_time(1.0, 100.0, 20) == 1 / 20


def test_without_backward_all_is_exposed():
    assert exposed_time(0.49, 0.0, 8) == 0.49


def test_many_buckets_expose_the_difference():
    assert exposed_time(0.49, 0.232, 10**9) == pytest.approx(0.49 - 0.232)


def test_16_buckets_of_500_megabytes_leave_0_187_ms_of_2_92():
    # 300 GB/s, 8 ranks, 5 us per bucket, 200 ms of backward pass.
    bucket = 2 * 7 / 8 * 500e6 / 16 / 300e9 + 5e-6
    assert f"{exposed_time(16 * bucket, 0.2, 16) * 1e3:.3f}" == "0.187"


def test_a_step_is_computation_plus_what_is_exposed():
    assert step_time(0.35, 0.25) == pytest.approx(0.6)


def test_blocking_communication_is_99_2_percent_of_the_published_step():
    assert f"{communication_share(3.5e-3, 456.3e-3):.1%}" == "99.2%"


def test_free_communication_has_no_share():
    assert communication_share(0.35, 0.0) == 0


def test_with_overlap_4096_tokens_run_at_57_percent():
    assert overlapped_efficiency(4096) == "57%"


def test_with_overlap_8192_tokens_run_at_96_percent():
    assert overlapped_efficiency(8192) == "96%"


def test_efficiency_and_share_add_up_to_one():
    assert efficiency(0.35, 0.14) + communication_share(0.35, 0.14) == pytest.approx(1)


def test_nothing_exposed_is_all_hidden():
    assert hidden_share(0.49, 0.0) == 1


def test_no_communication_counts_as_hidden():
    assert hidden_share(0.0, 0.0) == 1


def test_the_backward_pass_hides_490_ms_from_8654_tokens():
    assert f"{break_even_tokens(ALL_REDUCE, PARAMETERS, 0.5, PEAK):.0f}" == "8654"


@pytest.mark.parametrize("num_buckets", [2, 20, 534])
def test_at_the_break_even_only_the_tail_is_exposed_for_any_number_of_buckets(num_buckets):
    tokens = break_even_tokens(ALL_REDUCE, PARAMETERS, 0.5, PEAK)
    backward = backward_time(PARAMETERS, tokens, 0.5, PEAK)
    exposed = exposed_time(ALL_REDUCE, backward, num_buckets)
    assert exposed == pytest.approx(ALL_REDUCE / num_buckets)


def test_hiding_it_behind_4096_tokens_needs_845_gigabits_per_second():
    needed = required_bandwidth(ring_bytes_sent(14 * GB, 8), backward_time(*RUN))
    assert f"{needed / Gbit:.0f}" == "845"


def test_hiding_it_behind_the_published_3_5_ms_needs_56000_gigabits_per_second():
    needed = required_bandwidth(ring_bytes_sent(14 * GB, 8), 3.5e-3)
    assert needed / Gbit == pytest.approx(56_000)


def test_latency_shortens_the_window():
    assert required_bandwidth(1.0, 1.0, 0.5) == 2


def test_no_bandwidth_suffices_when_latency_fills_the_window():
    assert required_bandwidth(1.0, 1.0, 1.0) == math.inf
