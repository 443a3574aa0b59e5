"""The estimate of a run and the published runs: the same numbers on every way to them."""

import json
import math
import random
from dataclasses import fields, replace

import pytest

from engine.answer import reply
from engine.calculator import load, make
from engine.calculators.whole_runs.published_runs.read import (
    DIVISIONS,
    published,
    query_of,
    unseen_error,
)
from engine.calculators.whole_runs.published_runs.result import picked_run
from engine.catalog.nearest_runs import nearby_runs
from engine.catalog.published_runs import SOURCES
from engine.catalog.reported_runs import REPORTED
from engine.catalog.unseen_errors import CLASSES
from engine.core.numbers import DEFAULT
from engine.core.text import render_text
from engine.core.views import CalculatorLink, Table, cell_text
from engine.draw.fragments import table_fragment
from engine.estimate import estimate
from engine.form.run.accuracy import ACCURACY, LEFT_OUT
from engine.form.run.fitted_constants import CONSTANTS
from engine.form.run.form_values import fits_form
from engine.form.run.inputs import CUSTOM, Inputs
from engine.form.run.nearest_valid import nearest_inputs, nearest_run
from engine.form.run.unfitted_constants import ROWS
from engine.run.file import read_run
from engine.simulate.step import nearest_runs
from engine.simulate.step.published_runs import predictions
from engine.simulate.step.step_range import prediction_spread
from tests.each import each
from tests.validation import published as written
from tests.validation.any_run import any_document
from tests.validation.fit import names as fitted_names
from tests.validation.fit import prior, tabled
from tests.validation.nearby import nearby_text

RUN = Inputs()
CASES = [one.case for one in predictions()]
RUNS = published()
OPENED = tuple(row for row in RUNS if fits_form(row.case.run))
STALE = "run `python -m tests.validation.published`"


def shown(**changes):
    calculator = load("estimate_run")
    return calculator.compute(make(calculator, changes))


def listed(**changes):
    calculator = load("published_runs")
    return calculator.compute(make(calculator, changes))


def given(document):
    """The inputs of a run file."""
    flat = {**document, **document["cluster"], **document["parallelism"], **document["training"]}
    flat |= document["model"] if isinstance(document["model"], dict) else {}
    taken = {field.name: flat[field.name] for field in fields(Inputs) if field.name in flat}
    taken.setdefault("overlap_expert_parallel", flat.get("overlap_tensor_parallel", False))
    taken["zero_stage"] = str(taken["zero_stage"])
    taken["model"] = CUSTOM if isinstance(document["model"], dict) else document["model"]
    return Inputs(**taken)


def test_the_accuracy_is_that_of_the_engine():
    assert written.ACCURACY.read_text("utf-8") == written.accuracy_module(predictions()), STALE
    assert written.ERRORS.read_text("utf-8") == written.errors_module(CASES), STALE
    assert written.NEARBY.read_text("utf-8") == nearby_text(CASES), STALE
    assert written.UNSEEN_RUNS.read_text("utf-8") == written.unseen_text(), STALE


def test_the_constants_told_are_those_of_the_engine_and_lie_where_refits_put_them():
    at = tabled()
    told = {(owner, name): numbers for owner, name, *numbers in CONSTANTS}
    assert list(told) == list(fitted_names())
    for name, (value, before, low, high) in told.items():
        assert value == pytest.approx(at.value(name), rel=1e-3), STALE
        assert before == pytest.approx(prior(name)[0], rel=1e-3), STALE
        assert low <= high


def test_every_fitted_constant_stands_in_the_table_with_its_range():
    rows = listed()["constants_table"].rows
    assert len(rows) == len(CONSTANTS) == listed()["constants"].value
    assert all(" to " in render_text(cell_text(row[-1]), DEFAULT) for row in rows)


