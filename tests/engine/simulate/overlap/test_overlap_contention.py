"""A product and a collective beside it, against times worked by hand."""

import pytest

from engine.simulate.overlap.overlap_contention import simulate_overlapped_pair


def test_a_product_loses_a_third_of_the_time_that_a_collective_of_half_contention_runs_beside_it():
    # 6 ms beside it do 4 ms of the work; the other 6 ms are done alone: 12 ms.
    found = simulate_overlapped_pair(10e-3, 6e-3, 0.0, 0.5)
    assert (found.done, found.product.end) == pytest.approx((4e-3, 12e-3))


def test_contention_is_what_the_product_takes_longer():
    assert simulate_overlapped_pair(10e-3, 6e-3, 0.0, 0.5).contention == pytest.approx(2e-3)


def test_what_outlasts_the_product_is_exposed():
    # Beside all of the 2 ms product, which takes 3 ms; 6 - 3 are left.
    assert simulate_overlapped_pair(2e-3, 6e-3, 0.0, 0.5).exposed == pytest.approx(3e-3)


def test_a_collective_after_the_product_slows_nothing_down():
    found = simulate_overlapped_pair(2e-3, 1e-3, 5e-3, 1.0)
    assert (found.contention, found.together, found.exposed) == (0.0, 0.0, pytest.approx(1e-3))
