"""Checkpoints and failures: published intervals, and the closed forms against simulated lives."""

import math
from statistics import fmean, stdev

import pytest

from engine.core.units import DAY, HOUR
from engine.formulas.goodput import (
    daly_interval,
    failures,
    first_order_goodput,
    goodput,
    job_mtbf,
    restart_share,
    spread,
    young_interval,
)
from engine.simulate.job.failure_process import (
    CheckpointPolicy,
    run_segments,
    simulated_goodput,
    simulated_run_time,
)
from engine.simulate.numerics.rng import uniforms

MINUTE = 60.0
LLAMA3 = job_mtbf(54 * DAY * 16_384 / 419, 16_384)
# Checkpoint, restart and mean time between failures; from calm to hopeless.
JOBS = [
    CheckpointPolicy(interval=20 * MINUTE, checkpoint=MINUTE, restart=10 * MINUTE, mtbf=LLAMA3),
    CheckpointPolicy(interval=HOUR, checkpoint=MINUTE, restart=10 * MINUTE, mtbf=LLAMA3),
    CheckpointPolicy(interval=117 * MINUTE, checkpoint=5 * MINUTE, restart=10 * MINUTE, mtbf=DAY),
    CheckpointPolicy(
        interval=9 * MINUTE, checkpoint=5 * MINUTE, restart=10 * MINUTE, mtbf=15 * MINUTE
    ),
]
EACH = pytest.mark.parametrize("job", JOBS, ids=["llama 3", "hourly", "calm", "frantic"])


def expected(job):
    return goodput(job.interval, job.checkpoint, job.restart, job.mtbf)


def test_llama_3_failed_every_3_09_hours():
    assert f"{LLAMA3 / HOUR:.2f}" == "3.09"


def test_a_minute_of_checkpoint_is_due_every_19_3_minutes():
    assert f"{young_interval(MINUTE, LLAMA3) / MINUTE:.1f}" == "19.3"


@pytest.mark.parametrize(
    ("mtbf", "printed", "digits"), [(24 * HOUR, "117", 0), (6 * HOUR, "57", 0), (900, "9.1", 1)]
)
def test_the_best_interval_is_the_one_printed_by_daly(mtbf, printed, digits):
    # Daly 2006, figures 3 to 5: checkpoints of 5 minutes.
    assert f"{daly_interval(5 * MINUTE, mtbf) / MINUTE:.{digits}f}" == printed


def test_a_checkpoint_of_twice_the_mtbf_leaves_one_mtbf_between():
    assert daly_interval(2 * HOUR, HOUR) == HOUR


@pytest.mark.parametrize("mtbf", [15 * MINUTE, HOUR, 6 * HOUR, DAY])
def test_no_interval_is_better_than_dalys_by_more_than_a_tenth_of_a_percent(mtbf):
    habits = 5 * MINUTE, 10 * MINUTE, mtbf
    around = [daly_interval(5 * MINUTE, mtbf) * 1.02**k for k in range(-60, 61)]
    best = max(goodput(interval, *habits) for interval in around)
    assert goodput(around[60], *habits) >= best * 0.999


def test_youngs_interval_is_the_best_of_the_first_order():
    habits = MINUTE, 10 * MINUTE, LLAMA3
    best = young_interval(MINUTE, LLAMA3)
    near = [first_order_goodput(best * k, *habits) for k in (0.98, 1.0, 1.02)]
    assert max(near) == near[1]


def test_the_first_order_agrees_where_failures_are_rare():
    habits = 600.0, 10.0, 60.0, 1e8
    assert first_order_goodput(*habits) == pytest.approx(goodput(*habits), rel=1e-6)


def test_without_failures_only_checkpoints_cost():
    assert goodput(1000.0, 10.0, 60.0, 1e15) == pytest.approx(1000 / 1010)


def test_a_job_that_never_reaches_a_checkpoint_has_no_goodput():
    assert goodput(DAY, 60.0, 600.0, 60.0) == 0


def test_what_never_ends_has_no_finite_spread():
    assert spread(DAY, DAY, 60.0, 600.0, 60.0) == math.inf


@EACH
def test_the_parts_of_the_time_are_not_negative(job):
    rest = 1 - expected(job) * (1 + job.checkpoint / job.interval)
    assert rest > restart_share(job.restart, job.mtbf) > 0


@EACH
def test_simulated_goodput_agrees_with_daly_within_its_error(job):
    # Twelve lives of 1,000 failures; the error of their mean is known from their spread.
    found = [simulated_goodput(job, 1000, seed) for seed in range(12)]
    error = stdev(found) / math.sqrt(len(found))
    assert fmean(found) == pytest.approx(expected(job), abs=3 * error)


@EACH
def test_simulated_runs_end_when_daly_says(job):
    work = 400 * job.interval
    ends = [simulated_run_time(job, work, seed) for seed in range(200)]
    error = stdev(ends) / math.sqrt(len(ends))
    assert fmean(ends) == pytest.approx(work / expected(job), abs=3 * error)


@EACH
def test_the_spread_of_simulated_runs_is_the_computed_one(job):
    work = 400 * job.interval
    ends = [simulated_run_time(job, work, seed) for seed in range(400)]
    habits = job.interval, job.checkpoint, job.restart, job.mtbf
    # The deviation of a deviation from 400 runs is about 1/sqrt(800); three of them.
    assert stdev(ends) == pytest.approx(spread(work, *habits), rel=3 / math.sqrt(800))


@pytest.mark.parametrize("size", [1e-5, 1e-4])
def test_the_spread_is_smooth_where_its_series_ends(size):
    below, above = (spread(1.0, 1.0, 0.0, 1.0, 1e3 * k) for k in (1 + size, 1 - size))
    assert below == pytest.approx(above, rel=10 * size)


@EACH
def test_restarts_take_their_share_of_the_time(job):
    lives = [list(run_segments(job, 1000, seed)) for seed in range(12)]
    # A stretch starts when the restart before it is over, or at its own end if it never is.
    shares = []
    for one in lives:
        ends = [0.0, *(stretch.end for stretch in one)]
        waits = [stretch.start - end for stretch, end in zip(one, ends, strict=False)]
        shares.append(sum(waits) / ends[-1])
    error = stdev(shares) / math.sqrt(len(shares))
    share = restart_share(job.restart, job.mtbf)
    # The first stretch of 1,000 has no restart before it.
    assert fmean(shares) == pytest.approx(share * 0.999, abs=3 * error)


def test_failures_come_once_per_mtbf():
    assert failures(54 * DAY, LLAMA3) == pytest.approx(419)


def test_the_same_seed_gives_the_same_life():
    assert list(run_segments(JOBS[0], 20, 7)) == list(run_segments(JOBS[0], 20, 7))


def test_another_seed_gives_another_life():
    assert list(run_segments(JOBS[0], 20, 7)) != list(run_segments(JOBS[0], 20, 8))


def test_chances_are_even():
    chance = uniforms(3)
    found = [next(chance) for _ in range(10_000)]
    counts = [sum(1 for x in found if k <= 10 * x < k + 1) for k in range(10)]
    # Chi-squared with 9 degrees of freedom is above 27.9 once in a thousand times.
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 27.9


def test_a_life_without_failures_is_refused():
    with pytest.raises(ValueError, match="num_failures is 0; at least 1 is needed"):
        simulated_goodput(JOBS[0], 0, 1)
