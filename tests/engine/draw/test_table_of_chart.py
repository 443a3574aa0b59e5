"""A chart's data as a table for reading."""

import math

from engine.basis.text import DEFAULT
from engine.basis.units import SECONDS
from engine.basis.views import Heatmap
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
