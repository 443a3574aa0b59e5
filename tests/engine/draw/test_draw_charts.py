"""Static charts: well formed, inside their frames, and true to the view, for any input."""

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from engine.basis.text import DEFAULT, Display, show
from engine.basis.ticks import ticks
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE, TOKENS
from engine.basis.views import (
    Axis,
    Bar,
    Bars,
    Heatmap,
    Lane,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Span,
    Timeline,
)
from engine.draw.file_style import PALETTE
from engine.draw.frame import LINES, share
from engine.draw.lines import clip
from engine.draw.simplify import simplify
from engine.draw.svg import picture, svg_file, svg_text
from engine.draw.table_of_chart import sample, table_text

STYLES = Path(__file__).parents[3] / "theme" / "styles"


def axis(low=0.0, high=10.0, scale="linear", quantity=SECONDS):
    return Axis(label="time", quantity=quantity, low=low, high=high, scale=scale)


def curves(x=(1.0, 2.0, 4.0), y=(1.0, 5.0, 9.0), **change):
    one = Series(key="one", label="the <first>", x=x, y=y, color="compute")
    two = Series(key="two", label="second", x=x, y=y[::-1], color="communication", dashed=True)
    view = Lines(
        title="A & B",
        x=axis(1.0, 4.0, quantity=TOKENS),
        y=axis(),
        series=(one, two),
        points=(Point(key="now", label="here", x=2.0, y=5.0),),
        rules=(Rule(key="limit", label="limit", axis="y", at=8.0),),
        handle="tokens",
    )
    return replace(view, **change)


def bars():
    parts = (("weights", 3.0, "parameters"), ("gradients", 4.0, "gradients"))
    segments = tuple(Segment(key=k, label=k, value=v, color=c) for k, v, c in parts)
    return Bars(
        title="Memory",
        axis=axis(quantity=BYTES),
        bars=(Bar(key="a", label="plain", segments=segments),),
        rules=(Rule(key="card", label="one card", axis="x", at=8.0),),
    )


def timeline():
    def span(lane, start, end, *, exposed=False):
        return Span(
            key=lane, lane=lane, start=start, end=end, label=lane, color=lane, exposed=exposed
        )

    return Timeline(
        title="A step",
        axis=axis(),
        lanes=tuple(Lane(key=key, label=key) for key in ("compute", "communication")),
        spans=(
            span("compute", 0.0, 6.0),
            span("communication", 2.0, 6.0),
            span("communication", 6.0, 9.0, exposed=True),
        ),
    )


def heatmap():
    return Heatmap(
        title="Bubble",
        x_label="micro-batches",
        y_label="stages",
        x=("1", "2"),
        y=("2", "4"),
        values=((0.5, 0.25), (0.75, math.nan)),
        quantity=SHARE,
    )


CHARTS = {"lines": curves(), "bars": bars(), "timeline": timeline(), "heatmap": heatmap()}
every_chart = pytest.mark.parametrize("view", CHARTS.values(), ids=CHARTS)


def extreme(x, y, scale):
    return replace(
        curves(x=x, y=y),
        x=axis(min(x), max(x), scale),
        y=axis(1e-9, 1e12, scale),
        points=(Point(key="now", label="here", x=x[0], y=y[0]),),
        rules=(),
    )


EXTREMES = {
    f"{name} {scale}": extreme(x, y, scale)
    for scale in ("linear", "log")
    for name, x, y in (
        ("wide", (1e-9, 1.0, 1e12), (1e-9, 1.0, 1e12)),
        ("one value", (5.0, 5.0), (7.0, 7.0)),
        ("a single point", (5.0,), (7.0,)),
        ("far outside", (1e-9, 1e12), (1e-300, 1e300)),
        ("not finite", (1.0, 2.0, 3.0), (math.inf, 5.0, math.nan)),
    )
}
every_extreme = pytest.mark.parametrize("view", EXTREMES.values(), ids=EXTREMES)


def numbers_of_paths(svg):
    paths = re.findall(r'<path class="line (?:curve|dashed) [^>]*d="M([^"]*)"', svg)
    return [tuple(map(float, pair.split())) for path in paths for pair in path.split("L")]


@every_chart
def test_the_page_s_svg_is_well_formed(view):
    assert ElementTree.fromstring(svg_text(view, DEFAULT)).tag.endswith("svg")


@every_chart
def test_the_file_s_svg_is_well_formed_and_has_a_size(view):
    root = ElementTree.fromstring(svg_file(view, DEFAULT))
    assert float(root.attrib["width"]) > 0
    assert float(root.attrib["height"]) > 0


@every_chart
def test_the_same_view_gives_the_same_bytes(view):
    assert svg_text(view, DEFAULT) == svg_text(replace(view), DEFAULT)


@every_chart
def test_colors_are_named_never_given(view):
    assert "#" not in svg_text(view, DEFAULT)


@every_chart
def test_the_picture_is_told_in_words(view):
    root = ElementTree.fromstring(svg_text(view, DEFAULT))
    assert root.attrib["aria-label"].startswith(view.title)


@every_chart
def test_every_mark_of_a_box_lies_in_the_frame(view):
    drawn = picture(view, DEFAULT)
    for box in drawn.boxes:
        assert 0 <= box.x0 <= box.x1 <= 1
        assert 0 <= box.y0 < box.y1 <= drawn.frame.height


@every_extreme
def test_curves_stay_in_their_view_box(view):
    for x, y in numbers_of_paths(svg_text(view, DEFAULT)):
        assert 0 <= x <= 1000
        assert 0 <= y <= LINES.height


@every_extreme
def test_extreme_numbers_give_well_formed_svg(view):
    svg = svg_text(view, DEFAULT)
    ElementTree.fromstring(svg)
    assert "nan" not in svg
    assert "inf" not in svg


