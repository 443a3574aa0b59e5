"""The output of the calibration script, read from whatever stands around it."""

import json
import random

import pytest

from engine.calculators.whole_runs.calibrate.result import SAMPLES
from engine.run.importers.import_report import TextError
from engine.run.logs.calibration import read_calibration
from engine.run.logs.cluster_text import read_cluster_text

CPU = SAMPLES["cpu"].text


def test_every_row_of_the_script_is_read():
    found, given = read_calibration(CPU), json.loads(CPU)
    parts = (found.products, found.attention, found.copies, found.collectives)
    names = ("products", "attention", "copies", "collectives")
    assert [len(part) for part in parts] == [len(given[name]) for name in names]
    assert (found.device, found.unread) == ("CPU", 0)


def test_lines_of_torchrun_may_stand_around_it():
    text = "W1122 torch/distributed: a warning {with braces}\n" + CPU + "done\n"
    assert read_calibration(text) == read_calibration(CPU)


def test_rows_that_are_no_measurement_are_counted_and_left_out():
    given = json.loads(CPU)
    given["products"] += [["bf16", 1, 2], ["bf16", 8, 8, 8, "fast"], ["bf16", 8, 8, 8, -1.0], 5]
    given["collectives"] += [["gossip", 8, 2, 1, 0.1], ["all_reduce", 8, 1, 2, 0.1]]
    found = read_calibration(json.dumps(given))
    assert found.unread == 6
    assert found.products == read_calibration(CPU).products


def test_a_cut_text_names_line_and_column():
    with pytest.raises(TextError, match=r"line 2, column \d+"):
        read_calibration("\n" + CPU[:200])


def test_another_version_is_refused():
    with pytest.raises(TextError, match="version 7; allowed: 1"):
        read_calibration(CPU.replace('"version": 1', '"version": 7'))


def test_a_text_without_a_measurement_says_what_is_read():
    with pytest.raises(TextError, match="a table of nccl-tests, steps of a training log"):
        read_cluster_text("hello")


def test_script_table_and_log_are_found_together():
    found = read_cluster_text(SAMPLES["published"].text + SAMPLES["log"].text)
    assert found.timings.products
    assert found.nccl.table.rows
    assert found.log.source == "Megatron-LM"


def test_numbers_of_the_script_are_no_rows_of_a_table():
    assert read_cluster_text(CPU).nccl is None


def test_mutated_texts_are_read_or_refused():
    chance = random.Random(5)
    texts = [sample.text for sample in SAMPLES.values()]
    refused = 0
    for _ in range(300):
        text = list(chance.choice(texts)[:6000])
        for _ in range(chance.randint(1, 12)):
            place = chance.randrange(len(text))
            text[place : place + chance.randint(0, 3)] = chance.choice(
                ["", "{", "]", "1e999", "-", "\0", "NaN", '"', "é", "\n"]
            )
        try:
            read_cluster_text("".join(text))
        except TextError:
            refused += 1
    assert 0 < refused < 300