@each("pick", [1, 50, 300, len(RUNS)])
def test_a_picked_run_shows_its_measurement_beside_a_prediction_that_did_not_see_it(pick):
    views = listed(order="source", pick=pick)
    row, logs = RUNS[pick - 1], written.read_unseen()
    assert views["picked_measured"].value == row.measured
    seen = math.log(views["picked_step"].value / row.measured)
    assert seen == pytest.approx(logs[row.key][1], abs=1e-4)
    bar, _, measured = views["picked_bars"].bars
    inside = bar.low <= measured.segments[0].value <= bar.high
    assert views["picked_verdict"].text == ("Inside the range" if inside else "Outside the range")


def test_four_in_five_runs_lie_inside_their_range_when_picked():
    inside = [picked_run(row).inside for row in RUNS]
    assert 0.75 <= sum(inside) / len(inside) <= 0.90


def test_a_filter_that_leaves_no_run_leaves_none_to_pick():
    views = listed(kind="mixture", gpu="A100")
    assert views["picked_verdict"].text == "No run"
    assert views["picked_step"].value == views["picked_measured"].value == 0


def test_famous_runs_stand_in_brackets_beside_what_was_published():
    rows = listed()["reports"].rows
    assert [row[0] for row in rows] == list(REPORTED)
    names = " ".join(REPORTED)
    assert all(name in names for name in ("Llama 3", "DeepSeek-V3", "OLMo"))
    assert {row[5] for row in rows} <= {"inside", "outside"}


def test_the_errors_seen_are_those_of_the_engine():
    logs = written.read_unseen()
    for one in predictions():
        seen = math.log(one.time / one.case.time)
        assert logs[one.case.row["row_id"]][0] == pytest.approx(seen, abs=1e-4), STALE


def test_the_inputs_of_a_row_give_its_run():
    for row in OPENED:
        run, case = nearest_run(row.inputs)[0], row.case.run
        assert replace(run, model=replace(run.model, name="")) == replace(
            case, model=replace(case.model, name="")
        )


def test_the_estimate_of_every_row_is_its_prediction():
    estimates = [estimate(nearest_run(row.inputs)[0]) for row in OPENED]
    assert [found["step_time"] for found in estimates] == [row.predicted for row in OPENED]
    held = [
        (e["peak_memory"], r.memory[1]) for e, r in zip(estimates, OPENED, strict=True) if r.memory
    ]
    assert all(peak == predicted for peak, predicted in held)


def test_no_published_run_needs_a_repair():
    assert not [row.key for row in RUNS if nearest_inputs(row.inputs) != row.inputs]


