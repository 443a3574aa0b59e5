"""Rows of the calibration script: which numbers are a count or a time, and which texts are its."""

import json
import math

import pytest

from engine.run.importers.import_report import TextError
from engine.run.logs.calibration import (
    TimedAttention,
    TimedCollective,
    TimedCopy,
    TimedProduct,
    Timings,
    has_calibration,
    read_calibration,
)
from tests.each import each


def written(**parts):
    return json.dumps({"format": "wallclock-calibration", "version": 1, **parts})


def read(**parts):
    return read_calibration(written(**parts))


def test_what_is_left_out_is_empty():
    assert read() == Timings(
        device="", products=(), attention=(), copies=(), collectives=(), unread=0
    )


def test_every_number_has_its_place():
    found = read(
        device="GPU",
        products=[["bf16", 2, 3, 4, 0.5]],
        attention=[["flash", 2, 3, 4, 5, 0.25, 0.75]],
        copies=[[6, 0.125]],
        collectives=[["all_gather", 7, 8, 2, 0.0625]],
    )
    assert found == Timings(
        device="GPU",
        products=(TimedProduct(precision="bf16", rows=2, columns=3, inner=4, time=0.5),),
        attention=(
            TimedAttention(
                kernel="flash",
                batch=2,
                heads=3,
                length=4,
                head_size=5,
                forward=0.25,
                backward=0.75,
            ),
        ),
        copies=(TimedCopy(size=6, time=0.125),),
        collectives=(
            TimedCollective(operation="all_gather", size=7, ranks=8, nodes=2, time=0.0625),
        ),
    )


@each(
    ("given", "count"),
    [(1, 1), (1.0, 1), (2.75, 2), (10**15, 10**15), (1e15, 10**15)],
)
def test_a_count_is_at_least_1_and_at_most_a_million_billions(given, count):
    (copy,) = read(copies=[[given, 1.0]]).copies
    assert copy.size == count
    assert type(copy.size) is int


@each(
    "given",
    [0, 0.5, -1, 10**15 + 1, 1.1e15, 10**400, True, False, math.inf, math.nan, "8", None, [8]],
)
def test_what_is_no_count_makes_a_row_unread(given):
    found = read(copies=[[given, 1.0], [8, 1.0]])
    assert (found.copies, found.unread) == ((TimedCopy(size=8, time=1.0),), 1)


@each("given", [1e-9, 1, 0.5, 10_000, 1e4])
def test_a_time_is_at_least_a_nanosecond_and_at_most_ten_thousand_seconds(given):
    (copy,) = read(copies=[[8, given]]).copies
    assert copy.time == given
    assert type(copy.time) is float


@each(
    "given",
    [0, 0.9e-9, -1, 10_001, 10**400, True, False, math.inf, -math.inf, math.nan, "1", None, [1]],
)
def test_what_is_no_time_makes_a_row_unread(given):
    found = read(copies=[[8, given], [8, 1.0]])
    assert (found.copies, found.unread) == ((TimedCopy(size=8, time=1.0),), 1)


@each(
    "row",
    [
        ["bf16", 1, 1, 1],
        ["bf16", 1, 1, 1, 1.0, 1],
        [16, 1, 1, 1, 1.0],
        ["b" * 61, 1, 1, 1, 1.0],
        ["bf16", True, 1, 1, 1.0],
        ["bf16", 1, True, 1, 1.0],
        ["bf16", 1, 1, True, 1.0],
        5,
        None,
    ],
)
def test_every_number_of_a_product_is_looked_at(row):
    found = read(products=[row])
    assert (found.products, found.unread) == ((), 1)


def test_a_name_has_at_most_60_characters():
    (product,) = read(products=[["b" * 60, 1, 1, 1, 1.0]]).products
    assert product.precision == "b" * 60
    assert read(device="d" * 61).device == "d" * 60


@each("place", range(7))
def test_every_number_of_an_attention_is_looked_at(place):
    row = ["flash", 1, 1, 1, 1, 1.0, 1.0]
    row[place] = True
    assert read(attention=[row]).unread == 1


@each(
    ("operation", "size", "ranks", "nodes", "read_as_one"),
    [
        ("all_reduce", 8, 4, 1, True),
        ("all_gather", 8, 4, 2, True),
        ("reduce_scatter", 8, 4, 4, True),
        ("reduce_scatter", 8, 1, 1, True),
        ("all_to_all", 8, 4, 1, False),
        ("all_reduce", 8, 4, 5, False),
        ("all_reduce", 8, 4, 0, False),
        ("all_reduce", 0, 4, 1, False),
        ("all_reduce", 8, True, 1, False),
        (["all_reduce"], 8, 4, 1, False),
    ],
)
def test_a_collective_is_a_known_one_on_at_most_as_many_nodes_as_ranks(
    operation, size, ranks, nodes, read_as_one
):
    found = read(collectives=[[operation, size, ranks, nodes, 1.0]])
    assert (len(found.collectives), found.unread) == ((1, 0) if read_as_one else (0, 1))


def test_two_thousand_rows_of_a_kind_are_read():
    found = read(copies=[[8, 1.0]] * 2001, products=[[]] * 2001)
    assert (len(found.copies), found.unread) == (2000, 2000)


@each("given", [None, 5, "rows", {"0": [8, 1.0]}])
def test_what_is_no_list_has_no_rows(given):
    assert read(copies=given) == read()


@each(
    ("text", "reason"),
    [
        ("", "line 1: no output of the script; allowed: an object with 'wallclock-calibration'"),
        ("\nwallclock-calibration", "line 1: no output of the script; allowed: an object with"),
        ("\n" + written(version=7), "line 2: version 7; allowed: 1"),
        (written(version="v" * 61), "line 1: version " + "v" * 60 + "; allowed: 1"),
        ("\n\n" + written()[:-1], "line 3, column 49: the JSON of the script is damaged or cut"),
        ('\n{"name": "wallclock-calibration"}', "line 2: the object has another format than"),
        ('\n{"format": "wallclock-calibration", "n": ' + "9" * 5000 + "}", "line 2: a number is"),
        ('\n{"format": "wallclock-calibration", "n": ' + "[" * 200_000, "line 2: nested too deep"),
    ],
)
def test_a_text_that_is_not_the_scripts_is_refused_with_line_and_reason(text, reason):
    with pytest.raises(TextError) as caught:
        read_calibration(text)
    assert str(caught.value).startswith(reason)


def test_the_object_may_begin_the_text_or_stand_behind_lines():
    assert read_calibration(written(device="a") + "\nend") == read(device="a")
    assert read_calibration("{x}\n" + written(device="a")) == read(device="a")
    assert has_calibration(written()[:33])
    assert not has_calibration("wallclock")
