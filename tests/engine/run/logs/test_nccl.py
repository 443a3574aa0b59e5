"""Tables and lines of NCCL in many forms, whole and damaged."""

import contextlib
import math
import random
import time

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.nccl import LONGEST_NCCL, read_nccl
from engine.run.logs.nccl_debug import read_nccl_debug
from engine.run.logs.nccl_tests import read_nccl_tests
from tests.each import each
from tests.engine.run.logs import nccl_texts as texts

ODD = (
    "<script>alert(1)</script>", "\x00", "9" * 400, "-1", "nan", "inf", "1e999", ",,,,", ";;;;",
    "....", "\x1b[31m", "[0]", "| |", "\n", "\n\n\n", " Bytes -> ", "Algo 9 proto 9 time ", "²",
    " " * 700, "float", "\u202f", "{Lo..Hi}={9..0}", "NCCL WARN {x} %s", "Rank ", "\ud83d\ude00",
)  # fmt: skip


@each("name", list(texts.TABLES))
def test_rows_of_every_form(name):
    text, size, microseconds, gigabytes = texts.TABLES[name]
    found = read_nccl_tests(text)
    assert found.rows[0].size == size
    assert found.rows[0].time == pytest.approx(microseconds * 1e-6)
    assert found.rows[0].bus_bandwidth == pytest.approx(gigabytes * 1e9)
    assert not found.notes


def test_ranks_nodes_gpu_and_version():
    found = read_nccl_tests(texts.VERSIONED)
    assert (found.ranks, found.hosts, found.devices) == (8, 1, ("NVIDIA H100 80GB HBM3",))
    assert (found.version, found.operation) == ("2.31.2", "all_reduce")


def test_each_row_has_the_operation_of_its_part():
    found = read_nccl_tests(texts.TWO_TESTS)
    assert [row.operation for row in found.rows] == ["all_gather", "reduce_scatter"]


def test_a_line_that_only_says_it_is_of_nccl_is_one():
    for level in ("INFO", "WARN"):
        assert read_nccl_debug(f"host:1:2 [0] NCCL {level} nothing known").ranks == 0
    with pytest.raises(TextError, match="no line of NCCL"):
        read_nccl_debug("about NCCL in general")


def test_a_line_that_ends_early_is_named_with_its_number_and_reason():
    text = texts.HEAD + texts.ROW + texts.ROW[:60] + "\n"
    found = read_nccl_tests(text)
    assert [note.line for note in found.notes] == [4]
    assert "ends before" in found.notes[0].reason


@each("end", ["nan  479.90", "nan", "274.23  nan  0"])
def test_a_word_that_is_no_number_is_named(end):
    text = texts.ROW + texts.ROW.partition("274.23")[0] + end
    (note,) = read_nccl_tests(text).notes
    assert note.line == 2
    assert "'nan' stands where a number should" in note.reason


def test_a_row_that_contradicts_itself_is_kept_and_named():
    found = read_nccl_tests(texts.ROW.replace("62648", "31324"))
    assert len(found.rows) == 1
    assert "size over time is 548.5 GB/s, and algbw says 274.2" in found.notes[0].reason


def test_the_lines_of_a_start():
    found = read_nccl_debug(texts.INIT)
    assert (found.version, found.ranks, found.nodes) == ("2.27.7", 16, 2)
    assert (found.network, found.fabric, found.ports) == ("IB", "IB", 4)
    assert found.multicast == "available"
    assert found.ways == {"NET/IB": 1, "P2P": 1, "SHM": 1}
    assert found.direct == 1
    assert {one.name: one.value for one in found.variables} == {
        "NCCL_IB_HCA": "mlx5",
        "NCCL_ALGO": "Ring",
        "NCCL_IB_QPS_PER_CONNECTION": "2",
    }
    assert [note.line for note in found.warnings] == [12]
    assert found.warnings[0].reason == "Failed to initialize any NET plugin"


@each(
    ("text", "said"),
    [
        (texts.OLD_CHOICE, ("", 805306368, "Ring", "Simple", 0, 3970.683594e-6)),
        (texts.MIDDLE_CHOICE, ("all_gather", 37756928, "Ring", "Simple", 0, 2860.2e-6)),
        (texts.NEW_CHOICE, ("all_reduce", 33554432, "Ring", "Simple", 32, 0.0)),
        (texts.SYMMETRIC, ("all_reduce", 2**20, "symmetric kernel", "", 0, 0.0)),
        (
            texts.NEW_CHOICE.replace("RING", "NVLS_TREE"),
            ("all_reduce", 33554432, "NVLSTree", "Simple", 32, 0.0),
        ),
    ],
)
def test_both_forms_of_a_choice(text, said):
    (one,) = read_nccl_debug(text).chosen
    found = (one.operation, one.size, one.algorithm, one.protocol, one.channels, one.time)
    assert found == pytest.approx(said) if isinstance(said, float) else found == said


