"""A trace: launches in turn, kernels in order, gaps where the CPU is late."""

from itertools import pairwise

import pytest

from engine.catalog.models import MODELS
from engine.simulate.kernel_trace import trace
from engine.simulate.layer_operators import layer_operators

OPERATORS = layer_operators(MODELS["llama-3-8b"], 256, 256, fused=True, flash=True)
COUNT = len(OPERATORS)


def played(length, launch):
    return trace(OPERATORS, (length,) * COUNT, launch)


def test_long_kernels_run_without_a_gap():
    found = played(5.0, 1.0)
    assert found.end == 1.0 + 5.0 * COUNT
    assert found.busy == pytest.approx(5.0 * COUNT / found.end)


def test_short_kernels_wait_for_their_launches():
    found = played(1.0, 4.0)
    assert found.end == 4.0 * COUNT + 1.0
    assert all(one.start == one.ready for one in found.kernels)


def test_no_kernel_starts_before_it_is_launched_or_before_the_last_has_ended():
    found = trace(OPERATORS, tuple(float(i % 3 + 1) for i in range(COUNT)), 2.0).kernels
    assert all(one.start >= one.ready for one in found)
    assert all(b.start >= a.end for a, b in pairwise(found))


def test_a_kernel_of_a_fifth_of_its_launch_keeps_the_gpu_busy_for_about_a_fifth():
    assert played(2e-6, 10e-6).busy == pytest.approx(0.2, abs=0.01)
