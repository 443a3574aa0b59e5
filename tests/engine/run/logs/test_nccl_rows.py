"""Words and rows of nccl-tests at their limits: what is a number, a row, and a contradiction."""

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.nccl_tests import read_nccl_tests
from engine.run.logs.nccl_words import (
    is_decimal,
    is_size,
    parse_decimal,
    parse_size,
    quote_word,
    split_words,
    strip_decoration,
)
from tests.each import each

# 1,000,000 bytes in 100 us are 10 GB/s.
ROW = "1000000 250000 float sum -1 100.0 10.00 17.50 0"


def noted(line):
    (note,) = read_nccl_tests(ROW + "\n" + line).notes
    assert note.line == 2
    return note.reason


@each(
    ("word", "value"),
    [
        ("12", 12),
        ("1,234", 1234),
        ("17,179,869,184", 17_179_869_184),
        ("1.073.741.824", 2**30),
        ("1'048'576", 2**20),
        ("9" * 16, 9_999_999_999_999_999),
    ],
)
def test_a_size_may_have_grouped_digits(word, value):
    assert is_size(word)
    assert parse_size(word) == value


@each("word", ["", "9" * 17, "12.5", "1,23", "-1", "²", "1e3", "float", "1,234,56"])
def test_what_is_no_size(word):
    assert not is_size(word)


@each(
    ("word", "value"),
    [
        ("12", 12),
        ("12.5", 12.5),
        ("1.5e+3", 1500),
        ("12,5", 12.5),
        ("12,3456", 12.3456),
        ("1,234", 1234),
        ("1,234,567.25", 1_234_567.25),
        ("1.234,5", 1234.5),
    ],
)
def test_a_decimal_has_a_point_or_a_comma(word, value):
    assert is_decimal(word)
    assert parse_decimal(word) == value


@each("word", ["", "nan", "-1.0", "1.", ".5", "1.2.3", "12,", "1e999"])
def test_what_is_no_decimal(word):
    assert not is_decimal(word)


@each(
    ("line", "words"),
    [
        ("a b c", ["a", "b", "c"]),
        ("a | b;c\td", ["a", "b", "c", "d"]),
        ("[0] 8 2[12] 3", ["8", "2", "3"]),
        ("1,2,3,4,5,6,7,8", ["1", "2", "3", "4", "5", "6", "7", "8"]),
        ("1,2,3,4,5,6,7", ["1,2,3,4,5,6,7"]),
        ("1,2,3,4,5,6,7 8,9", ["1", "2", "3", "4", "5", "6", "7", "8", "9"]),
        ("1,2,3,4,5,6,7,8 x y", ["1,2,3,4,5,6,7,8", "x", "y"]),
    ],
)
def test_columns_are_separated_by_blanks_bars_or_only_commas(line, words):
    assert split_words(line) == words


def test_a_line_is_bare_of_colors_and_of_what_a_launcher_adds():
    assert strip_decoration("[1,0]<stdout>:  \x1b[31m8 2") == "8 2"
    assert strip_decoration("0: 8 2") == "8 2"
    assert strip_decoration("x" * 601) == "x" * 600
    assert quote_word("a\x00" + "b" * 30) == "'a?" + "b" * 18 + "'"


@each(
    ("line", "wrong"),
    [
        (ROW, 0),
        (ROW[:-1] + "7", 7),
        (ROW[:-2], 0),
        (ROW[:-1] + "N/A", 0),
        ("1000000 100.0 10.00 17.50 3", 3),
        ("1000000 250000 100.0 10.00 17.50 3", 3),
        ("1000000 250000 float 100.0 10.00 17.50", 0),
    ],
)
def test_a_row_with_more_or_fewer_words(line, wrong):
    (row,) = read_nccl_tests(line).rows
    assert (row.line, row.size, row.wrong, row.operation) == (1, 1e6, wrong, "")
    assert row.time == pytest.approx(100e-6)
    assert (row.algorithm_bandwidth, row.bus_bandwidth) == (10e9, 17.5e9)


@each("root", ["-1", "0", "3"])
@each("time", ["2", "2.0"])
def test_a_root_is_no_time(root, time):
    """With a root of 3 there would be two starts: size over time is the bandwidth of one alone."""
    (row,) = read_nccl_tests(f"2000 500 float sum {root} {time} 1.00 1.50 0").rows
    assert (row.time, row.bus_bandwidth) == pytest.approx((2e-6, 1.5e9))


@each(
    "line",
    ["1000000", "1000000 250000", "1000000 250000 of some", "x 250000 float", "1000000 x float"],
)
def test_a_line_that_is_no_row_is_not_noted(line):
    found = read_nccl_tests(ROW + "\n" + line)
    assert (len(found.rows), found.notes) == (1, ())


def test_why_a_line_that_begins_like_a_row_is_none():
    assert noted("1000000 250000 float sum -1") == "the line ends before its bandwidths"
    said = "'nan' stands where a number should"
    assert noted("1000000 250000 float sum -1 nan 10.00 17.50 0") == said
    assert noted("1000000 250000 float sum -1 100.0 10.00 nan 0") == said
    # Behind three numbers stands what is looked at no more.
    line = "1000000 250000 float sum -1 0.0 10.00 17.50 nan"
    assert noted(line) == "the line ends before its bandwidths"


@each(
    ("printed", "fits"),
    # 10 GB/s: printed digits allow 0.01, rounding 2 % of it.
    [("10.00", True), ("10.20", True), ("9.80", True), ("10.22", False), ("9.78", False)],
)
def test_a_bandwidth_is_size_over_time(printed, fits):
    notes = read_nccl_tests(ROW.replace("10.00", printed)).notes
    reason = f"size over time is 10 GB/s, and algbw says {float(printed):.4g}"
    assert [note.reason for note in notes] == ([] if fits else [reason])


def test_two_hundred_lines_are_noted():
    found = read_nccl_tests((ROW[:20] + "\n") * 201 + ROW)
    assert len(found.notes) == found.notes[-1].line == 200


RANK = "#  Rank {} Group 0 Pid 1 on {} device 0 [0000:18:00] NVIDIA {}\n"


def test_what_stands_above_the_table():
    head = RANK.format(0, "a", "H100") + RANK.format(9, "b", "A100") + RANK.format(3, "b", "A100")
    tests = f"# all_gather_perf\n{ROW}\n# broadcast_perf\n{ROW}\n"
    found = read_nccl_tests("# nccl-tests version 2.1 nccl-library=22304\n" + head + tests)
    assert (found.ranks, found.hosts, found.devices) == (10, 2, ("NVIDIA H100", "NVIDIA A100"))
    assert (found.version, found.operation) == ("2.23.4", "all_gather")
    assert [row.operation for row in found.rows] == ["all_gather", "broadcast"]
    own = read_nccl_tests("NCCL version 2.20.5\nNCCL version 2.21.5\n" + ROW)
    assert (own.version, own.operation, own.ranks, own.hosts) == ("2.20.5", "", 0, 0)


def test_a_table_may_have_a_million_characters():
    text = ROW + "\n" + "x" * (1_000_000 - len(ROW) - 1)
    assert len(read_nccl_tests(text).rows) == 1
    with pytest.raises(TextError, match="line 1: 1,000,001 characters; allowed: at most 1,000,000"):
        read_nccl_tests(text + "x")
    with pytest.raises(TextError, match=r"^line 2: the line ends before its bandwidths; no row of"):
        read_nccl_tests("\n" + ROW[:20])
    with pytest.raises(TextError, match=r"^line 1: no row of nccl-tests is recognized; allowed: "):
        read_nccl_tests("hello")
