"""Tables of nccl-tests in the forms of several versions, their facts retyped from public files."""

import math
import random

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.nccl_tests import LONGEST_TABLE, read_nccl_tests

HEAD = """#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""  # noqa: E501
# NCCL 2.20.5, two nodes of four A100.
A100 = (
    "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 8589934592 step: 2(factor) warmup iters: 5\n"
    "#\n# Using devices\nNCCL version 2.20.5+cuda12.4\n"
    + HEAD
    + "     1048576        262144     float     sum      -1    105.9    9.90   1"
    "7.33      0    105.7"
    "    9.92   17.37      0\n"
    "    16777216       4194304     float     sum      -1    413.6   40.56   70.98      0    412.0"
    "   40.72   71.26      0\n"
)
# nccl-tests 2.18.2, GH200, with its version in the first line.
GH200 = (
    "# nccl-tests version 2.18.2 nccl-headers=23007 nccl-library=23007\n"
    "# Collective test starting: all_reduce_perf\n# Using devices\n"
    "#  Rank  0 Group  0 Pid  15784 on  nid007106 device  0 [0009:01:00] NVIDIA GH200 120GB\n"
    "#  Rank  1 Group  0 Pid  24926 on  nid007109 device  0 [0009:01:00] NVIDIA GH200 120GB\n"
    + HEAD
    + "     1048576        262144     float     sum      -1   339.61    3.09    "
    "3.09       0   335.85"
    "    3.12    3.12       0\n"
)
# Open MPI puts the rank before each line.
TAGGED = (
    "[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw\n"
    "[1,0]<stdout>:         512           128     float     sum      -1    77.20    0.01    0.01"
    "      0    77.00    0.01    0.01      0\n"
)
# Before 2.13: an error in place of #wrong; an all-gather names no operation.
OLD = (
    "#       size         count      type     time   algbw   busbw  error\n"
    "   134217728       4194304     float   857.60  156.50  136.94  0e+00   819.6  163.8  143.3"
    " 0e+00\n"
)
# Sixteen A100 on two nodes: the row that its users compare with 220 GB/s.
LARGE = (
    HEAD + " 10737418240    2684354560     float     sum      -1    90330  118.87  222.88      0"
    "    91945  116.78  218.96      0\n# Out of bounds values : 0 OK\n# Avg bus "
    "bandwidth    : 220.921\n"
)
ALL = (A100, GH200, TAGGED, OLD, LARGE)


def test_the_rows_of_a_table_are_read_in_si_units():
    first, second = read_nccl_tests(A100).rows
    assert (first.size, second.size) == (2.0**20, 2.0**24)
    assert first.time == pytest.approx(105.9e-6)
    assert first.bus_bandwidth == pytest.approx(17.33e9)
    assert first.line == 9


def test_a_row_says_the_same_three_times():
    for text in ALL:
        for row in read_nccl_tests(text).rows:
            off = 0.006e9 + 0.002 * row.algorithm_bandwidth
            assert row.size / row.time == pytest.approx(row.algorithm_bandwidth, abs=off)


def test_the_version_and_the_devices_are_read():
    found = read_nccl_tests(GH200)
    assert (found.version, found.operation, found.ranks) == ("2.30.7", "all_reduce", 2)
    assert found.devices == ("NVIDIA GH200 120GB",)
    assert read_nccl_tests(A100).version == "2.20.5"


def test_what_a_launcher_puts_before_a_line_is_no_part_of_it():
    (row,) = read_nccl_tests(TAGGED).rows
    assert (row.size, row.time) == (512, pytest.approx(77.20e-6))


def test_an_older_table_is_read():
    (row,) = read_nccl_tests(OLD).rows
    assert (row.bus_bandwidth, row.wrong) == (pytest.approx(136.94e9), 0)


def test_a_time_without_a_point_is_a_time_and_no_root():
    (row,) = read_nccl_tests(LARGE).rows
    assert row.time == pytest.approx(90.330e-3)


def test_a_root_is_no_time():
    line = "  16777216  4194304  float  none  3  413.6  40.56  40.56  0  412.0  40.7  40.7  0\n"
    (row,) = read_nccl_tests(line).rows
    assert row.time == pytest.approx(413.6e-6)


def test_wrong_values_are_counted():
    text = A100.replace("17.33      0", "17.33     12")
    assert read_nccl_tests(text).rows[0].wrong == 12


@pytest.mark.parametrize("text", ["", "hello", HEAD, "1 2 3 4 5"])
def test_a_text_without_rows_is_refused(text):
    with pytest.raises(TextError, match="line 1: no row of nccl-tests"):
        read_nccl_tests(text)


def test_a_text_that_is_too_long_is_refused():
    with pytest.raises(TextError, match="at most 1,000,000"):
        read_nccl_tests("1" * (LONGEST_TABLE + 1))


def test_damaged_tables_are_read_or_refused():
    chance = random.Random("nccl-tests")
    odd = (
        "9" * 400,
        "-1",
        "nan",
        "1e999",
        ".",
        "0x10",
        "\x00",
        "<b>",
        " " * 300,
        "\n",
        "1.2.3",
        "²",
    )
    kinds = set()
    for _ in range(2000):
        text = chance.choice(ALL)
        for _ in range(chance.choice((1, 2, 4, 8))):
            place = chance.randrange(len(text) + 1)
            end = min(len(text), place + chance.choice((0, 1, 5, 40)))
            text = text[:place] + chance.choice((*odd, text[place:end] * 3)) + text[end:]
        try:
            rows = read_nccl_tests(text).rows
        except TextError:
            kinds.add("refused")
            continue
        kinds.add("read")
        for row in rows:
            assert math.isfinite(row.time + row.size + row.bus_bandwidth)
            assert row.time > 0
    assert kinds == {"read", "refused"}
