"""Every published run is a run file that a reader can write, with the step time of its row."""

import json

import pytest

from engine.catalog.models import MODELS
from engine.catalog.planned_runs import plan_ranks
from engine.catalog.published_runs import SOURCES, published_rows, read_rows
from engine.catalog.unseen_runs import unseen_log_pairs, unseen_logs
from engine.estimate import estimate
from engine.run.document import read_document
from engine.run.file import read_run
from engine.run.model_keys import model_keys
from engine.run.published import read_published_runs
from engine.simulate.step.step_time import step_time
from tests.each import each
from tests.validation.published import DATA
from tests.validation.rows import cases

RUNS = cases(DATA)[0]


def test_the_file_of_every_published_run_is_the_run():
    for case in RUNS:
        written = json.loads(json.dumps(case.document))
        assert read_run(written) == case.run, case.row["row_id"]


def test_the_terminal_says_the_step_time_of_a_row():
    for case in RUNS[::40]:
        run, said = case.run, estimate(read_run(json.loads(json.dumps(case.document))))
        step = step_time(run.model, run.cluster, run.plan, run.training)
        assert said["step_time"] == step.total


def test_settings_of_recipes_stand_in_the_files():
    said = [case.document["training"] for case in RUNS]
    for key in (
        *("overlap_expert_parallel", "cuda_graphs", "fused_experts", "eager_loss"),
        *("keeps_quantized_products", "fused_norms", "exchange"),
    ):
        assert any(training.get(key, "auto") not in (False, "auto") for training in said), key


def test_the_keys_of_a_model_are_the_model():
    job = RUNS[0].document
    for name, model in MODELS.items():
        written = read_document({**job, "model": model_keys(model)}).model
        read = [key for key in model_keys(model) if getattr(written, key) != getattr(model, key)]
        assert not read, name


def changed_row(**columns):
    (row,) = (row for row in published_rows() if row["row_id"] == "sc21-t1-1.7")
    return {**row, "row_id": "new", **columns}


@each(
    ("columns", "said"),
    [
        ({"row_id": "sc21-t1-1.7b"}, "row 'sc21-t1-1.7b': '1.7b' is missing where engine/run/pub"),
        ({"source_file": "mine.csv"}, "row 'new': source_file 'mine.csv' has no entry in SETTINGS"),
        ({"source_file": "torchtitan.csv", "gpu": "TPU"}, "row 'new': gpu 'TPU' begins with no"),
        ({"source_file": "torchtitan.csv", "seq_len": ""}, "row 'new': sequence_length: 0; allow"),
        ({"source_file": "torchtitan.csv", "step_time_s": "fast"}, "row 'new': could not convert"),
        ({"source_file": "torchtitan.csv", "tp": "1.5"}, "row 'new': '1.5' is no whole number"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_with_its_line(columns, said):
    rows = [*published_rows(), changed_row(**columns)]
    with pytest.raises(ValueError, match="published_table") as caught:
        read_published_runs(rows)
    place = f"engine/catalog/published_table.tsv:{len(rows) + 1}: "
    assert str(caught.value).startswith(place + said)


def test_a_source_with_settings_and_without_a_name_is_told(monkeypatch):
    # A copy: an item that is put back stands last, and a link names a source by its place.
    others = {name: of for name, of in SOURCES.items() if name != "torchtitan.csv"}
    monkeypatch.setattr("engine.run.published.SOURCES", others)
    row = changed_row(source_file="torchtitan.csv", mbs="1")
    with pytest.raises(ValueError, match=r"'torchtitan.csv' has no names in SOURCES of"):
        read_published_runs([row])


@each(
    ("line", "said"),
    [
        ("c\t1", r"tsv:4: row 'c' has 2 columns, parted by tabs; the first line names 3"),
        ("a\t1\t2", r"tsv:4: row 'a' stands on line 2, too"),
    ],
)
def test_a_row_that_is_no_row_of_the_table_is_named_with_its_line(line, said):
    with pytest.raises(ValueError, match=said):
        read_rows(f"row_id\tx\ty\na\t1\t2\nb\t3\t4\n{line}\n")


def test_a_row_of_a_known_source_is_a_run_with_nothing_else_to_touch():
    row = changed_row(source_file="torchtitan.csv", mbs="1", tp="1", pp="1")
    runs, _ = read_published_runs([row])
    assert runs[0].time == float(row["step_time_s"])


@each(
    ("rows", "program"),
    [(unseen_logs, "published"), (unseen_log_pairs, "published"), (plan_ranks, "ranks")],
)
def test_a_row_without_what_is_derived_from_it_names_the_program(rows, program):
    with pytest.raises(LookupError, match=rf"row 'new' .* python -m tests\.validation\.{program}"):
        rows()["new"]
