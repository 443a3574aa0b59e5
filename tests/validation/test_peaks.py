"""Peaks of memory that no allowance was fitted to."""

import statistics

import pytest

from tests.validation.peaks import error, rows

ROWS = rows()


def test_unseen_peaks_are_within_three_percent_in_the_mean():
    assert len(ROWS) == 25
    assert statistics.fmean(abs(error(row)) for row in ROWS) <= 0.03


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_no_unseen_peak_is_far_off(row):
    assert abs(error(row)) <= 0.125
