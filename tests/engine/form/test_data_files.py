"""The data files that the site publishes."""

import csv
import io
import json

import pytest

from engine.catalog.mlperf_runs import mlperf_runs
from engine.catalog.published_runs import published_rows
from engine.catalog.reported_hours import WHOLE_RUNS
from engine.form.data_files import COMPUTED, HOURS, MLPERF, TABLE, data_files

FILES = data_files()
RUNS = list(csv.DictReader(io.StringIO(FILES["validation.csv"])))


def test_every_published_run_is_in_the_data():
    assert [row["row_id"] for row in RUNS] == [row["row_id"] for row in published_rows()]
    assert tuple(RUNS[0]) == (*TABLE, *COMPUTED)
    assert tuple(published_rows()[0]) == tuple(TABLE)


def test_the_error_of_a_run_is_its_prediction_over_its_measurement():
    for row in RUNS:
        if row["predicted_s"] and row["step_time_s"]:
            ratio = float(row["predicted_s"]) / float(row["step_time_s"])
            assert float(row["error"]) == pytest.approx(ratio - 1, abs=2e-3)


def test_most_runs_have_a_prediction():
    assert sum(bool(row["predicted_s"]) for row in RUNS) > 0.9 * len(RUNS)


def test_every_row_of_mlperf_names_its_log():
    rows = list(csv.DictReader(io.StringIO(FILES["validation.mlperf.csv"])))
    assert [row["row"] for row in rows] == [run.key for run in mlperf_runs()]
    assert tuple(rows[0]) == tuple(MLPERF)
    assert all(row["log"].startswith("https://github.com/") for row in rows)
    assert all(row["predicted_s"] for row in rows if row["run_file"])


def test_every_whole_run_is_in_the_data():
    rows = list(csv.DictReader(io.StringIO(FILES["whole-runs.csv"])))
    assert [row["run"] for row in rows] == [run.name for run in WHOLE_RUNS]
    assert tuple(rows[0]) == tuple(HOURS)
    assert all(json.loads(row["settings"]) for row in rows)


def test_the_description_has_the_license_and_every_column():
    package = json.loads(FILES["validation.datapackage.json"])
    assert package["licenses"][0]["name"] == "CC-BY-4.0"
    for resource in package["resources"]:
        head = FILES[resource["path"]].splitlines()[0].split(",")
        assert [field["name"] for field in resource["schema"]["fields"]] == head
