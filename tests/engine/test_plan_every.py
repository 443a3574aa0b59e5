"""`python -m engine plan --every`: all plans by several processes are those of one."""

import json

import pytest

from engine.plan_every import all_plans
from tests.engine.run.planner_jobs import JOBS
from tests.engine.test_plan_run import REQUEST, run


def test_several_processes_find_what_one_finds():
    job = JOBS["7b"]
    alone, together = all_plans(job, 5, 1), all_plans(job, 5, 3)
    assert together.survey == alone.survey
    assert (alone.workers, together.workers) == (1, 3)


@pytest.mark.left_to_all("the same counts are in the JSON, below")
def test_what_all_plans_are_is_told_behind_the_best(monkeypatch, capsys):
    assert run(REQUEST, monkeypatch, "--every", "--workers", "2") == 0
    *_, counted, shared = capsys.readouterr().out.splitlines()
    assert "plans divide" in counted
    assert "of them fit" in counted
    assert shared.endswith("by 2 processes.")


def test_the_counts_are_plain_data_too(monkeypatch, capsys):
    assert run(REQUEST, monkeypatch, "--json", "--every", "--workers", "1") == 0
    told = json.loads(capsys.readouterr().out)
    assert 0 < told["every"]["fit"] < told["every"]["plans"]
    assert told["every"]["processes"] == 1
    assert told["every"]["shortest_step"] <= told["plans"][0]["step_time"]


def test_without_the_option_nothing_is_counted(monkeypatch, capsys):
    assert run(REQUEST, monkeypatch, "--json") == 0
    assert "every" not in json.loads(capsys.readouterr().out)


def test_a_number_of_processes_that_makes_no_sense_is_refused(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(REQUEST, monkeypatch, "--workers", "-1")
    assert "--workers" in capsys.readouterr().err
