"""A calculator as a text to take away: every form says the same as the reply."""

import contextlib
import csv
import io
import json
import re

import pytest

from engine import __main__ as terminal
from engine.answer import reply, solving
from engine.calculator import load, names
from tests import lanes

KINDS = ("terminal", "python", "markdown", "csv", "json")


def taken(name: str, **values: str) -> dict[str, str]:
    request = {"calculator": name, "values": values, "only": [], "want": {"copy": [*KINDS]}}
    return reply(request)["extra"]["copy"]


@pytest.mark.parametrize("name", lanes.sampled([*names()], 4))
def test_every_calculator_can_be_taken_away(name):
    found = taken(name)
    views = load(name).compute(load(name).inputs(**load(name).defaults))
    numbers = {key for key, view in views.items() if hasattr(view, "receipt")}
    assert json.loads(found["json"])["results"].keys() == numbers
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    assert {row["name"] for row in rows if row["kind"] == "result"} == numbers
    assert found["markdown"].startswith(f"## {load(name).title}\n")


def test_the_command_gives_the_numbers_that_were_copied():
    found = taken("gradient_sync", world_size="16", port="1e10")
    command = found["terminal"].split()
    assert command[:4] == ["python", "-m", "engine", "gradient_sync"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert terminal.main([*command[3:], "--json"]) == 0
    told = json.loads(out.getvalue())["outputs"]
    copied = json.loads(found["json"])["results"]
    assert {name: told[name]["value"] for name in copied} == {
        name: one["value"] for name, one in copied.items()
    }


def test_the_program_solves_the_same_inputs(capsys):
    exec(taken("gradient_sync", world_size="16")["python"], {})
    found = json.loads(taken("gradient_sync", world_size="16")["json"])["results"]
    printed = re.search(r"all_reduce_time=([\d.e-]+)", capsys.readouterr().out)
    assert printed
    assert float(printed[1]) == pytest.approx(found["all_reduce_time"]["value"], rel=1e-11)


def test_an_unknown_kind_is_no_text():
    request = {"calculator": "gradient_sync", "want": {"copy": ["poem"]}}
    assert reply(request)["extra"]["copy"] == {"poem": ""}


def test_a_text_of_the_reader_is_in_nothing_that_is_taken_away():
    own = "global_step=7, RunningAvgSamplesPerSec=1.0, CurrSamplesPerSec=8.0, secret-path"
    for kind in ("terminal", "markdown", "csv", "json", "python"):
        assert "secret-path" not in taken("log_check", log=own)[kind]


def test_a_text_to_take_away_makes_no_figure_that_nobody_looked_at():
    solving.cache_clear()
    request = {"calculator": "trace_check", "only": ["step_time"], "want": {"copy": ["markdown"]}}
    found = reply(request)
    assert "| Step | 919 ms |" in found["extra"]["copy"]["markdown"]
    assert {"step_time", "verdict", "kernels"} <= set(found["outputs"])
    assert not {"timeline", "longest", "streams"} & set(found["outputs"])
