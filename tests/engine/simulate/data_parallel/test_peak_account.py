from dataclasses import replace

import pytest

from engine.simulate.data_parallel.peak_account import JobReadings, healthy_job, repaired_mfu

MEASURES = JobReadings(
    mfu=0.3,
    loading=0.0,
    gaps=0.1,
    bubble=0.0,
    exposed=0.4,
    recomputed=0.0,
    clock=1.0,
    sm_active=0.9,
    tensor_active=0.5,
    utilization=1.0,
    skew=0.0,
    busbw=1.0,
    ports=1.0,
    link_errors=0,
)


def test_half_of_the_step_computes_and_reaches_three_fifths_of_the_peak():
    assert MEASURES.computing == pytest.approx(0.5)
    assert MEASURES.efficiency == pytest.approx(0.6)


def test_repeating_the_forward_pass_adds_a_third():
    assert replace(MEASURES, recomputed=1.0).efficiency == pytest.approx(0.8)


def test_what_a_shorter_step_gives_back():
    # Without the exposed 40 % the same work takes 60 % of the time.
    assert repaired_mfu(MEASURES, 0.4, of_time=True) == pytest.approx(0.5)
    assert repaired_mfu(MEASURES, 0.1, of_time=False) == pytest.approx(0.4)


def test_nothing_is_repaired_beyond_the_peak():
    assert repaired_mfu(MEASURES, 0.95, of_time=True) == 1.0
    assert repaired_mfu(MEASURES, 0.95, of_time=False) == 1.0


def test_the_parts_of_a_healthy_job_make_up_its_peak():
    well = healthy_job()
    assert well.mfu + well.kernels + well.exposed + well.gaps == pytest.approx(1.0)
