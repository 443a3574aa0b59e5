"""Runs left out of a fit, and the ranking of plans."""

import math
from dataclasses import replace

import pytest

from tests.validation.fit import fit, lines, ratio, tabled
from tests.validation.order import group
from tests.validation.published import DATA
from tests.validation.rows import cases
from tests.validation.unseen import model_of, source_of, without

RUNS = cases(DATA)[0]
HELD = "korthikanti_2022_table5.csv"


def test_leaving_a_source_out_comes_near_to_a_full_fit_without_it():
    few = [case for case in RUNS if case.row["source_file"].startswith(("kort", "nemo", "fms"))]
    start = tabled()
    errors = without(source_of, few, lines(few, start))
    full = fit([case for case in few if source_of(case) != HELD and case.trusted], start)
    for case in few:
        if source_of(case) == HELD:
            assert errors[case.row["row_id"]] == pytest.approx(ratio(case, full), abs=0.02)


def test_one_model_has_one_name_in_all_sources():
    found = {model_of(case) for case in RUNS if "70" in case.row["model"]}
    assert found == {"llama 3 70b", "llama 2 70b", "mpt 70b"}


def timed(*times):
    return [replace(RUNS[0], time=time) for time in times]


def test_plans_ranked_as_measured_have_a_tau_of_one_and_no_regret():
    one = group("job", timed(1.0, 1.1, 1.2), lambda case: 2 * case.time)
    assert (one.tau, one.pairs, one.regret) == (1.0, 3, 0.0)


def test_plans_ranked_the_other_way_round_cost_the_whole_difference():
    one = group("job", timed(1.0, 1.1, 1.2), lambda case: -math.expm1(-1 / case.time))
    assert one.tau == -1.0
    assert one.regret == pytest.approx(0.2)


def test_plans_less_than_two_percent_apart_are_not_compared():
    assert group("job", timed(1.0, 1.01, 1.2), lambda case: case.time).pairs == 2