@every_extreme
def test_ticks_lie_in_the_frame(view):
    drawn = picture(view, DEFAULT)
    texts = [words for words in drawn.words if words.look == "tick"]
    assert all(0 <= words.x <= 1 for words in texts)


def test_a_tick_text_stands_where_its_value_lies():
    view = curves()
    texts = {w.text: w.y for w in picture(view, DEFAULT).words if w.look == "tick" and w.x == 0}
    for value, text in ticks(view.y, DEFAULT):
        assert texts[text] - 4.5 == pytest.approx(LINES.height * (1 - value / 10))


def test_the_reader_s_point_is_ringed_where_it_lies():
    (ring,) = picture(curves(), DEFAULT).rings
    assert (ring.x, ring.y) == (pytest.approx(1 / 3), pytest.approx(LINES.height / 2))


def test_a_point_outside_the_axes_is_not_drawn():
    outside = (Point(key="now", label="here", x=2.0, y=11.0),)
    assert not picture(curves(points=outside), DEFAULT).rings


def test_a_rule_and_a_curve_carry_their_names():
    texts = {words.text for words in picture(curves(), DEFAULT).words}
    assert {"limit", "here", "the <first>", "second"} <= texts


def test_names_of_curves_do_not_cover_one_another():
    flat = Series(key="f", label="flat", x=(1.0, 4.0), y=(5.0, 5.0), color="compute")
    same = (flat, replace(flat, key="g", label="also flat"))
    one, two = (
        w
        for w in picture(curves(series=same, rules=(), points=()), DEFAULT).words
        if w.look == "strong"
    )
    assert abs(one.y - two.y) >= 15 or one.x != two.x or one.align != two.align


def test_a_log_axis_says_so():
    view = replace(curves(), x=axis(1.0, 1000.0, "log"))
    assert "time (log)" in {words.text for words in picture(view, DEFAULT).words}


def test_a_curve_that_leaves_the_frame_is_cut_at_its_edge():
    assert clip([(0.0, 50.0), (1.0, -50.0)], 100.0) == [((0.0, 50.0), (0.5, 0.0))]


def test_a_curve_that_comes_back_is_two_pieces():
    assert len(clip([(0.0, 50.0), (0.5, -50.0), (1.0, 50.0)], 100.0)) == 2


def test_a_missing_value_interrupts_a_curve():
    points = [(0.0, 1.0), (0.2, 2.0), (0.4, math.nan), (0.6, 3.0), (0.8, 4.0)]
    assert [len(piece) for piece in clip(points, 100.0)] == [2, 2]


def test_a_straight_line_keeps_only_its_ends():
    assert simplify([(float(i), 2.0 * i) for i in range(50)]) == [(0.0, 0.0), (49.0, 98.0)]


def test_a_corner_is_never_dropped():
    assert simplify([(0.0, 0.0), (5.0, 5.0), (10.0, 0.0)])[1] == (5.0, 5.0)


def test_a_value_below_zero_has_no_place_on_a_log_axis():
    assert math.isnan(share(axis(1.0, 10.0, "log"), -1.0))


def test_parts_of_a_bar_lie_end_to_end():
    first, second = picture(bars(), DEFAULT).boxes
    assert first.x1 == second.x0


def test_only_the_exposed_span_is_hatched():
    drawn = picture(timeline(), DEFAULT)
    assert [box.hatched for box in drawn.boxes] == [False, False, True]


def test_an_idle_lane_is_hatched_grey():
    idle = [line for line in picture(timeline(), DEFAULT).back if line.look == "idle"]
    assert len(idle) == 2


def test_a_missing_cell_of_a_heatmap_is_left_empty():
    assert len(picture(heatmap(), DEFAULT).boxes) == 3


def test_binary_units_reach_the_axis():
    texts = {w.text for w in picture(bars(), Display(binary=True)).words}
    assert show(7.0, BYTES, Display(binary=True)) in texts


@every_chart
def test_the_table_of_a_chart_is_well_formed_and_short(view):
    root = ElementTree.fromstring(table_text(view, DEFAULT))
    assert 1 <= len(root.findall(".//tbody/tr")) <= 12


def test_a_sample_keeps_both_ends():
    assert (sample(73)[0], sample(73)[-1], len(sample(73))) == (0, 72, 12)


def test_the_file_s_palette_is_the_page_s_light_one():
    css = (STYLES / "10-colors.css").read_text(encoding="utf-8").partition("@media")[0]
    page = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", css))
    assert {name: page[name] for name in PALETTE} == PALETTE


def test_the_handle_s_margins_are_the_frame_s():
    css = (STYLES / "40-charts.css").read_text(encoding="utf-8")
    margins = {side: float(px) for side, px in re.findall(r"--(left|right|bottom): (\d+)px", css)}
    assert margins == {side: getattr(LINES, side) for side in margins}
    assert len(margins) == 3


def test_many_curves_are_named_in_keys_above_the_frame():
    def drawn(count):
        names = [f"curve {i}" for i in range(count)]
        series = tuple(
            Series(key=name, label=name, x=(1.0, 2.0), y=(1.0, 1.5), color="compute")
            for name in names
        )
        axis = Axis(label="at", quantity=COUNT, low=1.0, high=2.0)
        return picture(Lines(title="t", x=axis, y=axis, series=series), Display())

    few, many = drawn(4), drawn(5)
    named = {one.text: one.y for one in many.words if one.text.startswith("curve")}
    assert len(named) == 5
    assert all(-many.frame.top <= y < -LINES.top for y in named.values())
    assert (few.frame, many.frame.total > LINES.total) == (LINES, True)
