"""Many lives: their mean and their spread are those of the formula."""

import math
from itertools import islice
from statistics import fmean, pstdev

import pytest

from engine.catalog.failure_reports import FAILURE_REPORTS
from engine.core.units import DAY, HOUR
from engine.simulate.job.failure_monte_carlo import MOST_RUNS, simulate_runs
from engine.simulate.job.failure_process import CheckpointPolicy, failure_gaps
from engine.simulate.job.forecast import whole_run
from engine.simulate.numerics.rng import uniforms

HABITS = CheckpointPolicy(interval=HOUR, checkpoint=60.0, restart=600.0, mtbf=49.5 * HOUR)


def test_mean_and_spread_are_the_formulas():
    whole = whole_run(20 * DAY, HABITS)
    played = simulate_runs(HABITS, 20 * DAY, whole.failures, 1)
    assert len(played.ends) == MOST_RUNS
    assert fmean(played.ends) == played.mean == pytest.approx(whole.wall, rel=1e-3)
    assert pstdev(played.ends) == pytest.approx(whole.spread, rel=0.15)


def test_nine_in_ten_end_by_the_ninth():
    played = simulate_runs(HABITS, 20 * DAY, 10.0, 2)
    late = sum(end > played.quantile(0.9) for end in played.ends) / len(played.ends)
    assert late == pytest.approx(0.1, abs=0.01)
    assert played.quantile(1.0) == played.ends[-1]


def test_too_many_failures_are_not_played():
    assert simulate_runs(HABITS, 20 * DAY, 1e5, 1) is None


def test_the_same_seed_is_the_same_lives():
    one, two = (simulate_runs(HABITS, 2 * DAY, 2.0, 5) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("name", "hours"),
    [("BLOOM", 112.0), ("OPT", 13.71), ("Meta", 7.9), ("Llama 3", 3.093)],
)
def test_published_times_between_failures(name, hours):
    report = next(one for one in FAILURE_REPORTS if one.name.startswith(name))
    assert report.mtbf / HOUR == pytest.approx(hours, rel=1e-3)


def test_the_waits_of_a_seed_are_the_same_however_often_and_far_they_are_asked_for():
    drawn = [-math.log(one) for one in islice(uniforms(77), 300)]
    first, second = failure_gaps(77), failure_gaps(77)
    assert list(islice(first, 100)) == drawn[:100]
    assert list(islice(second, 300)) == drawn
    assert list(islice(first, 200)) == drawn[100:]