def test_an_unknown_choice_is_named_with_its_line():
    found = read_nccl_debug(texts.NEW_CHOICE + texts.OLD_CHOICE.replace("Algo 1", "Algo 9"))
    assert [note.line for note in found.notes] == [2]
    assert "no known form" in found.notes[0].reason


def test_of_a_text_that_repeats_itself_a_hundred_warnings_and_doubts_are_kept():
    warning = "node-1:1:1 [0] NCCL WARN no network\n"
    doubt = "[0] NCCL INFO 8 Bytes -> Algo 99 proto 99 time 1.0\n"
    found = read_nccl_debug((warning + doubt) * 150)
    assert [len(found.warnings), len(found.notes)] == [100, 100]
    assert (found.warnings[0].line, found.warnings[-1].line) == (1, 199)


def test_of_a_text_that_names_ever_other_wires_twenty_are_counted():
    line = "node-1:1:1 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/Wire{}/0\n"
    found = read_nccl_debug("".join(line.format(chr(97 + n)) for n in range(25)) * 2)
    assert len(found.ways) == 20
    assert set(found.ways.values()) == {2}


def test_a_text_may_hold_both():
    found = read_nccl(texts.INIT + texts.VERSIONED)
    assert found.table is not None
    assert found.debug is not None
    assert read_nccl(texts.OLD_CHOICE).table is None
    # The headline of nccl-tests is no line of NCCL.
    assert read_nccl(texts.VERSIONED).debug is None


@each(
    ("text", "reason"),
    [
        ("", "line 1: no row of nccl-tests"),
        ("hello\nworld", "or lines of NCCL_DEBUG=INFO"),
        ('{"schemaVersion": 1,\n "traceEvents": []}', "line 2: this is a trace"),
        ("x\ny\nstep: 1 tps: 7,000", "line 3: this is a training log"),
        (texts.ROW[:60], "line 1: the line ends before its bandwidths"),
        ("1" * (LONGEST_NCCL + 1), "at most 1,000,000"),
    ],
)
def test_what_is_neither_is_refused_with_line_and_reason(text, reason):
    with pytest.raises(TextError) as error:
        read_nccl(text)
    assert reason in str(error.value)


def damaged(chance):
    text = chance.choice(texts.ALL) * chance.choice((1, 1, 3))
    for _ in range(chance.choice((1, 2, 4, 8))):
        place = chance.randrange(len(text) + 1)
        end = min(len(text), place + chance.choice((0, 1, 5, 30, 200)))
        piece = chance.choice((*ODD, text[place:end] * chance.choice((0, 2, 20))))
        text = text[:place] + piece + text[end:]
    return text


def test_damaged_texts_are_read_or_refused_and_quickly():
    chance, kinds, slowest = random.Random("nccl"), set(), 0.0
    for _ in range(1500):
        text = damaged(chance)
        start = time.process_time()
        try:
            found = read_nccl(text)
        except TextError as error:
            kinds.add("refused" if str(error).startswith("line ") else "refused without a line")
            continue
        finally:
            slowest = max(slowest, time.process_time() - start)
        kinds.add("read")
        for row in found.table.rows if found.table else ():
            assert math.isfinite(row.time + row.size + row.bus_bandwidth)
            assert row.time > 0
        for one in found.debug.chosen if found.debug else ():
            assert math.isfinite(one.size + one.time)
            assert one.channels >= 0
    assert kinds == {"read", "refused"}
    assert slowest < 0.5


@each("piece", ["a", " ", "[0]", "1 ", "1.", ",", "x:", "<", "Bytes -> ", "NCCL_A", "Rank 1 on "])
def test_no_pattern_is_slow_on_long_repetitions(piece):
    text = (piece * 300 + "\n") * 200 + "NCCL " + piece * 5000
    start = time.process_time()
    with contextlib.suppress(TextError):
        read_nccl(text)
    assert time.process_time() - start < 2.0
