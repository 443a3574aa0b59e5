"""Simulated stragglers and failures against order statistics, and the best interval found by it."""

import math
from statistics import fmean, stdev

import pytest

from engine.core.units import DAY, HOUR
from engine.formulas.goodput import daly_interval, job_mtbf, young_interval
from engine.formulas.stragglers import slowest_of, slowest_with_one_slow
from engine.simulate.job.failure_process import CheckpointPolicy, simulated_goodput
from engine.simulate.numerics.rng import normals, uniforms
from tests.engine.simulate.straggler_sim import failures, steps

MINUTE = 60.0


def mean_time(*args, **changes):
    found = [step.time for step in steps(*args, **changes)]
    return fmean(found), stdev(found) / math.sqrt(len(found))


@pytest.mark.parametrize(("num_gpus", "num_steps"), [(2, 2000), (16, 1000), (512, 100)])
def test_the_simulated_slowest_is_the_one_of_order_statistics(num_gpus, num_steps):
    found, error = mean_time(num_gpus, 0.03, num_steps, seed=4)
    assert found == pytest.approx(slowest_of(num_gpus, 0.03), abs=3 * error)


@pytest.mark.parametrize("slower", [0.02, 0.1])
def test_a_slow_gpu_sets_the_simulated_pace_as_computed(slower):
    found, error = mean_time(64, 0.03, 400, seed=5, slower=slower)
    assert found == pytest.approx(slowest_with_one_slow(64, 0.03, slower), abs=3 * error)


def test_all_wait_for_the_gpu_that_is_half_as_fast():
    assert {step.slowest for step in steps(64, 0.03, 20, seed=6, slower=0.5)} == {0}


def test_without_jitter_nobody_waits():
    assert [step.waited for step in steps(8, 0.0, 2, seed=1)] == [0, 0]


def test_the_same_seed_gives_the_same_steps():
    assert list(steps(8, 0.1, 3, seed=2)) == list(steps(8, 0.1, 3, seed=2))


def test_the_first_failure_of_n_gpus_comes_n_times_as_soon():
    first = [failures(64, HOUR, HOUR, seed)[0].time for seed in range(300)]
    error = stdev(first) / math.sqrt(len(first))
    assert fmean(first) == pytest.approx(job_mtbf(HOUR, 64), abs=3 * error)


def test_failures_of_all_gpus_come_as_often_as_those_of_the_job():
    found = failures(1024, 3200 * HOUR, 54 * DAY, seed=3)
    expected = 54 * DAY / job_mtbf(3200 * HOUR, 1024)
    # A number of independent failures deviates by its root.
    assert len(found) == pytest.approx(expected, abs=3 * math.sqrt(expected))


def test_failures_come_in_order():
    times = [failure.time for failure in failures(32, HOUR, 10 * HOUR, seed=3)]
    assert times == sorted(times)


@pytest.mark.parametrize("rule", [young_interval, daly_interval])
def test_no_simulated_interval_is_much_better_than_the_rule(rule):
    # The same failures strike every interval, so that their luck cancels.
    best = rule(MINUTE, 3 * HOUR)

    def goodput(interval):
        habits = CheckpointPolicy(
            interval=interval, checkpoint=MINUTE, restart=10 * MINUTE, mtbf=3 * HOUR
        )
        return fmean(simulated_goodput(habits, 500, seed) for seed in range(8))

    others = [goodput(best * factor) for factor in (0.25, 0.5, 0.8, 1.25, 2, 4)]
    assert goodput(best) >= max(others) - 0.002


def test_normal_numbers_have_mean_0_and_deviation_1():
    noise = normals(uniforms(9))
    found = [next(noise) for _ in range(20_000)]
    # Errors of a mean and of a deviation of 20,000: 0.007 and 0.005.
    assert (fmean(found), stdev(found)) == pytest.approx((0, 1), abs=0.02)
