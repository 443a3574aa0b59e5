import math
from dataclasses import replace

import pytest

from engine.answer import reply
from engine.core.numbers import Display
from engine.core.text import say
from engine.core.units import BYTES, LINK_SPEED, SECONDS, SHARE
from engine.core.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Citation,
    Code,
    Condition,
    Formula,
    Frame,
    Heatmap,
    Lane,
    Lines,
    Point,
    Receipt,
    Remedy,
    Rule,
    Scene,
    Segment,
    Series,
    Shape,
    Span,
    Table,
    Timeline,
    Value,
)
from engine.draw.view_json import json_number, view_json
from engine.formulas.communication import RING_ALL_REDUCE

PLAIN = Display()
SIZE = Axis(label="message", quantity=BYTES, low=1e6, high=1e9, scale="log")
TIME = Axis(label="time", quantity=SECONDS, low=0.0, high=1.0)


def wire(view, display=PLAIN):
    return view_json(view, display)


def lines(**changes):
    series = Series(key="ring", label="ring", x=(1e6, 1e9), y=(0.5, math.inf), color="compute")
    return Lines(title="Race", x=SIZE, y=TIME, series=(series,), **changes)


def part(key, value):
    return Segment(key=key, label=key, value=value, color="compute")


def test_numbers_keep_twelve_digits():
    assert json_number(1 / 3) == 0.333333333333


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_null(value):
    assert json_number(value) is None


def test_a_value_comes_with_both_unit_systems():
    view = Value(label="Gradient", value=14e9, quantity=BYTES, receipt=Receipt())
    assert (wire(view)["text"], wire(view)["also"]) == ("14.0 GB", "13.0 GiB")


def test_a_value_says_what_it_rests_on():
    view = Value(label="Step", value=1, quantity=SECONDS, receipt=Receipt(basis="measured"))
    assert wire(view)["basis"] == "measured"


def test_an_infinite_value_has_words_and_no_number():
    view = Value(label="Port", value=math.inf, quantity=LINK_SPEED, receipt=Receipt())
    assert (wire(view)["value"], wire(view)["text"]) == (None, "no finite value")


def test_a_badge_writes_its_sentence():
    view = Badge(text="Link", sentence=say("{e} waits.", e=(0.4, SHARE)), color="communication")
    assert wire(view)["sentence"] == "40.0 % waits."


def test_lines_have_texts_for_every_point():
    column = wire(lines())["columns"]["ring"]
    assert (column["x_text"], column["y_text"]) == (
        ["1.00 MB", "1.00 GB"],
        ["500 ms", "no finite value"],
    )


def test_lines_have_null_where_there_is_no_finite_number():
    assert wire(lines())["columns"]["ring"]["y"] == [0.5, None]


def test_a_point_is_labelled_in_the_readers_units():
    point = Point(key="now", label=say("{s}", s=(14e9, BYTES)), x=1e6, y=0.5)
    sent = wire(lines(points=(point,)), Display(binary=True))
    assert sent["points"][0]["label"] == "13.0 GiB"


def test_a_rule_names_its_axis():
    rule = Rule(key="have", label="you have", axis="y", at=0.25)
    assert wire(lines(rules=(rule,)))["rules"][0]["axis"] == "y"


def test_an_axis_carries_its_marks():
    texts = [text for _, text in wire(lines())["x"]["ticks"]]
    assert texts == ["1 MB", "10 MB", "100 MB", "1 GB"]


def test_the_parts_of_a_bar_follow_one_another():
    bar = Bar(key="a", label="a", segments=(part("one", 0.25), part("two", 0.5)))
    sent = wire(Bars(title="", axis=TIME, bars=(bar,)))["bars"][0]
    assert [(s["start"], s["end"]) for s in sent["segments"]] == [(0.0, 0.25), (0.25, 0.75)]


def test_a_bar_says_its_total():
    bar = Bar(key="a", label="a", segments=(part("one", 0.25), part("two", 0.5)))
    assert wire(Bars(title="", axis=TIME, bars=(bar,)))["bars"][0]["text"] == "750 ms"


def colored(*names):
    """Bars of one part each, every one in a color of its own."""
    colors = ("compute", "memory")
    parts = [replace(part(name, 1.0), color=c) for name, c in zip(names, colors, strict=True)]
    bars = tuple(Bar(key=c, label=c, segments=(p,)) for c, p in zip(colors, parts, strict=True))
    return Bars(title="", axis=TIME, bars=bars)


def test_the_parts_of_bars_have_a_legend():
    assert wire(colored("busy", "idle"))["keys"] == [("busy", "compute"), ("idle", "memory")]


def test_one_name_alone_is_no_legend():
    assert wire(colored("sent", "sent"))["keys"] == []


