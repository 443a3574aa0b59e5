from itertools import pairwise

import pytest

from engine.formulas.overlap import exposed_time
from engine.simulate.streams.backward import COMMUNICATION, COMPUTE, blocking_step, overlapped_step
from tests.each import each

CASES = [
    (backward, num_buckets, bucket_time)
    for backward in (0.0, 0.03, 0.232, 1.0)
    for num_buckets in (1, 2, 7, 18, 19, 534)
    for bucket_time in (0.0, 1e-5, 9e-4, 0.1)
]


def bucket_by_bucket(forward, backward, num_buckets, bucket_time):
    free = 0.0
    for index in range(1, num_buckets + 1):
        free = max(free, forward + backward * index / num_buckets) + bucket_time
    return free - forward - backward


@each(("backward", "num_buckets", "bucket_time"), CASES)
def test_groups_of_buckets_end_when_single_buckets_do(backward, num_buckets, bucket_time):
    step = overlapped_step(0.116, backward, num_buckets, bucket_time)
    alone = bucket_by_bucket(0.116, backward, num_buckets, bucket_time)
    assert step.exposed == pytest.approx(alone, rel=1e-9, abs=1e-12)


@each(("backward", "num_buckets", "bucket_time"), CASES)
def test_the_exposed_time_is_that_of_the_closed_form(backward, num_buckets, bucket_time):
    step = overlapped_step(0.116, backward, num_buckets, bucket_time)
    formula = exposed_time(num_buckets * bucket_time, backward, num_buckets)
    assert step.exposed == pytest.approx(formula, rel=1e-9, abs=1e-12)


@each(("backward", "num_buckets", "bucket_time"), CASES)
def test_without_overlap_all_communication_is_exposed(backward, num_buckets, bucket_time):
    step = blocking_step(0.116, backward, num_buckets, bucket_time)
    assert step.exposed == pytest.approx(num_buckets * bucket_time, rel=1e-9, abs=1e-12)


@each(("backward", "num_buckets", "bucket_time"), CASES)
def test_hidden_and_exposed_make_the_communication(backward, num_buckets, bucket_time):
    step = overlapped_step(0.116, backward, num_buckets, bucket_time)
    assert step.hidden + step.exposed == pytest.approx(step.isolated, rel=1e-9, abs=1e-12)


@each(("backward", "num_buckets", "bucket_time"), CASES)
@each("simulate", [overlapped_step, blocking_step])
def test_all_communication_is_on_its_stream(simulate, backward, num_buckets, bucket_time):
    step = simulate(0.116, backward, num_buckets, bucket_time)
    busy = sum(span.busy for span in step.spans if span.stream == COMMUNICATION)
    assert busy == pytest.approx(step.isolated)


@each(("backward", "num_buckets", "bucket_time"), CASES)
@each("simulate", [overlapped_step, blocking_step])
def test_all_computation_is_on_its_stream(simulate, backward, num_buckets, bucket_time):
    step = simulate(0.116, backward, num_buckets, bucket_time)
    busy = sum(span.busy for span in step.spans if span.stream == COMPUTE)
    assert busy == pytest.approx(step.compute)


@each(("backward", "num_buckets", "bucket_time"), CASES)
@each("simulate", [overlapped_step, blocking_step])
@each("stream", [COMPUTE, COMMUNICATION])
def test_no_stream_does_two_things_at_once(stream, simulate, backward, num_buckets, bucket_time):
    step = simulate(0.116, backward, num_buckets, bucket_time)
    spans = [span for span in step.spans if span.stream == stream]
    assert all(after.start >= before.end - 1e-12 for before, after in pairwise(spans))


def test_no_bucket_is_reduced_before_it_is_ready():
    step = overlapped_step(1.0, 2.0, 4, 0.1)
    starts = [span.start for span in step.spans if span.stream == COMMUNICATION]
    assert starts == [1.5, 2.0, 2.5, 3.0]


def test_a_busy_network_makes_buckets_wait():
    step = overlapped_step(1.0, 2.0, 4, 1.0)
    starts = [span.start for span in step.spans if span.stream == COMMUNICATION]
    assert starts == [1.5, 2.5, 3.5, 4.5]


def test_a_picture_never_needs_more_than_forty_spans():
    assert len(overlapped_step(0.1, 0.2, 4_000_000, 1e-7).spans) <= 40


def test_merged_buckets_say_which_they_are():
    labels = [span.label for span in overlapped_step(0.1, 0.2, 36, 1e-3).spans]
    assert labels[1] == "backward, buckets 1\N{EN DASH}2"


def test_a_single_bucket_says_its_number():
    assert overlapped_step(0.1, 0.2, 3, 1e-3).spans[-1].label == "bucket 3"


@each("simulate", [overlapped_step, blocking_step])
def test_a_step_without_buckets_is_refused(simulate):
    with pytest.raises(ValueError, match="num_buckets is 0; it must be 1 or more"):
        simulate(0.1, 0.2, 0, 1e-3)


@each("simulate", [overlapped_step, blocking_step])
def test_a_picture_without_groups_is_refused(simulate):
    with pytest.raises(ValueError, match="groups is 0; it must be 1 or more"):
        simulate(0.1, 0.2, 3, 1e-3, groups=0)
