from dataclasses import replace

import pytest

from engine.calculator import load
from engine.form.what_if.changes import LEVERS
from engine.form.what_if.inputs import PRESETS, Inputs, run_and_changes
from engine.form.what_if.views import what_if_job
from engine.formulas.amdahl import amdahl
from engine.simulate.step.step_time import step_time
from engine.simulate.step.what_if import hidden_communication
from tests.validation import gains

DEFAULT = what_if_job(Inputs())


def gain(found, key):
    return next(one for one in found.gains if one.lever.key == key)


def test_a_lever_has_one_key():
    assert len({lever.key for lever in LEVERS}) == len(LEVERS)


@pytest.mark.parametrize("lever", LEVERS, ids=lambda lever: lever.key)
def test_a_lever_says_what_it_costs(lever):
    assert lever.side.endswith(".")


@pytest.mark.parametrize("lever", LEVERS, ids=lambda lever: lever.key)
def test_a_lever_has_one_way_to_be_computed(lever):
    assert [lever.change, lever.machine, lever.removed].count(None) == 2


def test_every_lever_is_a_gain_or_does_not_apply():
    assert len(DEFAULT.gains) + len(DEFAULT.unfit) + len(DEFAULT.idle) == len(LEVERS)


def test_a_setting_gains_what_the_cost_model_says():
    run, _ = run_and_changes(replace(Inputs(), recompute="selective"))
    after = step_time(run.model, run.cluster, run.plan, run.training).total
    assert gain(DEFAULT, "recompute").gain == pytest.approx(DEFAULT.step.total / after)


def test_a_kernel_2_6_times_as_fast_gives_three_percent_of_five_exposed():
    assert amdahl(0.05, 2.6) == pytest.approx(1.0317, abs=5e-5)


def test_a_kernel_2_6_times_as_fast_gives_ten_percent_of_fifteen_exposed():
    assert amdahl(0.15, 2.6) == pytest.approx(1.1017, abs=5e-5)


def test_faster_kernels_do_not_help_a_wire_between_nodes():
    found = what_if_job(
        replace(Inputs(), **PRESETS["The network first: ZeRO-3 on one 100 Gb/s port a node"])
    )
    assert gain(found, "kernels").gain == 1.0


@pytest.mark.parametrize("name", [name for name in PRESETS if name.startswith("The network first")])
def test_there_are_jobs_in_which_the_network_comes_first(name):
    found = what_if_job(replace(Inputs(), **PRESETS[name]))
    assert next(one for one in found.gains if one.fit.runs).lever.key == "ports"


def test_there_are_jobs_in_which_the_network_gives_nothing():
    found = what_if_job(replace(Inputs(), **PRESETS["The network last: 8B on one node"]))
    assert gain(found, "ports").gain == 1.0


def test_contention_gains_no_more_than_the_time_that_is_hidden():
    worst = what_if_job(replace(Inputs(), contention=0.4))
    most = hidden_communication(worst.run, worst.step)
    assert worst.step.total - gain(worst, "contention").step <= most


def test_no_lever_of_waiting_takes_away_more_than_the_step():
    assert all(one.step > 0 for one in DEFAULT.gains)


def test_what_is_exposed_is_part_of_the_step():
    assert 0 < DEFAULT.step.exposed < DEFAULT.step.total


def test_the_error_of_gains_is_the_one_of_the_published_pairs():
    assert gains.TARGET.read_text("utf-8") == gains.text()


CROWDED = replace(Inputs(), world_size=8, pipeline_parallel=1, recompute="full")


def test_a_job_that_does_not_fit_says_so_first():
    shown = load("levers").compute(CROWDED)["first"]
    assert shown.text == "Does not fit"


def test_a_job_that_does_not_fit_gains_nothing():
    assert what_if_job(CROWDED).gains == ()


def test_a_job_that_does_not_fit_gets_no_advice():
    assert load("levers").compute(CROWDED)["advice"].remedies == ()


def test_a_lever_that_does_not_fit_has_no_speed():
    found = what_if_job(replace(Inputs(), **PRESETS["The network last: 8B on one node"]))
    rows = (
        load("levers")
        .compute(replace(Inputs(), **PRESETS["The network last: 8B on one node"]))["levers"]
        .rows
    )
    unfit = {gain.lever.label for gain in found.unfit}
    assert unfit
    assert {row[2] for row in rows if row[0] in unfit} <= {"does not fit", "tight"}