def test_a_span_says_how_long_it_is():
    span = Span(key="s", lane="a", start=0.1, end=0.3, label="s", color="compute", exposed=True)
    view = Timeline(title="", axis=TIME, lanes=(Lane(key="a", label="a"),), spans=(span,))
    sent = wire(view)["spans"][0]
    assert (sent["text"], sent["exposed"]) == ("200 ms", True)


def test_a_heatmap_has_a_text_for_every_cell():
    view = Heatmap(
        title="", x_label="", y_label="", x=("8",), y=("1",), values=((0.5,),), quantity=SHARE
    )
    assert wire(view)["texts"] == [["50.0 %"]]


def test_a_table_writes_its_cells():
    view = Table(title="t", columns=("a",), rows=((say("{s}", s=(1e9, BYTES)),),))
    assert wire(view)["rows"] == [["1.00 GB"]]


def test_an_empty_table_is_no_html():
    assert wire(Table(title="", columns=(), rows=()))["html"] == ""


def test_a_cell_that_cites_is_its_keys():
    view = Table(title="t", columns=("a",), rows=((Citation(("li2020", "hockney1994")),),))
    assert wire(view)["rows"] == [["li2020, hockney1994"]]


def test_a_formula_sends_the_text_of_every_symbol():
    sent = reply({"calculator": "gradient_sync"})["outputs"]["formula"]
    assert (sent["equation"], sent["symbols"]["T"]) == (RING_ALL_REDUCE.name, "78.7 ms")


def test_a_formula_links_its_symbols_to_inputs():
    view = Formula(title="", equation=RING_ALL_REDUCE, symbols={}, inputs={"n": "world_size"})
    assert wire(view)["inputs"] == {"n": "world_size"}


def test_a_remedy_sends_its_change_as_a_url_would():
    remedy = Remedy(key="port", label="Faster", change={"port": 1e11, "overlap": True}, after=0.5)
    view = Advice(title="", verdict="", figure="", now=1.0, quantity=SECONDS, remedies=(remedy,))
    assert wire(view)["remedies"][0]["change"] == {"port": "1e11", "overlap": "on"}


def challenge(*met):
    return Challenge(
        title="",
        goal="Hide it.",
        conditions=tuple(Condition(text="c", met=m) for m in met),
        hints=("h",),
        start={"parameters": 70e9},
        solution={"port": 1e11},
    )


def test_a_challenge_is_met_when_all_conditions_are():
    assert (wire(challenge(True, True))["met"], wire(challenge(True, False))["met"]) == (
        True,
        False,
    )


def test_the_solution_of_a_challenge_is_never_sent():
    assert "1e11" not in str(wire(challenge(True)))


def test_code_is_sent_as_it_is():
    sent = wire(Code(title="c", language="toml", text="a = 1 < 2"))
    assert (sent["language"], sent["text"]) == ("toml", "a = 1 < 2")


def scene(*texts):
    frames = tuple(
        Frame(
            caption=f"frame {i}",
            shapes=(
                Shape(key="same", tag="rect", attributes={"x": "0"}),
                Shape(key="sum", tag="text", attributes={"x": str(i)}, text=text),
            ),
        )
        for i, text in enumerate(texts)
    )
    return Scene(title="Ring", width=100, height=50, frames=frames)


def test_the_first_frame_of_a_scene_changes_nothing():
    assert wire(scene("1", "2"))["frames"][0]["changes"] == []


def test_the_drawing_is_the_opening_frame_and_the_first_frame_leads_back_to_the_beginning():
    sent = wire(replace(scene("1", "2", "3"), opening=2))
    assert ">3</text>" in sent["svg"]
    assert sent["frames"][0]["changes"] == [[1, {"x": "0"}, "1"]]
    assert sent["frames"][2]["changes"] == [[1, {"x": "2"}, "3"]]


def test_an_attribute_that_a_frame_lacks_is_taken_away():
    first, second = scene("1", "1").frames
    bare = replace(first, shapes=(first.shapes[0], replace(first.shapes[1], attributes={})))
    sent = wire(replace(scene("1", "1"), frames=(bare, second), opening=1))
    assert sent["frames"][0]["changes"] == [[1, {"x": None}, None]]


def test_a_frame_sends_only_what_changed():
    assert wire(scene("1", "2"))["frames"][1]["changes"] == [[1, {"x": "1"}, "2"]]


def test_an_unchanged_text_is_not_sent_again():
    assert wire(scene("1", "1"))["frames"][1]["changes"] == [[1, {"x": "1"}, None]]


def test_every_frame_has_its_caption():
    assert [f["caption"] for f in wire(scene("1", "2"))["frames"]] == ["frame 0", "frame 1"]


@pytest.mark.parametrize(
    ("view", "kind"), [(lines(), "lines"), (scene("1"), "scene"), (challenge(True), "challenge")]
)
def test_every_view_names_its_kind(view, kind):
    assert wire(view)["kind"] == kind
