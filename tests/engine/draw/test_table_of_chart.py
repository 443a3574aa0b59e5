"""A chart's data as a table for reading."""

import math

from engine.basis.text import DEFAULT
from engine.basis.units import SECONDS
from engine.basis.views import Axis, Heatmap, Lines, Series
from engine.draw.spoken import spoken
from engine.draw.table_of_chart import sample, table_text


def test_a_sample_keeps_both_ends():
    assert (sample(73)[0], sample(73)[-1], len(sample(73))) == (0, 72, 12)


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


def test_a_curve_without_a_label_is_named_by_its_axis():
    axis = {"quantity": SECONDS, "low": 0.0, "high": 1.0}
    view = Lines(
        title="Step",
        x=Axis(label="cost", **axis),
        y=Axis(label="one step", **axis),
        series=(Series(key="front", label="", x=(0.0,), y=(1.0,), color="compute"),),
    )
    told = (table_text(view, DEFAULT), spoken(view, DEFAULT))
    assert (">one step<" in told[0], "Curves: one step." in told[1]) == (True, True)
