"""Full sharding against plans in three dimensions, for mixtures, on rows that no constant saw."""

import statistics
from itertools import combinations

import pytest

from tests.validation import folding

MEASURED = {job: [row for row in folding.rows(job) if row.mfu] for job in folding.JOBS}
PREDICTED = {row: folding.predicted(row)["mfu"] for job in folding.JOBS for row in MEASURED[job]}


@pytest.mark.parametrize("job", folding.JOBS)
def test_all_pairs_of_plans_are_ranked_as_measured(job):
    for one, other in combinations(MEASURED[job], 2):
        assert (one.mfu > other.mfu) == (PREDICTED[one] > PREDICTED[other]), (one, other)


def test_plans_in_three_dimensions_are_predicted_within_the_bar_of_mixtures():
    errors = [
        abs(row.mfu / PREDICTED[row] - 1)
        for rows in MEASURED.values()
        for row in rows
        if not row.sharded
    ]
    assert len(errors) == 11
    assert statistics.fmean(errors) <= 0.08


def test_full_sharding_of_mixtures_is_predicted_too_fast_by_an_eighth():
    errors = [
        row.mfu / PREDICTED[row] - 1 for rows in MEASURED.values() for row in rows if row.sharded
    ]
    assert len(errors) == 7
    assert statistics.fmean(errors) == pytest.approx(-1 / 8, abs=0.02)


def test_gathers_beside_an_exchange_between_nodes_wait_for_the_ports():
    # Three of the four plans have one: with the exchange as cover they were 27 to 34 % too fast.
    found = [
        row.mfu / PREDICTED[row] - 1
        for rows in MEASURED.values()
        for row in rows
        if row.way == "FSDP + EP"
    ]
    assert len(found) == 4
    assert min(found) > -0.22


def test_the_plan_that_ran_out_of_memory_does_not_fit():
    (row,) = (row for row in folding.rows("Llama 3 8x70B") if not row.mfu)
    assert not folding.predicted(row)["fits"]
