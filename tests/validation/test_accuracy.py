"""The bars of accuracy, on the published runs that are part of the repository."""

import statistics

import pytest

from tests.validation.published import DATA, measured_memory
from tests.validation.report import error
from tests.validation.rows import cases

RUNS = cases(DATA)[0]


def sizes(*, mixture, complete=False):
    """Absolute errors of the step time, the smallest first."""
    return sorted(
        abs(error(case)) for case in RUNS if case.moe == mixture and (case.complete or not complete)
    )


@pytest.fixture(scope="module")
def dense():
    return sizes(mixture=False, complete=True)


def test_there_are_four_hundred_complete_dense_runs(dense):
    assert len(dense) == 400


def test_complete_dense_step_times_are_within_ten_percent_in_the_mean(dense):
    assert statistics.fmean(dense) <= 0.10


def test_nine_in_ten_complete_dense_step_times_are_within_twenty_percent(dense):
    assert dense[int(0.9 * len(dense))] <= 0.20


def test_all_dense_step_times_are_within_ten_percent_in_the_mean():
    assert statistics.fmean(sizes(mixture=False)) <= 0.10


def test_step_times_of_mixtures_are_within_twenty_percent_in_the_mean():
    assert statistics.fmean(sizes(mixture=True)) <= 0.20


def test_peaks_of_memory_are_within_five_percent_in_the_mean():
    errors = [abs(guess / held - 1) for held, guess in measured_memory().values()]
    assert statistics.fmean(errors) <= 0.05


@pytest.mark.parametrize("source", sorted({case.row["source_file"] for case in RUNS}))
def test_no_source_is_far_off_in_the_mean(source):
    errors = [abs(error(case)) for case in RUNS if case.row["source_file"] == source]
    assert statistics.fmean(errors) <= 0.20
