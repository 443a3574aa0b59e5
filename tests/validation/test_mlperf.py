"""The rows of MLPerf® Training: what the tables say is what logs, run files and the model say."""

import json
import math
import re
from urllib.parse import parse_qsl

import pytest

from engine.answer import reply
from engine.catalog.mlperf_log import EXAMPLE
from engine.catalog.mlperf_runs import SEEN, mlperf_runs
from engine.catalog.mlperf_steps import mlperf_steps
from engine.run.document import read_document
from engine.simulate.step.step_range import sizes_beyond_fit
from tests.each import each
from tests.validation import mlperf
from tests.validation.audited import audited_runs

ROWS = mlperf_runs()
BY_KEY = {row.key: row for row in ROWS}
STEPS = mlperf_steps()
OPENED = tuple(step for step in STEPS.values() if step.query)


def run_of(row):
    return read_document(json.loads(row.run_file))


def test_the_predicted_steps_are_those_of_the_model():
    message = "run `python -m tests.validation.mlperf`"
    assert mlperf.TARGET.read_text(encoding="utf-8") == mlperf.text(), message


def test_every_row_with_a_run_file_has_a_predicted_step_and_no_other():
    assert list(STEPS) == [row.key for row in ROWS if row.run_file]
    assert all(row.note for row in ROWS if not row.run_file)


def test_the_parts_of_a_predicted_step_add_up_to_it():
    for step in STEPS.values():
        assert math.fsum(step.terms) == pytest.approx(step.predicted, rel=1e-4)
        assert step.low < step.high


def test_a_run_file_is_of_the_gpus_that_the_row_names():
    for row in ROWS:
        if row.run_file:
            run = run_of(row)
            assert run.plan.world_size == row.world_size
            assert row.step > 0
            assert ("lora" in row.benchmark) == (run.training.lora_rank > 0)


def test_the_log_of_a_row_is_named_with_its_commit():
    for row in ROWS:
        assert re.fullmatch(r"[0-9a-f]{40}", row.commit)
        assert row.log.startswith(f"{row.submitter}/results/")
        assert row.repository.endswith(f"/training_results_{row.version}")
        assert row.commit in row.log_address


def test_a_log_that_was_submitted_again_has_the_step_of_the_first():
    again = [row for row in ROWS if row.duplicate_of]
    assert again
    assert all(BY_KEY[row.duplicate_of].step == row.step for row in again)


def test_the_rows_that_a_constant_has_seen_are_marked():
    assert set(BY_KEY) >= SEEN
    assert {step.key for step in STEPS.values() if step.seen} == SEEN


def test_the_rows_that_a_range_was_calibrated_on_are_marked():
    marked = {step.key for step in STEPS.values() if step.calibrates}
    used = {case.row["row_id"] for case in audited_runs() if not any(sizes_beyond_fit(case.run))}
    assert marked == used
    assert not marked & SEEN


def test_a_tail_is_not_below_its_median():
    assert all(row.step_p99 >= row.step for row in ROWS if row.step_p99)


@each("step", OPENED[:: len(OPENED) // 25], ids=lambda step: step.key)
def test_the_link_of_a_row_opens_its_estimate(step):
    values = {name.removeprefix("estimate_run."): text for name, text in parse_qsl(step.query)}
    answered = reply({"calculator": "estimate_run", "values": values})
    shown = answered["outputs"]["step_time"]["value"]
    assert shown == pytest.approx(step.predicted, rel=1e-4)


def test_a_run_that_trains_adapters_opens_with_them():
    lora = next(step for step in OPENED if "lora" in step.key)
    assert "estimate_run.lora_rank=16" in lora.query


def test_the_steps_and_evaluations_of_the_example_make_its_time_to_train():
    row = BY_KEY[EXAMPLE.key]
    batch = run_of(row).training.global_batch_size
    assert EXAMPLE.samples == batch * EXAMPLE.steps
    assert EXAMPLE.run == pytest.approx(row.time_to_train, rel=1e-3)
    made = EXAMPLE.steps * row.step + EXAMPLE.evaluations * EXAMPLE.evaluation
    assert made == pytest.approx(EXAMPLE.run, rel=5e-3)
