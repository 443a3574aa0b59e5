"""The ledger of forecasts: rows are frozen, and each says what it needs to be scored."""

import json
from datetime import date

import pytest

from engine.catalog.forecasts import forecasts, scores
from engine.run.file import read_run
from tests.validation import forecasts as forecasts_cli
from tests.validation.forecasts import LEDGER, chain_problems, new_line, row_hash

TEXT = LEDGER.read_text("utf-8")
# Rows -> hash of the last of them. A ledger that was written again from the start has another.
# What is here stays; a line is added when rows are.
ANCHORS: dict[int, str] = {
    11: "5c5cb3e07bb8828e213f72a09da23279e0f19a65cd931c1dc21364fcb882a578",
}
RUN = json.dumps(
    {
        "model": "llama-3-8b",
        "sequence_length": 8192,
        "cluster": {
            "gpu": "H100-SXM",
            "gpus_per_node": 8,
            "nics_per_node": 8,
            "nic_bandwidth": 50e9,
        },
        "parallelism": {"world_size": 8},
        "training": {"micro_batch_size": 1, "global_batch_size": 8, "precision": "bf16"},
    }
)
ENGINE = ("2026-11-29", "0.1.0", "0" * 40)


def ledger(*names):
    text = TEXT.splitlines()[0] + "\n"
    for name in names:
        text += new_line(text, RUN, (name, "a run", "a measurement"), ENGINE)
    return text


def test_every_row_is_as_it_was_written():
    assert chain_problems(TEXT) == []


def test_the_rows_are_those_that_were_published():
    hashes = [row.sha256 for row in forecasts()]
    assert {count: hashes[count - 1] for count in ANCHORS} == ANCHORS
    assert len(hashes) >= 8


def test_a_changed_number_is_noticed():
    text = ledger("one", "two", "three")
    step = text.splitlines()[2].split("\t")[7]
    assert chain_problems(text) == []
    assert chain_problems(text.replace(f"two\t{ENGINE[0]}", "two\t2026-11-30")) == [
        "two: was changed after it was written"
    ]
    assert chain_problems(text.replace(step, "9.99"))


def test_a_row_that_is_hashed_again_does_not_fit_the_row_behind_it():
    head, one, two, three = ledger("one", "two", "three").splitlines()
    fields = [*two.split("\t")[:-1]]
    fields[7] = "9.99"
    forged = "\n".join((head, one, "\t".join((*fields, row_hash(fields))), three))
    assert chain_problems(forged) == ["three: does not follow the row before it"]


def test_a_row_that_is_left_out_is_noticed():
    head, one, _, three = ledger("one", "two", "three").splitlines()
    assert chain_problems("\n".join((head, one, three)))


def test_a_name_is_used_once():
    with pytest.raises(ValueError, match="never changed"):
        new_line(ledger("one"), RUN, ("one", "a run", "a measurement"), ENGINE)


def test_a_row_has_what_the_estimate_says_on_its_day():
    name, *_, low, step, high, run, after, _ = ledger("one").splitlines()[1].split("\t")
    assert (name, after) == ("one", "")
    assert float(low) < float(step) < float(high)
    assert read_run(json.loads(run)).plan.world_size == 8


@pytest.mark.parametrize("row", forecasts(), ids=lambda row: row.name)
def test_a_row_says_what_will_score_it(row):
    assert date.fromisoformat(row.date) >= date(2026, 11, 29)
    assert len(row.commit) == 40
    assert row.low <= row.step <= row.high
    assert row.what
    assert "First" in row.counts or "first" in row.counts
    assert json.loads(row.run)["training"]["global_batch_size"]


def test_a_score_is_younger_than_its_forecast():
    rows = {row.name: row for row in forecasts()}
    for score in scores().values():
        assert date.fromisoformat(score.date) > date.fromisoformat(rows[score.name].date)
        assert score.measured > 0
        assert score.source.startswith("https://")
    assert set(scores()) <= set(rows)


def test_a_score_needs_a_forecast_without_one():
    with pytest.raises(ValueError, match="no forecast"):
        forecasts_cli.score("nothing", 1.0, "2027-01-01", "https://example.org")
