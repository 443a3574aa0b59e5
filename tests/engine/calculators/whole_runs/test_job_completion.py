"""The calculators of a job's completion: its forecast, its lives, and the job in slots."""

from dataclasses import replace

import pytest

from engine.calculator import load
from engine.core.units import HOUR
from engine.form.forecast_jobs import JOBS
from engine.formulas.goodput import goodput

run_forecast, failure_lives, slot_run = (
    load(name) for name in ("run_forecast", "failure_lives", "slot_run")
)


def views(calculator, **changes):
    return calculator.compute(replace(calculator.inputs(), **changes))


def test_money_energy_and_hours_are_of_the_same_run():
    found = views(run_forecast)
    hours = found["gpu_hours"].value / HOUR
    assert hours == pytest.approx(1024 * found["wall_time"].value / HOUR)
    assert found["cost"].value == pytest.approx(2 * hours)
    assert found["energy"].value == pytest.approx(700 * 1.1 * hours * HOUR)


def test_the_waterfall_ends_with_the_run_and_its_range():
    found = views(run_forecast)
    *_, restarts, run = found["waterfall"].bars
    wall = found["wall_time"].value
    assert sum(one.value for one in restarts.segments) == pytest.approx(wall)
    assert run.low < wall < run.high


@pytest.mark.parametrize("key", ["405b", "deepseek-v3", "gpt-1t"])
def test_a_published_job_stands_beside_its_forecast(key):
    found = views(run_forecast, job=key, tokens=JOBS[key].tokens)
    assert len(found["beside"].rows) == 1
    assert not views(run_forecast, job=key, tokens=1e12)["beside"].rows


def test_each_formula_leaves_out_less_than_the_one_before():
    result = run_forecast.compute(run_forecast.inputs())
    shares = [row[2].numbers["s"][0] for row in result["versions"].rows]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_a_batch_too_small_for_its_gpus_is_said():
    assert views(run_forecast, job="7b", more=8.0)["verdict"].text == "Ideal over real"
    assert views(run_forecast, job="7b", more=16.0)["verdict"].text == "The batch is too small"


def test_saving_at_dalys_interval_gains_what_is_said():
    found = views(failure_lives)
    better = views(failure_lives, interval=found["daly"].value)
    assert better["goodput"].value == pytest.approx(found["best"].value)
    assert better["wall"].value < found["wall"].value


def test_long_lives_lie_on_dalys_curve():
    series = {one.key: one for one in views(failure_lives)["saving"].series}
    rest = views(failure_lives, seed=2)["saving"].series[2]
    for tried in (series["tried"], rest):
        for x, y in zip(tried.x, tried.y, strict=True):
            assert y == pytest.approx(goodput(x, 60.0, 600.0, 50_677 * HOUR / 16_384), abs=0.05)


def test_llama_3s_effective_time_needs_short_checkpoints_and_restarts():
    # More than 90 % is not reached with a minute and ten minutes; 10 s and 5 min do.
    required = views(failure_lives)["required"]
    cell = {
        (x, y): required.values[row][column]
        for row, y in enumerate(required.y)
        for column, x in enumerate(required.x)
    }
    assert cell["1 min", "10 min"] < 0.9 < cell["10 s", "5 min"]


def test_the_board_adds_up():
    found = views(slot_run)
    parts = ("checkpoints", "lost", "restarts")
    done = int(found["board"].frames[-1].shapes[0].text.split()[0])
    assert done == 60
    assert found["total"].value == 60 + sum(found[name].value for name in parts)


def test_the_best_interval_is_near_youngs():
    found = views(slot_run)
    assert abs(found["best"].value - found["young"].value) < 1
