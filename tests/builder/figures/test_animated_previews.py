"""The states of an opening figure: which are asked for, which are shown, and in which order."""

from types import SimpleNamespace

import pytest

from builder.core.build_cache import BuildCache
from builder.figures import animated_previews
from builder.markdown.article_tree import ArticleFacts
from engine.core.inputs import Number, Switch
from engine.core.views import Frame, Scene
from tests.each import each


def guide(slug, *figures, kind="guide", shown=True):
    prose = SimpleNamespace(facts=ArticleFacts(drawn=figures if shown else ()))
    return SimpleNamespace(slug=slug, kind=kind), prose


def scene(count, opening=0):
    frames = tuple(Frame(caption="", shapes=()) for _ in range(count))
    return Scene(title="", width=1, height=1, frames=frames, opening=opening)


def tool(name="lab", handle=None, presets=(), view=None):
    return SimpleNamespace(
        name=name,
        views={"out": view or "chart"},
        outputs={"out": {"kind": "lines", **({"handle": handle} if handle else {})}},
        reply={"extra": {"spoken": {"out": "default"}}},
        presets=[{"title": "", "values": one} for one in presets],
    )


class Here:
    """Other processes that are none."""

    def map(self, make, things, *, serial_limit):
        return [make(thing) for thing in things]


def dragged(low, high):
    return Number(label="Size", low=low, high=high)


@pytest.fixture
def asked(monkeypatch):
    """What the engine is asked for; it answers with a chart that says so."""
    found = []

    def reply(request):
        found.append(request)
        kind = "bars" if request["values"].get("bars") else "lines"
        outputs = {} if request["values"].get("fails") else {"out": {"kind": kind}}
        return {"outputs": outputs, "extra": {"spoken": {"out": str(request["values"])}}}

    fields = {"size": dragged(0, 100), "on": Switch(label="On")}
    monkeypatch.setattr(animated_previews, "reply", reply)
    monkeypatch.setattr(
        animated_previews.calculators, "load", lambda name: SimpleNamespace(fields=fields)
    )
    monkeypatch.setattr(
        animated_previews.hero_figures,
        "animated_figure",
        lambda frames, style: style + "|".join(frames),
    )
    monkeypatch.setattr(animated_previews, "scene_svg", lambda one: f"frame {one.opening}")
    return found


def spoken(charts):
    return {state: chart["spoken"] for state, chart in charts.items()}


def made(guides, tools, draw=spoken, memo=None):
    means = animated_previews.PreviewSettings(
        style=">", draw=draw, key=lambda *names: "/".join(names), layout="look"
    )
    found = animated_previews.render_previews(guides, tools, means, memo or BuildCache(), Here())
    return {slug: picture.decode() for slug, picture in found.items()}


def values_of(asked):
    return [request["values"] for request in asked]


def test_a_chart_shows_its_presets_behind_its_defaults(asked):
    one = tool(presets=[{"size": "1"}, {"size": "2"}])
    assert made([guide("a", ("lab", "out"))], {"lab": one}) == {
        "a": ">default|{'size': '1'}|{'size': '2'}"
    }
    assert asked[0] == {
        "calculator": "lab",
        "values": {"size": "1"},
        "only": ["out"],
        "want": {"spoken": ["out"]},
    }


def test_of_many_presets_the_first_five_are_shown(asked):
    one = tool(presets=[{"size": str(at)} for at in range(7)])
    made([guide("a", ("lab", "out"))], {"lab": one})
    assert values_of(asked) == [{"size": str(at)} for at in range(5)]


def test_a_handle_is_dragged_down_and_up_again(asked):
    one = tool(handle="size", presets=[{"size": "9"}])
    made([guide("a", ("lab", "out"))], {"lab": one})
    assert [float(one["size"]) for one in values_of(asked)] == [50, 30, 15, 40, 65]


def test_a_handle_that_is_no_number_stays_where_it_is(asked):
    assert made([guide("a", ("lab", "out"))], {"lab": tool(handle="on")}) == {"a": ">default"}
    assert asked == []


