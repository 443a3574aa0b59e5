"""The estimate's form: what is in sight, and the headings of the rest."""

import pytest

from engine.calculator import load


@pytest.mark.parametrize("name", ["estimate_run", "job_planner"])
def test_every_folded_input_has_one_heading(name):
    form = load(name)
    folded = [key for key, field in form.fields.items() if field.advanced]
    grouped = [key for names in form.groups.values() for key in names]
    assert sorted(grouped) == sorted(folded)


def test_ten_inputs_of_the_estimate_are_seen_at_once():
    assert sum(not field.advanced for field in load("estimate_run").fields.values()) == 10
