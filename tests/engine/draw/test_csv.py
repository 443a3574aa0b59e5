import csv
import io
import math
from functools import cache

import pytest

from engine.calculator import load, make, names
from engine.core.text import say
from engine.core.units import BANDWIDTH, BYTES, FLOP_RATE, SECONDS, SHARE, TOKENS, Quantity
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    Chart,
    Citation,
    Frame,
    Heatmap,
    Lane,
    Lines,
    Scene,
    Segment,
    Series,
    Span,
    Table,
    Timeline,
)
from engine.draw.csv import csv_text, unit_name
from tests.each import each

SIZE = Axis(label="message", quantity=BYTES, low=1, high=9)
TIME = Axis(label="time", quantity=SECONDS, low=0, high=1)


@cache
def data():
    """Every chart, scene and table of every calculator, by its defaults."""
    return [
        pytest.param(view, id=f"{name}.{key}")
        for name in names()
        for key, view in load(name).compute(make(load(name), {})).items()
        if isinstance(view, Chart | Scene | Table)
    ]


def rows(view):
    return list(csv.reader(io.StringIO(csv_text(view), newline="")))


def line(key, *ys):
    return Series(key=key, label=f"{key}, all", x=(1.0, 2.0), y=ys, color="ink")


def test_a_citation_is_its_keys():
    view = Table(title="", columns=("a", "b"), rows=(("x", Citation(("li2020",))),))
    assert rows(view)[1] == ["x", "li2020"]


def test_lines_are_written_one_point_a_row():
    view = Lines(title="", x=SIZE, y=TIME, series=(line("ring", 0.5, 0.25),))
    assert rows(view) == [
        ["series", "message [byte]", "time [second]"],
        ["ring, all", "1", "0.5"],
        ["ring, all", "2", "0.25"],
    ]


def test_bars_are_written_one_part_a_row():
    part = Segment(key="a", label="wire", value=0.49, color="ink")
    view = Bars(title="", axis=TIME, bars=(Bar(key="ring", label="ring", segments=(part,)),))
    assert rows(view) == [["bar", "part", "time [second]"], ["ring", "wire", "0.49"]]


def test_a_timeline_is_written_one_span_a_row():
    span = Span(key="b", lane="compute", start=0.0, end=0.1, label="forward", color="compute")
    lanes = (Lane(key="compute", label="compute"),)
    view = Timeline(title="", axis=TIME, lanes=lanes, spans=(span,))
    assert rows(view)[1] == ["compute", "forward", "0", "0.1"]


def test_a_timeline_s_curves_are_steps_with_a_value():
    span = Span(key="f", lane="a", start=0.0, end=0.5, label="F", color="compute", after=("e",))
    curve = Series(key="m", label="held", x=(0.0, 0.2), y=(1.0, 2.0), color="buffers")
    view = Timeline(
        title="",
        axis=TIME,
        lanes=(Lane(key="a", label="a"),),
        spans=(span,),
        curves=(curve,),
        curve_axis=SIZE,
    )
    head = "lane,span,start [second],end [second],key,belongs to,waits for,message [byte]"
    assert rows(view) == [
        head.split(","),
        ["a", "F", "0", "0.5", "f", "", "e", ""],
        ["held", "", "0", "0.2", "", "", "", "1"],
        ["held", "", "0.2", "0.5", "", "", "", "2"],
    ]


def test_a_heatmap_is_written_as_a_grid():
    view = Heatmap(
        title="",
        x_label="GPUs",
        y_label="message",
        x=("8", "16"),
        y=("1 MB",),
        values=((0.5, 0.75),),
        quantity=SHARE,
    )
    assert rows(view) == [["message", "8", "16"], ["1 MB", "0.5", "0.75"]]


def test_a_table_is_written_with_its_words():
    view = Table(title="", columns=("a", "b"), rows=(("x", say("{s}", s=(14e9, BYTES))),))
    assert rows(view) == [["a", "b"], ["x", "14.0 GB"]]


def test_a_scene_is_written_as_its_captions():
    view = Scene(title="", width=1, height=1, frames=(Frame(caption="Start", shapes=()),))
    assert rows(view) == [["frame", "what happens"], ["0", "Start"]]


def test_quotes_commas_and_line_breaks_survive():
    nasty = 'say "2,5"\r\nand more'
    assert rows(Table(title="", columns=(nasty,), rows=()))[0] == [nasty]


def test_what_is_not_finite_is_left_empty():
    view = Lines(title="", x=SIZE, y=TIME, series=(line("ring", math.inf, math.nan),))
    assert [row[2] for row in rows(view)[1:]] == ["", ""]


def test_numbers_keep_twelve_digits():
    view = Lines(title="", x=SIZE, y=TIME, series=(line("ring", 1 / 3, 2e-9 / 3),))
    assert [row[2] for row in rows(view)[1:]] == ["0.333333333333", "6.66666666667e-10"]


@each(
    ("quantity", "unit"),
    [
        (BYTES, "byte"),
        (BANDWIDTH, "byte/second"),
        (FLOP_RATE, "FLOP/second"),
        (TOKENS, "tokens"),
        (Quantity("frequency", second=-1), "1/second"),
    ],
)
def test_headings_name_the_si_unit(quantity, unit):
    assert unit_name(quantity) == unit


@each("view", data)
def test_every_row_is_as_long_as_the_headings(view):
    assert len({len(row) for row in rows(view)} | {0}) == 2 or csv_text(view) == "\r\n"


@each("view", data)
def test_every_line_ends_as_the_standard_says(view):
    assert csv_text(view).endswith("\r\n")