def test_a_state_without_the_chart_is_left_out(asked):
    one = tool(presets=[{"fails": "1"}, {"bars": "1"}, {"size": "3"}])
    assert made([guide("a", ("lab", "out"))], {"lab": one}) == {"a": ">default|{'size': '3'}"}


def test_states_that_look_alike_are_shown_once(asked):
    one = tool(presets=[{"size": "1"}, {"size": "2"}])
    found = made(
        [guide("a", ("lab", "out"))], {"lab": one}, lambda charts: dict.fromkeys(charts, "x")
    )
    assert found == {"a": ">x"}


def test_the_states_of_all_guides_are_drawn_in_one_call(asked):
    calls = []

    def draw(charts):
        calls.append(charts)
        return dict.fromkeys(charts, "x")

    tools = {"lab": tool(presets=[{"size": "1"}]), "desk": tool("desk")}
    memo = BuildCache()
    guides = [guide("a", ("lab", "out")), guide("b", ("desk", "out"))]
    made(guides, tools, draw, memo)
    assert [list(charts) for charts in calls] == [["lab.out.0", "lab.out.1", "desk.out.0"]]
    assert calls[0]["lab.out.0"] == {"view": {"kind": "lines"}, "spoken": "default"}
    assert calls[0]["lab.out.1"] == {"view": {"kind": "lines"}, "spoken": "{'size': '1'}"}
    made(guides, tools, draw, memo.for_next_build())
    assert len(calls) == len(asked) == 1


def test_a_scene_shows_its_frames_and_asks_for_nothing(asked):
    found = made([guide("a", ("lab", "out"))], {"lab": tool(view=scene(3, opening=1))})
    assert found == {"a": ">frame 1|frame 2|frame 0"}
    assert asked == []


def test_a_figure_of_one_state_is_no_moving_picture(asked, monkeypatch):
    monkeypatch.setattr(animated_previews.hero_figures, "animated_figure", lambda frames, style: "")
    assert made([guide("a", ("lab", "out"))], {"lab": tool()}) == {}


def test_a_guide_opens_with_the_first_figure_that_no_guide_before_it_opens_with(asked):
    tools = {name: tool(name, view=scene(at)) for at, name in enumerate(("one", "two"), 1)}
    one, two = ("one", "out"), ("two", "out")
    found = made([guide("a", one, two), guide("b", one, two), guide("c", one, two)], tools)
    assert found == {"a": ">frame 0", "b": ">frame 0|frame 1"}


@each(
    "page",
    [
        guide("a", ("lab", "out"), kind="tool"),
        guide("a", ("lab", "out"), shown=False),
        guide("a"),
    ],
)
def test_what_is_no_guide_or_has_no_figure_opens_with_none(page):
    assert made([page], {}) == {}


def test_a_figure_of_a_scene_is_one_too(asked):
    assert made([guide("a", ("lab", "out"))], {"lab": tool(view=scene(2))}) == {
        "a": ">frame 0|frame 1"
    }


@each(
    ("count", "opening", "places"),
    [
        (1, 0, [0]),
        (2, 0, [0, 1]),
        (2, 1, [1, 0]),
        (3, 0, [0, 1, 2]),
        (6, 0, [0, 1, 2, 3, 4, 5]),
        (7, 0, [0, 1, 2, 4, 5, 6]),
        (7, 3, [3, 4, 5, 6, 0, 1]),  # it takes the place of the nearest, 2
        (11, 0, [0, 2, 4, 6, 8, 10]),
        (11, 10, [10, 0, 2, 4, 6, 8]),
        (11, 5, [5, 6, 8, 10, 0, 2]),  # of two that are as near, of the first
        (11, 7, [7, 8, 10, 0, 2, 4]),
    ],
)
def test_frames_stand_at_even_distances_and_begin_with_the_opening(count, opening, places):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(animated_previews, "scene_svg", lambda one: one.opening)
        assert animated_previews.scene_frames(scene(count, opening)) == places
