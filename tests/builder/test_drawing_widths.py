"""What a chart draws on a phone and on a wide page: each has its own cuts, keys and names."""

from itertools import pairwise

import pytest

from builder.core import node
from engine.core.numbers import DEFAULT
from engine.core.units import SECONDS, SHARE, TOKENS
from engine.core.views import Axis, Bar, Bars, Heatmap, Lane, Lines, Segment, Series, Span, Timeline
from engine.draw.view_json import view_json
from tests.builder.figures.test_static_charts import CHARTS_ROOM, SCRIPT, box_of, shown
from tests.engine.calculators.tried import default_views

PHONE, TABLET, DESKTOP = 345, 775, 1080  # of a chart, pixels
# Charts with a rule or a drop that was cut on wide pages where a label lies on a phone.
CUT = (
    ("job_time", "goodput_curve"),
    ("largest_batch", "memory_line"),
    ("mfu_check", "peaks"),
    ("shard_width", "curve"),
    ("recompute_board", "policies"),
)


def axis(high=10.0, quantity=SECONDS):
    return Axis(label="time", quantity=quantity, low=0.0, high=high)


def keyed_bars():
    names = "forward", "backward", "the optimizer's step", "what waits for the slowest"
    parts = tuple(Segment(key=name, label=name, value=1.0, color="data") for name in names)
    return Bars(title="", axis=axis(), bars=(Bar(key="a", label="a step", segments=parts),))


def named_bars():
    """Bars of which one has a name that leaves no room for its value on a phone."""
    names = "8 GPUs", "three of four links to the spines are down"
    parts = Segment(key="s", label="step", value=4.0, color="data")
    bars = tuple(Bar(key=name, label=name, segments=(parts,)) for name in names)
    return Bars(title="", axis=axis(), bars=bars)


def lanes():
    span = Span(key="s", lane="compute", start=0.0, end=1.2, label="forward", color="compute")
    return Timeline(
        title="", axis=axis(), lanes=(Lane(key="compute", label="compute"),), spans=(span,)
    )


def grid(columns, first=0.976):
    return Heatmap(
        title="", x_label="x", y_label="y", x=tuple(map(str, range(columns))), y=("1 min",),
        values=(tuple(first - i / 100 for i in range(columns)),), quantity=SHARE,
    )  # fmt: skip


def held():
    """The curves of two stages: one goes down over the other's last step."""
    names, ups = ("stage 0", "stage 3"), ((1, 4, 3, 2, 1), (0, 1, 1, 0, 0))
    curves = tuple(
        Series(
            key=name, label=name, x=(0.0, 1.0, 7.3, 8.2, 9.0), y=tuple(map(float, y)), color="data"
        )
        for name, y in zip(names, ups, strict=True)
    )
    axis_of_curves = Axis(label="held", quantity=TOKENS, low=0.0, high=4.4)
    span = Span(key="s", lane="a", start=0.0, end=10.0, label="", color="data")
    return Timeline(
        title="", axis=axis(), lanes=(Lane(key="a", label="a"),), spans=(span,), curves=curves,
        curve_axis=axis_of_curves,
    )  # fmt: skip


def measured():
    names = "one", "two"
    series = tuple(
        Series(
            key=name, label=name, x=(1.0, 2.0, 9.0), y=(1.0, 9.0, 12.0), color="compute",
            dashed=name == "two",
        )
        for name in names
    )  # fmt: skip
    return Lines(title="", x=axis(), y=axis(), series=series, dots=names)


