"""The slowest of n against tabulated order statistics, and what it costs."""

import math

import pytest

from engine.formulas.stragglers import (
    all_below,
    all_done_share,
    deviations_behind,
    largest_possible,
    lost_to_waiting,
    normal,
    slowest_of,
    slowest_share,
    slowest_with_one_slow,
)
from engine.simulate.numerics.rng import uniforms
from tests.each import each


# Expected largest of n standard normal values, as tabulated (Harter 1961, five decimals).
@each(
    ("num_gpus", "tabulated"),
    [(1, 0.0), (2, 0.56419), (3, 0.84628), (5, 1.16296), (10, 1.53875), (100, 2.50759)],
)
def test_the_slowest_of_n_lies_where_the_table_says(num_gpus, tabulated):
    assert (slowest_of(num_gpus, 0.01) - 1) / 0.01 == pytest.approx(tabulated, abs=1e-5)


def test_the_slowest_of_1024_lies_3_2_deviations_behind():
    # sqrt(2 ln n), a common estimate, is 3.72: too pessimistic.
    assert (slowest_of(1024, 0.01) - 1) / 0.01 == pytest.approx(3.249, abs=0.01)


@each("power", range(21))
def test_the_slowest_of_a_power_of_two_is_the_integral(power):
    exact = (slowest_of(2**power, 1e-3) - 1) / 1e-3
    assert deviations_behind(2**power) == pytest.approx(exact, abs=1e-4)


@each("num_gpus", [3, 5, 6, 7, 12, 24, 96, 360, 1536, 3072, 12_288, 100_000])
def test_the_slowest_of_any_number_is_the_integral_within_a_percent(num_gpus):
    exact = (slowest_of(num_gpus, 1e-3) - 1) / 1e-3
    assert deviations_behind(num_gpus) == pytest.approx(exact, rel=0.012)


def test_more_gpus_than_the_table_has_are_further_behind():
    assert deviations_behind(10**9) == deviations_behind(2**20) > deviations_behind(2**19)


def test_all_1024_beat_their_own_99th_percentile_3_times_in_100_000():
    assert f"{all_below(0.99, 1024):.1e}" == "3.4e-05"


def test_without_jitter_nobody_waits():
    assert slowest_of(16_384, 0.0) == 1


def test_without_jitter_the_slow_gpu_alone_sets_the_pace():
    assert slowest_with_one_slow(16_384, 0.0, 0.5) == 2


@each("num_gpus", [2, 64, 16_384])
def test_a_gpu_half_as_fast_hides_all_jitter(num_gpus):
    assert slowest_with_one_slow(num_gpus, 0.01, 0.5) == pytest.approx(2, rel=1e-6)


def test_a_gpu_that_is_not_slow_changes_nothing():
    assert slowest_with_one_slow(64, 0.03, 0.0) == slowest_of(64, 0.03)


def test_more_gpus_wait_longer():
    waits = [slowest_of(2**k, 0.02) for k in range(18)]
    assert waits == sorted(waits)


@each("num_gpus", [1, 2, 8, 1024, 131_072])
def test_no_mean_exceeds_the_bound_of_hartley_and_david(num_gpus):
    assert slowest_of(num_gpus, 0.05) <= largest_possible(num_gpus, 0.05) + 1e-12


def test_the_bound_for_two_is_one_over_root_three():
    assert largest_possible(2, 1.0) - 1 == pytest.approx(1 / math.sqrt(3))


def test_the_mean_of_the_slowest_is_that_of_thrown_dice():
    chance = uniforms(5)
    throws = [max(sum(next(chance) for _ in range(12)) - 6 for _ in range(16)) for _ in range(2000)]
    # The slowest of 16 deviates by about 0.55; three errors of the mean of 2,000.
    found = (slowest_of(16, 0.01) - 1) / 0.01
    assert sum(throws) / 2000 == pytest.approx(found, abs=3 * 0.55 / math.sqrt(2000))


def test_half_of_a_normal_distribution_lies_below_its_mean():
    assert normal(0.0) == 0.5


@each(("ratio", "share"), [(0.9, 0.0), (1.0, 1.0)])
def test_without_jitter_all_are_done_at_once(ratio, share):
    assert slowest_share(ratio, 8, 0.0) == share


def test_half_the_speed_loses_half_of_the_hours():
    assert lost_to_waiting(100.0, 2.0) == 50


def test_all_are_done_with_the_chance_of_each_multiplied():
    # Each is done by its mean in half of the steps; at half the speed that is twice the time.
    assert all_done_share(1.0, 3, 0.01, 0.5) == pytest.approx(0.0, abs=1e-12)
    assert all_done_share(1.0, 3, 0.01, 0.0) == pytest.approx(0.5**3)
