"""The table of a sweep, read again: as it is written, as others save it, and broken."""

import csv
import io

import pytest

from engine.core.units import DAY, HOUR
from engine.form.sweep_sample import TEXT
from engine.run.importers.import_report import TextError
from engine.run.sweep_grid import read_grid
from engine.run.sweep_table import MOST_ROWS, filter_jobs, pareto_front, read_sweep, sort_jobs
from engine.sweep_run import point_rows
from tests.engine.test_sweep import CLUSTER, GRID

GRID_OF_ONE = GRID | {"models": ["llama-2-7b"], "clusters": [CLUSTER], "sequence_lengths": [4096]}
(POINT,) = read_grid(GRID_OF_ONE)
ROWS = point_rows(POINT)


def text(found=ROWS, delimiter=",", **changed):
    told = [{**row, **changed} for row in found]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(told[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(told)
    return out.getvalue()


def test_a_point_is_the_same_in_whatever_order_its_grid_is_written():
    turned = {**GRID_OF_ONE, "clusters": [dict(reversed(CLUSTER.items()))]}
    (other,) = read_grid(dict(reversed(turned.items())))
    assert other.key == POINT.key


def test_the_sample_is_what_the_planner_answers():
    cluster = CLUSTER | {"name": "64 H100", "world_size": 64, "gpu": "H100-SXM"}
    cluster |= {"gpus_per_node": 8, "nics_per_node": 8, "nic_bandwidth": 50e9}
    grid = GRID | {"models": ["llama-3-8b"], "clusters": [cluster], "sequence_lengths": [8192]}
    grid |= {"prices": [2.0], "global_batch_tokens": 4194304, "tokens": 10**12, "kept_free": 0.05}
    ((today,),) = [point_rows(point) for point in read_grid(grid)]
    shown = next(csv.DictReader(io.StringIO(TEXT), delimiter="\t"))
    assert today["plan"] == shown["plan"]
    assert float(today["step_time"]) == pytest.approx(float(shown["step_time"]), rel=2e-3)


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_what_a_sweep_writes_is_read(delimiter):
    (one,) = read_sweep(text(delimiter=delimiter))
    row = ROWS[0]
    assert (one.model, one.cluster, one.plan) == (row["model"], row["cluster"], row["plan"])
    assert (one.step, one.low, one.high) == tuple(
        row[name] for name in ("step_time", "step_time_low", "step_time_high")
    )
    assert one.time == row["days"] * DAY
    assert one.costs == tuple((one["price"] / HOUR, one["cost"]) for one in ROWS)
    assert one.settings["pipeline_parallel"] == str(row["pipeline_parallel"])


def test_the_order_of_columns_and_further_ones_do_not_matter():
    turned = [dict(reversed(row.items())) | {"mine": "x"} for row in ROWS]
    (one,), (other,) = read_sweep(text()), read_sweep(text(turned))
    assert other.settings == {**one.settings, "mine": "x"}
    assert (other.plan, other.costs, other.step) == (one.plan, one.costs, one.step)


def test_a_quoted_cell_may_hold_marks_quotes_and_lines():
    (one,) = read_sweep(text(cluster='mine, "the\nold" one'))
    assert one.cluster == 'mine, "the\nold" one'


def test_a_job_that_nothing_holds_has_no_numbers():
    nothing = dict.fromkeys(("step_time", "days", "cost", "peak_memory"), "")
    (one,) = read_sweep(text(plan="", **nothing))
    assert (one.plan, one.step, one.cost, one.time) == ("", 0.0, 0.0, 0.0)


BROKEN = {
    "empty": ("\n\n", "line 1 has no column model"),
    "other": ("a,b\n1,2\n", "line 1 has no column model, cluster, gpu, world_size; allowed"),
    "bare": (text().partition("\n")[0], "the table has no row below"),
    "short": (text() + "1,2\n", "line 4 has 2 cells; the first line has 37"),
    "word": (text(days="soon"), "line 2, days: 'soon'; allowed: a number from 0"),
    "negative": (text(price=-1), "line 2, price: '-1'; allowed: a number from 0"),
    "infinite": (text(cost="inf"), "line 2, cost: 'inf'; allowed: a number from 0"),
    "part": (text(world_size=1.5), "line 2, world_size: '1.5'; allowed: a whole number from 1"),
    "open": (text() + '"x', "line 4: a quoted cell is never closed"),
    "long": (text(ROWS[:1] * (MOST_ROWS + 1)), "line 5002: more than 5,000 rows"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_table_of_a_sweep_is_said_with_its_line(name):
    broken, expected = BROKEN[name]
    with pytest.raises(TextError) as error:
        read_sweep(broken)
    assert str(error.value).startswith(expected)


def sample():
    return read_sweep(TEXT)


def test_the_sample_is_a_sweep_of_24_jobs_at_two_prices():
    found = sample()
    assert len(found) == 24
    assert {len(one.costs) for one in found} == {2}
    assert TEXT.splitlines()[0].split("\t") == list(ROWS[0])


def test_every_word_has_to_occur():
    assert len(filter_jobs(sample(), "70B a100")) == 2
    assert len(filter_jobs(sample(), "32768 half 8b")) == 1
    assert not filter_jobs(sample(), "gb300")
    assert len(filter_jobs(sample(), "")) == 24


def test_jobs_are_sorted_and_what_fits_not_comes_last():
    (lost,) = read_sweep(text(plan="", cluster="small"))
    by_cost = sort_jobs([lost, *sample()], "cost")
    costs = [one.cost for one in by_cost[:-1]]
    assert costs == sorted(costs)
    assert by_cost[-1] is lost
    assert sort_jobs([lost], "rate") == [lost]


def test_the_front_holds_what_nothing_beats_in_both():
    points = [(3.0, 1.0), (1.0, 4.0), (2.0, 4.0), (2.0, 2.0), (3.0, 3.0), (1.0, 5.0)]
    assert pareto_front(points) == [(1.0, 4.0), (2.0, 2.0), (3.0, 1.0)]
    assert pareto_front([]) == []