VIEWS = {
    "keys": keyed_bars(),
    "names": named_bars(),
    "lanes": lanes(),
    "few": grid(3),
    "seven": grid(7),
    "thirty": grid(30),
    "hundred": grid(13, 1.0),  # of all texts only "100.0 %" is too long
    "held": held(),
    "measured": measured(),
    **{".".join(one): default_views(one[0])[one[1]] for one in CUT},
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    script = tmp_path_factory.mktemp("node") / "draw.mjs"
    script.write_text(SCRIPT, encoding="utf-8")
    charts = {
        name: {"view": view_json(view, DEFAULT), "spoken": ""} for name, view in VIEWS.items()
    }
    return node.run(script, {"room": CHARTS_ROOM.as_uri(), "charts": charts})


def frame_of(marks, chart):
    return chart - marks["frame"]["left"] - marks["frame"]["right"]


def gaps(front):
    """(x, top, bottom) of what is left out of every upright line."""
    lines = {}
    for one in front:
        (x0, top), (x1, bottom) = one["points"]
        if one["look"] in ("rule", "drop") and x0 == x1:
            lines.setdefault((x0, one["look"], one["color"]), []).append((top, bottom))
    for (x, *_), parts in lines.items():
        yield from ((x, end, start) for (_, end), (start, _) in pairwise(sorted(parts)))


@pytest.mark.parametrize("chart", [TABLET, DESKTOP])
@pytest.mark.parametrize("name", [".".join(one) for one in CUT])
def test_an_upright_line_is_cut_only_where_a_text_or_its_point_is(name, chart, drawn):
    marks = drawn[name]["marks"]
    width = frame_of(marks, chart)
    words, front = map(list, shown(marks, width))
    boxes = [box_of(one, width) for one in words]
    boxes += [(x * width, y, x * width, y) for x, y in ((r["x"], r["y"]) for r in marks["rings"])]
    for x, start, end in gaps(front):
        assert any(
            left - 12 < x * width < right + 12 and top - 8 < end and start < bottom + 8
            for left, top, right, bottom in boxes
        ), (x, start, end)


def test_keys_stand_in_as_few_rows_as_a_page_has_room_for(drawn):
    marks = drawn["keys"]["marks"]
    rows = []
    for chart in (PHONE, DESKTOP):
        width = frame_of(marks, chart)
        words, _ = shown(marks, width)
        named = {part.label for part in VIEWS["keys"].bars[0].segments}
        keys = [one for one in words if one["text"] in named]
        assert {one["text"] for one in keys} == named
        assert all(box_of(one, width)[2] <= width for one in keys)
        rows.append(len({one["y"] for one in keys}))
    assert rows == [4, 1]
    assert marks["frame"]["top"] - marks["frame"]["wideTop"] == 3 * 22
    assert f"--wide-top:{marks['frame']['wideTop']}px" in drawn["keys"]["svg"]


def test_a_value_without_room_beside_its_label_stands_behind_its_bar(drawn):
    marks = drawn["names"]["marks"]
    for chart, x in ((PHONE, 0.4), (DESKTOP, 1.0)):
        words, _ = shown(marks, frame_of(marks, chart))
        values = [one for one in words if one["look"] == "strong"]
        assert [one["x"] for one in values] == [1.0, pytest.approx(x)]


def test_a_span_too_short_for_its_name_on_a_phone_has_it_on_a_wide_page(drawn):
    marks = drawn["lanes"]["marks"]
    seen = [
        [one["text"] for one in shown_words if one["look"] == "inside"]
        for shown_words, _ in (shown(marks, frame_of(marks, chart)) for chart in (PHONE, DESKTOP))
    ]
    assert seen == [[], ["forward"]]


@pytest.mark.parametrize("name", ["few", "seven", "thirty"])
@pytest.mark.parametrize("chart", [PHONE, TABLET, DESKTOP])
def test_the_numbers_of_a_heatmap_stay_apart(name, chart, drawn):
    marks = drawn[name]["marks"]
    width = frame_of(marks, chart)
    words, _ = shown(marks, width)
    cells = sorted(box_of(one, width)[::2] for one in words if one["look"] == "cell")
    assert all(right + 4 <= left for (_, right), (left, _) in pairwise(cells))


def test_a_unit_that_has_no_room_in_the_cells_is_said_once_below_them(drawn):
    said = []
    for name in ("few", "seven"):
        marks = drawn[name]["marks"]
        words, _ = map(list, shown(marks, frame_of(marks, PHONE)))
        cells = [one["text"] for one in words if one["look"] == "cell"]
        said.append((cells[0], "(%)" in {one["text"] for one in words}))
    assert said == [("97.6 %", False), ("97.6", True)]


@pytest.mark.parametrize("name", ["few", "seven", "thirty", "hundred"])
@pytest.mark.parametrize("chart", [PHONE, TABLET, DESKTOP])
def test_all_cells_of_a_heatmap_have_a_number_or_none_has(name, chart, drawn):
    marks = drawn[name]["marks"]
    words, _ = map(list, shown(marks, frame_of(marks, chart)))
    texts = [one["text"] for one in words if one["look"] == "cell"]
    assert len(texts) in (0, len(marks["boxes"]))
    assert ("(%)" in {one["text"] for one in words}) == ("%" not in "".join(texts) and bool(texts))


def test_the_name_of_a_curve_is_nearer_to_it_than_to_another_one(drawn):
    marks = drawn["held"]["marks"]
    words = [one for one in marks["words"] if one["text"] == "stage 0"]
    foot = marks["frame"]["height"]
    low = foot - 110 / 4.4  # of stage 3's curve
    assert words
    assert all(abs(one["y"] - 4 - low) > 16 for one in words)


def test_measurements_are_points_that_no_line_joins(drawn):
    marks = drawn["measured"]["marks"]
    assert marks["curves"] == []
    points = [one for one in marks["rings"] if not one.get("wide") and not one.get("narrow")]
    # The last of each lies outside of the frame.
    assert [one["filled"] for one in points] == [True, True, False, False]
    assert {"one", "two"} <= {one["text"] for one in marks["words"]}