@each("row", OPENED[:: len(OPENED) // 40], ids=lambda row: row.key)
def test_the_link_of_a_row_opens_its_estimate(row):
    pairs = (pair.split("=") for pair in query_of(row).split("&"))
    values = {name.removeprefix("estimate_run."): text for name, text in pairs}
    answered = reply({"calculator": "estimate_run", "values": values})
    assert answered["outputs"]["step_time"]["value"] == pytest.approx(row.predicted, rel=1e-4)


def test_every_input_of_every_row_is_within_its_range():
    declared = load("estimate_run").fields
    texts = {pair for row in RUNS for pair in query_of(row).split("&")}
    for pair in texts:
        name, _, text = pair.removeprefix("estimate_run.").partition("=")
        declared[name].read(text, typed=False)


# The estimate.


def test_the_parts_of_the_time_add_up_to_the_step():
    views = shown()
    parts = [bar.segments[0].value for bar in views["time_parts"].bars]
    assert math.fsum(parts) == pytest.approx(views["step_time"].value)


def test_the_parts_of_the_memory_add_up_to_the_peak():
    views = shown()
    parts = [segment.value for segment in views["memory_parts"].bars[0].segments]
    assert math.fsum(parts) == pytest.approx(views["peak_memory"].value)


def test_the_receipt_of_the_step_adds_up():
    views = shown(zero_stage="3", pipeline_parallel=1)
    total, *parts = (value for value, _ in views["step_time"].receipt.symbols.values())
    assert math.fsum(parts) == pytest.approx(total)


def test_the_defaults_are_possible():
    assert shown()["possible"].text == "Possible"


def test_a_batch_that_does_not_divide_is_rounded_and_said():
    views = shown(global_batch_size=131)
    assert views["possible"].text == "Changed"


def test_a_run_that_is_too_large_does_not_fit():
    views = shown(tensor_parallel=1, pipeline_parallel=1, context_parallel=1, zero_stage="0")
    assert views["fits"].text == "Does not fit"


def test_twice_the_gpus_at_the_same_batch_are_faster():
    assert shown(world_size=128)["step_time"].value < shown()["step_time"].value


@each("seed", range(40))
def test_a_possible_run_file_is_not_repaired(seed):
    inputs = given(any_document(random.Random(f"published {seed}")))
    assert nearest_inputs(inputs) == inputs


@each("seed", range(40))
def test_the_calculator_and_the_terminal_agree(seed):
    document = any_document(random.Random(f"published {seed}"))
    expected = estimate(read_run(document))["step_time"]
    assert load("estimate_run").compute(given(document))["step_time"].value == pytest.approx(
        expected
    )


@each("name", REPORTED)
def test_a_run_that_a_preset_is_named_after_fits_and_stands_beside_its_publication(name):
    views = shown(**REPORTED[name].settings)
    assert views["fits"].text in ("Fits", "Tight")
    # Llama's and DeepSeek's first and last stages hold fewer layers, as published.
    assert views["possible"].text in ("Possible", "Uneven")
    assert views["published"].rows[0][-1].keys == (REPORTED[name].source,)


def test_a_run_that_nobody_published_has_nothing_beside_it():
    preset = REPORTED["Llama 3 405B on 16,384 H100"].settings
    assert not shown(**preset | {"world_size": 8192})["published"].rows


@each(
    ("name", "key"),
    [
        ("Megatron, 2021: GPT 1T on 3,072 A100", "sc21-t1-1008.0"),
        ("torchtitan: Llama 3 8B, FSDP on 8 H100", "titan-02"),
    ],
)
def test_what_stands_beside_a_preset_is_its_row_of_the_table(name, key):
    row = next(row for row in RUNS if row.key == key)
    assert REPORTED[name].value == row.measured
    found = estimate(nearest_run(Inputs(**REPORTED[name].settings))[0])["step_time"]
    assert found == pytest.approx(row.predicted, rel=0.02)


def test_a_larger_run_than_any_of_the_fit_is_said_to_extrapolate():
    preset = REPORTED["Llama 3 405B on 16,384 H100"].settings
    assert "3,072 GPUs" in render_text(shown(**preset)["step_time"].note)
    assert "largest run" not in render_text(shown()["step_time"].note)


def test_a_gpu_without_a_fitted_run_is_said_to_be_assumed():
    assert "No run on Instinct MI300X was fitted" in render_text(
        shown(gpu="MI300X")["step_time"].note
    )


def test_the_range_that_is_told_is_that_of_the_class():
    found = prediction_spread(nearest_run(RUN)[0])
    numbers = shown()["step_time"].note.numbers
    assert found.name == "dense models in 16 bits with Megatron on H100"
    assert numbers["runs"][0] == found.runs == CLASSES[found.name][0]
    assert (1 - numbers["less"][0], 1 + numbers["more"][0]) == (found.low, found.high)


def test_a_run_that_was_published_is_the_one_measured_nearest():
    told = render_text(shown()["step_time"].receipt.assumptions[1])
    assert told.startswith("Measured nearby: Llama 3.1 70B on 64 H100")
    assert "TP4 PP4 CP2" in told


def test_the_runs_nearest_to_one_job_are_found_once(monkeypatch):
    asked, real = [], nearest_runs._distance
    monkeypatch.setattr(
        nearest_runs, "_distance", lambda *given: asked.append(given[1]) or real(*given)
    )
    nearest_runs._nearest_per_model.cache_clear()
    run, _ = nearest_run(RUN)
    first = nearest_runs.nearest_published_runs(run)
    assert len(asked) == len(nearby_runs())
    assert nearest_runs.nearest_published_runs(nearest_run(RUN)[0], 1) == first[:1]
    assert len(asked) == len(nearby_runs())


def test_every_source_left_out_is_worse_than_seen():
    for kind in ("dense", "mixture"):
        _, _, rows, mean, *_ = next(row for row in LEFT_OUT if row[:2] == ("all", kind))
        assert rows == ACCURACY[kind][0]
        assert mean > ACCURACY[kind][1]


# The published runs.


def test_all_runs_are_counted():
    assert listed()["rows"].value == len(RUNS) >= 653


@each("kind", ["dense", "mixture"])
def test_the_error_of_a_kind_is_that_of_the_error_band(kind):
    assert listed(kind=kind)["mean"].value == pytest.approx(ACCURACY[kind][1], abs=1e-4)


def test_the_error_of_the_memory_is_that_of_the_error_band():
    assert listed()["memory_mean"].value == pytest.approx(ACCURACY["memory"][1], abs=3e-4)


def test_every_group_together_has_all_runs():
    counts = [row[1].numbers["n"][0] for row in listed(group="gpus")["groups"].rows]
    assert sum(counts) == len(RUNS)


def test_the_whole_list_is_reachable_page_by_page():
    pages = round(load("published_runs").fields["page"].high)
    rows = [row for page in range(1, pages + 1) for row in listed(page=page)["runs"].rows]
    assert len(rows) == len(RUNS)


def test_a_page_behind_the_last_is_the_last():
    assert listed(source="4", page=29)["runs"] == listed(source="4", page=1)["runs"]


def test_the_worst_run_comes_first():
    views = listed()
    assert views["worst"].note.startswith(str(views["runs"].rows[0][0]).partition(",")[0])


def test_the_shares_of_a_column_add_up():
    columns = zip(*listed()["gpu_residuals"].values, strict=True)
    sums = [math.fsum(value for value in column if math.isfinite(value)) for column in columns]
    assert sums == pytest.approx([1.0] * len(sums))


def test_no_run_left_is_no_number():
    views = listed(gpus_from=4096, gpus_to=4096)
    assert math.isnan(views["mean"].value)


def test_no_run_left_is_still_an_answer():
    answered = reply({"calculator": "published_runs", "values": {"gpus_from": "4096"}})
    assert json.dumps(answered, allow_nan=False)


def test_every_source_has_a_run():
    assert {row.source for row in RUNS} == set(range(len(SOURCES)))


def test_a_cell_opens_a_calculator_with_the_inputs_of_its_row():
    cell = CalculatorLink("open", "estimate_run", "estimate_run.model=custom&estimate_run.gpu=B200")
    view = Table(title="", columns=("run",), rows=(("one", cell),))
    href = "?estimate_run.model=custom&amp;estimate_run.gpu=B200#estimate_run"
    assert f'<td><a href="{href}">open</a></td>' in table_fragment(view, DEFAULT)


def test_a_cell_that_opens_something_is_its_text_elsewhere():
    assert cell_text(CalculatorLink("open", "estimate_run", "estimate_run.gpu=B200")) == "open"


# What the fit had not seen.


@each("division", DIVISIONS)
def test_the_classes_hold_every_run_once(division):
    rows = listed(division=division)["by_class"].rows
    shown = [render_text(cell_text(row[1]), DEFAULT) for row in rows if row[0].endswith(", all")]
    assert sum(map(int, shown)) == len(RUNS)
    each_class = [
        render_text(cell_text(row[1]), DEFAULT) for row in rows if not row[0].endswith(", all")
    ]
    assert sum(map(int, each_class)) == len(RUNS)


def test_a_class_has_the_mean_error_of_its_runs():
    rows = listed()["by_class"].rows
    dense = [row for row in RUNS if row.kind == "dense" and row.family == "H100"]
    mean = sum(abs(unseen_error(row)) for row in dense) / len(dense)
    told = next(row for row in rows if row[0] == "dense, H100")
    assert render_text(cell_text(told[2]), DEFAULT) == f"{mean * 100:.1f} %"


def test_every_constant_that_is_not_fitted_stands_in_the_table():
    assert len(listed(constants_of="others")["constants_table"].rows) == len(ROWS)
