"""Drawn charts: well formed, inside their frames, and true to the view, for any input."""

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from builder.core import node
from engine.core.numbers import DEFAULT, Display, format_value
from engine.core.ticks import ticks
from engine.core.units import BYTES, SECONDS, SHARE, TOKEN_RATE, TOKENS
from engine.core.views import (
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
from engine.draw.export_text import table_text
from engine.draw.reply_extras import chart_alt_text
from engine.draw.view_json import view_json
from tests.engine.calculators.tried import default_views

THEME = Path(__file__).parents[3] / "theme"
STYLES = THEME / "styles"
CHARTS_ROOM = THEME / "runtime" / "charts"
HEIGHT = 250  # of the frame of curves, pixels
NARROW = 588  # of a frame in a chart that is not wide, at most

# What the modules make of a view: marks and the page's SVG.
SCRIPT = """
import { text } from "node:stream/consumers";
const { room, charts } = JSON.parse(await text(process.stdin));
const { layoutChart } = await import(`${room}/chart_layout.js`);
const { chartSvg } = await import(`${room}/svg.js`);
const made = Object.entries(charts).map(([name, { view, spoken }]) => [name, {
  marks: layoutChart(view), svg: chartSvg(view, spoken),
}]);
process.stdout.write(JSON.stringify(Object.fromEntries(made)));
"""


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


def heatmap(*points):
    return Heatmap(
        points=points,
        title="Bubble",
        x_label="micro-batches",
        y_label="stages",
        x=("1", "2"),
        y=("2", "4"),
        values=((0.5, 0.25), (0.75, math.nan)),
        quantity=SHARE,
    )


CHARTS = {"lines": curves(), "bars": bars(), "timeline": timeline(), "heatmap": heatmap()}
every_chart = pytest.mark.parametrize("name", CHARTS)


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
every_extreme = pytest.mark.parametrize("name", EXTREMES)


def flat_curves(count):
    series = tuple(
        Series(key=str(i), label=f"curve {i}", x=(1.0, 4.0), y=(5.0, 5.0), color="compute")
        for i in range(count)
    )
    return curves(series=series, rules=(), points=())


def one_curve(*points, **change):
    x, y = zip(*points, strict=True)
    one = Series(key="one", label="one", x=x, y=y, color="compute")
    return replace(curves(series=(one,), rules=(), points=()), x=axis(), **change)


# Charts whose texts once lay on lines on a phone.
CROWDED = (
    ("context_lab", "ratio_curve"),
    ("context_lab", "regime_map"),
    ("three_meters", "timeline"),
    ("zero_saving", "curve"),
    ("gradient_sync", "efficiency_curve"),
    ("algorithm_race", "race"),
    ("loss_goodput", "curve"),
    ("failure_lives", "ends"),
    ("data_parallel_scaling", "curve"),
    ("layer_roofline", "roofline"),
    ("rollout_lab", "split"),
    ("critical_tokens", "curve"),
    ("recompute_board", "lengths"),
    ("run_cost", "curve"),
    ("zero_saving", "volume"),
    ("wave_quantization", "curve"),
    ("product_roofline", "curve"),
)
# Charts of bars with a rule where the bars' values would stand.
STRUCK = (
    ("memory_check", "lines"),
    ("largest_batch", "memory_bars"),
    ("calibrate", "shares"),
    ("planner", "filled"),
)
OTHERS = {
    "point outside": curves(points=(Point(key="now", label="here", x=2.0, y=11.0),)),
    "two alike": flat_curves(2),
    "four": flat_curves(4),
    "five": flat_curves(5),
    "log": replace(curves(), x=axis(1.0, 1000.0, "log")),
    "below zero": one_curve((0.0, -5.0), (2.0, 5.0), (4.0, 5.0), y=axis(1.0, 10.0, "log")),
    "leaves": one_curve((0.0, 5.0), (10.0, 15.0)),
    "comes back": one_curve((0.0, 5.0), (5.0, 15.0), (10.0, 5.0)),
    "interrupted": one_curve((0.0, 1.0), (2.0, 2.0), (4.0, math.nan), (6.0, 3.0), (8.0, 4.0)),
    "straight": one_curve(*((float(i), i / 2) for i in range(11))),
    "spans that meet": replace(
        timeline(),
        spans=tuple(
            Span(key=str(at), lane="compute", start=start, end=end, label="", color="compute")
            for at, (start, end) in enumerate(((0, 3.0), (3.0, 6.0), (6.0, 9.0), (9.5, 10.0)))
        ),
    ),
    "wide marks": replace(
        curves(y=(1e3, 5e3, 15e3), rules=(), points=()),
        y=axis(0.0, 15e3, quantity=TOKEN_RATE),
    ),
    "between cells": heatmap(Point(key="own", label="you", x=0.5, y=1.0, color="ink")),
    "off the map": heatmap(Point(key="own", label="you", x=1.2, y=0.0, color="ink")),
    **{f"{name}.{view}": default_views(name)[view] for name, view in CROWDED + STRUCK},
    "two points": curves(
        series=(),
        rules=(),
        points=tuple(
            Point(key=name, label=f"the {name} of two", x=x, y=5.0)
            for name, x in (("first", 2.4), ("second", 2.6))
        ),
    ),
    "no room beside": replace(
        one_curve((1.5, 0.0), (2.0, 10.0), (9.5, 10.0), (9.6, 0.0)),
        rules=(Rule(key="limit", label="a label of many letters", axis="x", at=6.0),),
        points=(Point(key="now", label="another of many", x=6.2, y=5.0),),
    ),
    "struck": replace(bars(), rules=(Rule(key="card", label="one card", axis="x", at=9.4),)),
    "corner": one_curve((0.0, 0.0), (5.0, 5.0), (10.0, 0.0)),
}
BINARY = Display(binary=True)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Everything above, drawn in one run of Node: name -> {"marks", "svg"}."""
    script = tmp_path_factory.mktemp("node") / "draw.mjs"
    script.write_text(SCRIPT, encoding="utf-8")
    charts = {
        name: {"view": view_json(view, DEFAULT), "spoken": chart_alt_text(view, DEFAULT)}
        for name, view in (CHARTS | EXTREMES | OTHERS).items()
    }
    charts["binary"] = {"view": view_json(bars(), BINARY), "spoken": ""}
    return node.run(script, {"room": CHARTS_ROOM.as_uri(), "charts": charts})


def numbers_of_paths(svg):
    """Return the points of all curves, each written as a start and steps from point to point."""
    paths = re.findall(r'<path class="line (?:curve|dashed) [^>]*d="M([^"]*)"', svg)
    found = []
    for path in paths:
        start, _, steps = path.partition("l")
        numbers = list(map(float, re.findall(r"-?(?:\d+\.?\d*|\.\d+)", f"{start} {steps}")))
        moves = zip(numbers[::2], numbers[1::2], strict=True)
        found += accumulate(
            moves, lambda at, by: (round(at[0] + by[0], 1), round(at[1] + by[1], 1))
        )
    return found


def pieces(drawing):
    return [curve["points"] for curve in drawing["marks"]["curves"]]


def texts(drawing, *looks):
    return {w["text"] for w in drawing["marks"]["words"] if not looks or w["look"] in looks}


@every_chart
def test_the_page_s_svg_is_well_formed(name, drawn):
    assert ElementTree.fromstring(drawn[name]["svg"]).tag.endswith("svg")


@every_chart
def test_colors_are_named_never_given(name, drawn):
    assert not re.search(r"#[0-9a-f]{6}", drawn[name]["svg"])


@every_chart
def test_the_picture_is_told_in_words(name, drawn):
    root = ElementTree.fromstring(drawn[name]["svg"])
    assert root.attrib["aria-label"] == chart_alt_text(CHARTS[name], DEFAULT)
    assert root.attrib["aria-label"].startswith(CHARTS[name].title)


@every_chart
def test_every_mark_of_a_box_lies_in_the_frame(name, drawn):
    marks = drawn[name]["marks"]
    for box in marks["boxes"]:
        assert 0 <= box["x0"] <= box["x1"] <= 1
        assert 0 <= box["y0"] < box["y1"] <= marks["frame"]["height"]


@every_extreme
def test_curves_stay_in_their_view_box(name, drawn):
    for x, y in numbers_of_paths(drawn[name]["svg"]):
        assert 0 <= x <= 1000
        assert 0 <= y <= HEIGHT


@every_extreme
def test_extreme_numbers_give_well_formed_svg(name, drawn):
    svg = drawn[name]["svg"]
    ElementTree.fromstring(svg)
    assert not [word for word in ("NaN", "Infinity", "undefined", "null") if word in svg]


@every_extreme
def test_ticks_lie_in_the_frame(name, drawn):
    ticks_of = [w for w in drawn[name]["marks"]["words"] if w["look"] == "tick"]
    assert all(0 <= words["x"] <= 1 for words in ticks_of)


def test_a_tick_text_stands_where_its_value_lies(drawn):
    found = drawn["lines"]["marks"]["words"]
    heights = {w["text"]: w["y"] for w in found if w["look"] == "tick" and w["x"] == 0}
    for value, text in ticks(CHARTS["lines"].y, DEFAULT):
        assert heights[text] - 4.5 == pytest.approx(HEIGHT * (1 - value / 10))


def test_the_reader_s_point_is_ringed_where_it_lies(drawn):
    (ring,) = drawn["lines"]["marks"]["rings"]
    assert (ring["x"], ring["y"]) == (pytest.approx(1 / 3), pytest.approx(HEIGHT / 2))


def test_a_point_outside_the_axes_is_not_drawn(drawn):
    assert not drawn["point outside"]["marks"]["rings"]


def test_a_rule_and_a_curve_carry_their_names(drawn):
    assert {"limit", "here", "the <first>", "second"} <= texts(drawn["lines"])


def test_names_of_curves_do_not_cover_one_another(drawn):
    one, two = (w for w in drawn["two alike"]["marks"]["words"] if w["look"] == "strong")
    assert abs(one["y"] - two["y"]) >= 15 or one["x"] != two["x"] or one["align"] != two["align"]


def box_of(words, width):
    """Left, top, right and bottom of a text in a frame of that width."""
    wide = (7.6 if words["look"] == "strong" else 6.8) * len(words["text"])
    left = (
        words["x"] * width
        + words["dx"]
        - {"start": 0, "middle": wide / 2, "end": wide}[words["align"]]
    )
    return left, words["y"] - 9, left + wide, words["y"] + 2


def shown(marks, width):
    """Words and lines in a frame of that width: some are for narrow or for wide charts only."""
    hidden = "wide" if width < NARROW else "narrow"
    return ([one for one in marks[group] if not one.get(hidden)] for group in ("words", "front"))


def crossed(marks, width):
    """Texts with a line that runs through them."""
    found, front = shown(marks, width)
    lines = [*marks["curves"], *(one for one in front if one["look"] in ("rule", "drop"))]
    dots = [
        ((x0 + (x1 - x0) * i / 500) * width, y0 + (y1 - y0) * i / 500)
        for one in lines
        for (x0, y0), (x1, y1) in pairwise(one["points"])
        for i in range(501)
    ]
    for words in found:
        left, top, right, bottom = box_of(words, width)
        if words["look"] != "tick" and any(left < x < right and top < y < bottom for x, y in dots):
            yield words["text"]


@pytest.mark.parametrize("width", [243, 673, 978])
@pytest.mark.parametrize(
    "name", ["lines", "struck", "no room beside", *(".".join(one) for one in CROWDED)]
)
def test_no_text_lies_on_a_line_on_a_phone_a_tablet_or_a_desktop(name, width, drawn):
    assert list(crossed(drawn[name]["marks"], width)) == []


@pytest.mark.parametrize("width", [243, 673, 978])
def test_a_label_is_nearest_to_its_own_point(width, drawn):
    marks = drawn["two points"]["marks"]
    rings = [(ring["x"] * width, ring["y"]) for ring in marks["rings"]]
    found, _ = shown(marks, width)
    for own, words in enumerate(w for w in found if w["look"] == "strong"):
        left, top, right, bottom = box_of(words, width)
        away = [
            math.hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom)) for x, y in rings
        ]
        assert away[own] == min(away)


@pytest.mark.parametrize("width", [243, 673, 978])
def test_no_rule_parts_a_label_from_its_point(width, drawn):
    found, front = shown(drawn["product_roofline.curve"]["marks"], width)
    (ring,) = drawn["product_roofline.curve"]["marks"]["rings"]
    (label,) = [words for words in found if words["color"] == ring["color"]]
    left, _, right, _ = box_of(label, width)
    rules = [one["points"] for one in front if one["look"] == "rule"]
    ats = {start[0] for start, end in rules if start[0] == end[0]}
    assert ats
    assert not any(ring["x"] < at and at * width < left for at in ats)
    assert not any(ring["x"] > at and at * width > right for at in ats)


@pytest.mark.parametrize("width", [243, 673, 978])
@pytest.mark.parametrize(
    "name", ["wave_quantization.curve", "run_cost.curve", "zero_saving.volume"]
)
def test_a_label_is_near_its_point_or_tied_to_it_by_dots(name, width, drawn):
    marks = drawn[name]["marks"]
    found, front = shown(marks, width)
    (ring,) = marks["rings"]
    (label,) = [words for words in found if words["color"] == ring["color"]]
    ties = [
        one["points"] for one in front if one["look"] == "drop" and one["points"][0][1] < ring["y"]
    ]
    left, top, right, bottom = box_of(label, width)
    x, y = ring["x"] * width, ring["y"]
    away = math.hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom))
    # Nearer than the gap that asks for dots, and a little to its side.
    assert away < 22 or any(top < end < bottom + 4 for (_, end), _ in ties)


def test_no_label_lies_on_the_line_at_the_foot(drawn):
    for name in (".".join(one) for one in CROWDED):
        marks = drawn[name]["marks"]
        inside = [w for w in marks["words"] if w["look"] in ("strong", "label")]
        height = marks["frame"]["height"]
        assert all(w["y"] <= height - 4 for w in inside if w["y"] < height + 12), name


def test_a_rule_reaches_up_to_its_label_and_is_cut_where_a_text_lies(drawn):
    found, front = map(list, shown(drawn["no room beside"]["marks"], 243))
    (label,) = [w for w in found if w["text"].startswith("a label")]
    (other,) = [w for w in found if w["text"].startswith("another")]
    rule = [one["points"] for one in front if one["look"] == "rule"]
    ends = [y for points in rule for _, y in points]
    assert max(ends) == HEIGHT
    assert label["y"] < 0
    assert label["y"] - 11 <= min(ends) <= label["y"] + 4
    assert all(not top < other["y"] - 4 < bottom for (_, top), (_, bottom) in rule)


@pytest.mark.parametrize("width", [311, 341, 771, 1076])
@pytest.mark.parametrize("name", ["struck", *(".".join(one) for one in STRUCK)])
def test_the_values_of_bars_step_aside_from_a_rule(name, width, drawn):
    marks = drawn[name]["marks"]
    found, front = shown(marks, width)
    values = [box_of(one, width) for one in found if one["look"] == "strong"]
    rules = {one["points"][0][0] * width for one in front if one["look"] == "rule"}
    assert values
    assert len({one["align"] for one in found if one["look"] == "strong"}) == 1
    assert all(x < left - 2 or right + 2 <= x for x in rules for left, _, right, _ in values)


def test_a_log_axis_says_so(drawn):
    assert "time (log)" in texts(drawn["log"])


def test_a_curve_that_leaves_the_frame_is_cut_at_its_edge(drawn):
    assert pieces(drawn["leaves"]) == [[[0, HEIGHT / 2], [0.5, 0]]]


def test_a_curve_that_comes_back_is_two_pieces(drawn):
    assert len(pieces(drawn["comes back"])) == 2


def test_a_missing_value_interrupts_a_curve(drawn):
    assert [len(piece) for piece in pieces(drawn["interrupted"])] == [2, 2]


def test_a_straight_line_keeps_only_its_ends(drawn):
    assert numbers_of_paths(drawn["straight"]["svg"]) == [(0, HEIGHT), (1000, HEIGHT / 2)]


def test_a_corner_is_never_dropped(drawn):
    assert (500, HEIGHT / 2) in numbers_of_paths(drawn["corner"]["svg"])


def test_a_value_below_zero_has_no_place_on_a_log_axis(drawn):
    assert [len(piece) for piece in pieces(drawn["below zero"])] == [2]


def test_parts_of_a_bar_lie_end_to_end(drawn):
    first, second = drawn["bars"]["marks"]["boxes"]
    assert first["x1"] == second["x0"]


def test_the_margin_of_curves_holds_their_longest_mark(drawn):
    """15,000 tokens/s is wider than the margin that most curves have."""
    assert drawn["lines"]["marks"]["frame"]["left"] == 88
    assert drawn["wide marks"]["marks"]["frame"]["left"] > 15 * 6.3 + 6
    axis_name = drawn["wide marks"]["marks"]["words"][0]
    assert axis_name["dx"] == -drawn["wide marks"]["marks"]["frame"]["left"]


def test_only_the_exposed_span_is_hatched(drawn):
    assert [box["hatched"] for box in drawn["timeline"]["marks"]["boxes"]] == [False, False, True]


def test_spans_that_meet_are_one_shape_and_a_line_parts_them(drawn):
    svg = drawn["spans that meet"]["svg"]
    (shape,) = re.findall(r'<path class="c-compute" d="([^"]*)"', svg)
    assert shape == "M0 22h900v24H0m950-24h50v24h-50"
    (seams,) = re.findall(r'<path class="line seam c-paper" d="([^"]*)"', svg)
    assert seams.lower().count("m") == 3


def test_an_idle_lane_is_hatched_grey(drawn):
    assert [line["look"] for line in drawn["timeline"]["marks"]["back"]].count("idle") == 2


def test_a_missing_cell_of_a_heatmap_is_left_empty(drawn):
    assert len(drawn["heatmap"]["marks"]["boxes"]) == 3


def test_a_place_on_a_heatmap_is_framed_where_it_lies_and_named(drawn):
    front = drawn["between cells"]["marks"]["front"]
    across = [x for one in front for x, _ in one["points"]]
    down = [y for one in front for _, y in one["points"]]
    assert (min(across), max(across)) == pytest.approx((0.25, 0.75), abs=0.01)
    assert (min(down), max(down)) == pytest.approx((34, 68), abs=3)
    assert "you" in texts(drawn["between cells"])


def test_a_place_off_the_map_is_not_drawn(drawn):
    assert drawn["off the map"]["marks"]["front"] == []
    assert "you" not in texts(drawn["off the map"])


def test_a_reader_of_words_hears_what_is_framed():
    one = heatmap(Point(key="own", label="you", x=0.5, y=1.0))
    assert chart_alt_text(one, DEFAULT).endswith("Marked: you.")


def test_binary_units_reach_the_axis(drawn):
    assert format_value(7.0, BYTES, BINARY) in texts(drawn["binary"])


@every_chart
def test_the_table_of_a_chart_is_well_formed_and_short(name):
    root = ElementTree.fromstring(table_text(CHARTS[name], DEFAULT))
    assert 1 <= len(root.findall(".//tbody/tr")) <= 12


def test_the_handle_s_margins_are_the_frame_s(drawn):
    css = (STYLES / "40-charts.css").read_text(encoding="utf-8")
    margins = {side: float(px) for side, px in re.findall(r"--(left|right|bottom): (\d+)px", css)}
    frame = drawn["lines"]["marks"]["frame"]
    assert margins == {side: frame[side] for side in margins}
    assert len(margins) == 3


def test_many_curves_are_named_in_keys_above_the_frame(drawn):
    few, many = drawn["four"]["marks"], drawn["five"]["marks"]
    named = {one["text"]: one["y"] for one in many["words"] if one["text"].startswith("curve")}
    assert len(named) == 5
    assert all(-many["frame"]["top"] <= y < -few["frame"]["top"] for y in named.values())
    assert few["frame"]["height"] == many["frame"]["height"] == HEIGHT


def test_a_key_of_a_dashed_curve_shows_two_dashes(drawn):
    for width in (243, 978):
        _, front = shown(drawn["five"]["marks"], width)
        swatches = [one["points"] for one in front if one["look"] == "curve"]
        assert len(swatches) == 5
        assert all((x1 - x0) * width >= 6 + 4 + 6 for (x0, _), (x1, _) in swatches)
