"""The page about MLPerf® Training: filters, groups, the picked row, the log and the naming."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.calculator import load, make
from engine.calculators.whole_runs.mlperf_runs.result import (
    BENCHMARKS,
    DIVISIONS,
    NETWORKS,
    compared,
    groups,
)
from engine.catalog.mlperf_log import EXAMPLE
from engine.core.numbers import DEFAULT
from engine.core.text import render_text
from engine.core.views import CalculatorLink, Table, WebLink, cell_text
from engine.draw.fragments import table_fragment
from tests.each import each

ROWS = compared()
GUIDE = Path(__file__).parents[4] / "content/guides/mlperf-explained.md"
LEGEND = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association "
    "in the United States and other countries. All rights reserved. Unauthorized use strictly "
    "prohibited. See www.mlcommons.org for more information."
)


def shown(**changes):
    calculator = load("mlperf_runs")
    return calculator.compute(make(calculator, changes))


def test_every_row_counts_once():
    assert shown()["rows"].value == len(ROWS) == len({row.row.key for row in ROWS})
    assert not any(row.row.duplicate_of for row in ROWS)


@each("division", DIVISIONS)
def test_the_groups_of_a_division_hold_every_row_once(division):
    parts = groups(ROWS, division)
    assert sum(len(part.rows) for part in parts) == len(ROWS)
    inside = sum(part.inside * len(part.rows) for part in parts)
    assert inside / len(ROWS) == pytest.approx(shown()["inside"].value)


@each("name", ["benchmark", "gpu", "network", "submitter", "tokens"])
def test_the_options_of_a_filter_share_all_rows(name):
    options = [key for key in load("mlperf_runs").fields[name].options if key != "all"]
    counts = [shown(**{name: key})["rows"].value for key in options]
    assert sum(counts) == len(ROWS)
    assert all(counts)


def test_the_largest_miss_comes_first():
    views = shown()
    most = max(ROWS, key=lambda row: abs(row.error))
    assert views["scatter"].points[0].y == most.error
    assert views["worst"].value == abs(most.error)
    assert views["table"].rows[0][0] == most.name


def test_each_row_is_a_dot_in_the_color_of_its_range():
    inside, outside = shown()["scatter"].series
    assert len(inside.x) + len(outside.x) == len(ROWS)
    assert len(inside.x) / len(ROWS) == pytest.approx(shown()["inside"].value)


@each("pick", [1, 40, len(ROWS)])
def test_the_parts_of_the_picked_step_add_up_and_stand_beside_its_tail(pick):
    views = shown(pick=pick)
    predicted, measured, *slow = views["picked_bars"].bars
    assert sum(part.value for part in predicted.segments) == pytest.approx(
        views["picked_step"].value, rel=1e-4
    )
    assert measured.segments[0].value == views["picked_measured"].value
    numbers = views["picked_verdict"].sentence.numbers
    assert bool(slow) == ("picked_jitter" in numbers)
    for bar in slow:
        tail = numbers["picked_jitter"][0] * views["picked_measured"].value
        assert bar.segments[0].value == pytest.approx(tail)


def test_a_filter_that_leaves_no_row_is_still_an_answer():
    views = shown(benchmark="gpt3", gpu="MI355X")
    assert views["picked_verdict"].text == "No row"
    assert views["rows"].value == 0
    assert views["run_file"].text == "{}"


def test_every_page_of_the_table_links_log_and_estimate():
    pages = round(load("mlperf_runs").fields["page"].high)
    rows = [row for page in range(1, pages + 1) for row in shown(page=page)["table"].rows]
    assert len(rows) == len(ROWS)
    assert all(isinstance(row[-2], WebLink) for row in rows)
    opened = [row[-1] for row in rows if isinstance(row[-1], CalculatorLink)]
    assert len(opened) == sum(bool(row.step.query) for row in ROWS)
    assert {link.page for link in opened} == {"guides/reproduce-published-runs"}


def test_a_link_to_the_web_is_one_on_the_page_and_its_text_elsewhere():
    cell = WebLink(text="log", address="https://example.org/a?b=1&c=2")
    view = Table(title="", columns=("run", "log"), rows=(("one", cell),))
    assert '<a href="https://example.org/a?b=1&amp;c=2">log</a>' in table_fragment(view, DEFAULT)
    assert cell_text(cell) == "log"


def test_no_row_ran_within_one_domain_and_between_two():
    for row in ROWS:
        domain = row.document["cluster"]["gpus_per_node"]
        assert (row.network == "one") == (row.row.world_size <= domain)
    assert {row.network for row in ROWS} == set(NETWORKS)
    assert {row.row.benchmark for row in ROWS} == set(BENCHMARKS)


def test_the_time_to_train_is_that_of_the_clock_and_its_receipt_adds_up():
    views = shown()
    assert views["to_train"].value == pytest.approx(views["clock"].value, rel=5e-3)
    total, *_ = (value for value, _ in views["to_train"].receipt.symbols.values())
    assert total == views["to_train"].value
    assert views["untimed"].value == EXAMPLE.start


# The guide.


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


def test_the_listing_prints_for_the_lines_of_the_page_what_the_page_says(tmp_path):
    (tmp_path / "steps.py").write_text(blocks("python")[0], encoding="utf-8")
    lines, printed = blocks("text")
    (tmp_path / "result_0.txt").write_text(lines, encoding="utf-8")
    command = printed.splitlines()[0].removeprefix("$ python ").split()
    ran = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == printed.splitlines()[1:]
    assert f"{EXAMPLE.run:.1f} s" in printed
    assert f"{EXAMPLE.start:.1f} s" in printed


def test_the_listing_reads_rates_and_evaluations_too(tmp_path):
    events = [
        ("init_start", None, 0, {}),
        ("global_batch_size", 32, 0, {}),
        ("run_start", None, 1000, {}),
        ("tracked_stats", {"throughput": 16.0}, 2000, {"step": 1}),
        ("tracked_stats", {"throughput": 32.0}, 3000, {"step": 2}),
        ("eval_start", None, 3000, {}),
        ("eval_stop", None, 3500, {}),
        ("run_stop", None, 4000, {}),
    ]
    lines = [
        f':::MLLOG {{"key": "{key}", "value": {str(value).replace("None", "null")}, '
        f'"time_ms": {time}, "metadata": {metadata}}}'.replace("'", '"')
        for key, value, time, metadata in events
    ]
    (tmp_path / "steps.py").write_text(blocks("python")[0], encoding="utf-8")
    (tmp_path / "log.txt").write_text("noise\n" + "\n".join(lines), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "steps.py", "log.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines() == [
        "median 1.0000 s, p99 1.0000 s, timings 1",
        "clock 3.0 s, of it evaluation 0.5 s",
        "before the clock 1.0 s",
    ]


def test_the_mark_stands_with_its_sign_and_its_legend():
    text = GUIDE.read_text("utf-8")
    assert LEGEND in text
    assert "Result not verified by MLCommons Association" in text
    assert "MLPerf" not in re.sub(r"MLPerf® Training", "", text.replace(LEGEND, ""))


def test_a_measured_step_is_told_as_unverified():
    views = shown()
    assert "unverified" in views["picked_measured"].label
    assert "unverified" in render_text(views["picked_verdict"].sentence)
    assert any("unverified" in column for column in views["table"].columns)


def test_the_jitter_of_every_row_whose_log_tells_it_is_a_dot():
    one, more = shown()["jitters"].series
    told = [row for row in ROWS if row.row.jitter]
    assert len(one.x) + len(more.x) == len(told)
    assert max(one.x) <= 72 < max(more.x)
    assert min(*one.y, *more.y) >= 1
