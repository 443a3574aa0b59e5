"""A chart's data as a table for reading."""

import math
import re

import pytest

from engine.core.numbers import DEFAULT
from engine.core.units import BYTES, SECONDS, with_digits
from engine.core.views import Axis, Heatmap, Lines, Series
from engine.draw.export_text import spread_indices, table_text
from engine.draw.reply_extras import chart_alt_text


def test_a_sample_keeps_both_ends():
    assert (spread_indices(73)[0], spread_indices(73)[-1], len(spread_indices(73))) == (0, 72, 12)


def test_a_cell_that_a_heatmap_leaves_out_is_a_dash():
    view = Heatmap(
        title="Who waits",
        x_label="comes last",
        y_label="waits",
        quantity=SECONDS,
        x=("a", "b"),
        y=("a", "b"),
        values=((math.nan, 1.0), (2.0, math.nan)),
    )
    table = table_text(view, DEFAULT)
    assert (table.count(">-<"), "finite" in table) == (2, False)


@pytest.mark.parametrize(
    ("places", "cells"),
    [
        ((16_384.0, 2_097_152.0), ["16.4 kB", "2.1 MB"]),
        ((1_001_000.0, 1_002_000.0), ["1.001 MB", "1.002 MB"]),
    ],
)
def test_a_place_along_an_axis_has_three_digits_or_four_to_tell_rows_apart(places, cells):
    view = Lines(
        title="Speed",
        x=Axis(label="size", quantity=with_digits(BYTES), low=1.0, high=1e9),
        y=Axis(label="time", quantity=SECONDS, low=0.0, high=1.0),
        series=(Series(key="one", label="one", x=places, y=(1.0, 2.0), color="compute"),),
    )
    assert re.findall('<th scope="row">([^<]*)<', table_text(view, DEFAULT)) == cells


def test_a_curve_without_a_label_is_named_by_its_axis():
    axis = {"quantity": SECONDS, "low": 0.0, "high": 1.0}
    view = Lines(
        title="Step",
        x=Axis(label="cost", **axis),
        y=Axis(label="one step", **axis),
        series=(Series(key="front", label="", x=(0.0,), y=(1.0,), color="compute"),),
    )
    told = (table_text(view, DEFAULT), chart_alt_text(view, DEFAULT))
    assert (">one step<" in told[0], "Curves: one step." in told[1]) == (True, True)


def test_a_curve_with_points_of_its_own_has_a_column_and_rows():
    axis = Axis(label="n", quantity=SECONDS, low=0.0, high=4.0)
    view = Lines(
        title="Model and measured",
        x=axis,
        y=axis,
        series=(
            Series(key="model", label="model", x=(1.0, 3.0), y=(1.0, 3.0), color="compute"),
            Series(key="run", label="measured", x=(2.0, 3.0), y=(2.0, 4.0), color="data"),
        ),
    )
    cells = re.findall("<t[hd][^>]*>([^<]+)<", table_text(view, DEFAULT))
    assert cells[:3] == ["n", "model", "measured"]
    assert cells[3:] == [
        *("1.00 s", "1.00 s", "-"),
        *("2.00 s", "-", "2.00 s"),
        *("3.00 s", "3.00 s", "4.00 s"),
    ]
