"""A trace: launches in turn, kernels in order, gaps where the CPU is late."""

from itertools import pairwise

import pytest

from engine.catalog.models import MODELS
from engine.simulate.layer.layer_operators import layer_operators
from engine.simulate.streams.kernel_trace import launch_intervals, trace_kernels

OPERATORS = layer_operators(MODELS["llama-3-8b"], 256, 256, fused=True, flash=True)
COUNT = len(OPERATORS)


def played(length, launch):
    return trace_kernels(OPERATORS, (length,) * COUNT, launch)


def test_long_kernels_run_without_a_gap():
    found = played(5.0, 1.0)
    assert found.end == 1.0 + 5.0 * COUNT
    assert found.busy == pytest.approx(5.0 * COUNT / found.end)


def test_short_kernels_wait_for_their_launches():
    found = played(1.0, 4.0)
    assert found.end == 4.0 * COUNT + 1.0
    assert all(one.start == one.ready for one in found.kernels)


def test_no_kernel_starts_before_it_is_launched_or_before_the_last_has_ended():
    found = trace_kernels(OPERATORS, tuple(float(i % 3 + 1) for i in range(COUNT)), 2.0).kernels
    assert all(one.start >= one.ready for one in found)
    assert all(b.start >= a.end for a, b in pairwise(found))


def test_a_kernel_of_a_fifth_of_its_launch_keeps_the_gpu_busy_for_about_a_fifth():
    assert played(2e-6, 10e-6).busy == pytest.approx(0.2, abs=0.01)


def test_short_kernels_are_one_launch_bound_stretch():
    (found,) = launch_intervals(played(1.0, 4.0))
    assert (found.late, found.kernels, found.ahead) == (True, COUNT, 0.0)
    # A gap of the whole first launch, and of what each later one takes longer than its kernel.
    assert found.idle == 4.0 + 3.0 * (COUNT - 1)


def test_with_long_kernels_the_cpu_runs_ahead_behind_the_first():
    first, rest = launch_intervals(played(5.0, 1.0))
    # The GPU waits for the first launch; then the first kernel runs, and the CPU gets ahead.
    assert (first.late, first.kernels, first.idle, first.end) == (True, 0, 1.0, 1.0)
    assert (rest.late, rest.kernels, rest.idle) == (False, COUNT, 0.0)
    assert rest.ahead == 4.0 * (COUNT - 1)


def test_a_long_kernel_behind_a_gap_is_not_launch_bound():
    lengths = (1.0, 1.0, 20.0) + (1.0,) * (COUNT - 3)
    found = trace_kernels(OPERATORS, lengths, 4.0)
    long = found.kernels[2]
    first, rest = launch_intervals(found)[:2]
    assert (first.late, first.kernels, first.end) == (True, 2, long.start)
    assert (rest.late, rest.start) == (False, long.start)
    assert rest.end >= long.end


def test_a_long_last_kernel_is_marked_like_one_in_the_middle():
    marked = launch_intervals(trace_kernels(OPERATORS, (1.0,) * (COUNT - 1) + (20.0,), 4.0))
    assert [(one.late, one.kernels) for one in marked] == [(True, COUNT - 1), (False, 1)]


def test_stretches_follow_one_another_and_hold_all_idle_time():
    found = trace_kernels(OPERATORS, tuple(float(i % 4 + 1) for i in range(COUNT)), 2.5)
    marked = launch_intervals(found)
    assert [one.start for one in marked[1:]] == [one.end for one in marked[:-1]]
    assert (marked[0].start, marked[-1].end) == (0.0, found.end)
    assert sum(one.idle for one in marked) == pytest.approx(found.end * (1 - found.busy))
    assert sum(one.kernels for one in marked) == COUNT
