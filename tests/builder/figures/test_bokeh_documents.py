"""Bokeh documents: the same bytes each time; and every calculator's chart can be drawn."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache
from pathlib import Path

import bokeh
import pytest

from builder.figures import bokeh_documents, bokeh_templates, static_charts
from engine.answer import read_inputs
from engine.calculator import load, make, names
from engine.core.numbers import DEFAULT
from engine.core.units import BYTES, SECONDS, SHARE
from engine.core.views import Axis, Chart, Heatmap, Lane, Rule, Series, Span, Timeline
from engine.draw.reply_extras import chart_alt_text
from engine.draw.view_json import view_json
from tests.each import each

THEME = Path(__file__).parents[3] / "theme"

HEATMAP = Heatmap(
    title="Bubble",
    x_label="micro-batches",
    y_label="stages",
    x=("1", "2", "4"),
    y=("2", "4"),
    values=((0.5, 0.25, 0.1), (0.75, 0.6, float("nan"))),
    quantity=SHARE,
)


def timeline(num_lanes, *, curves=True, name="stage {}"):
    """A timeline of twelve spans a lane, with curves of memory under it."""
    spans = [
        Span(
            key=f"{lane}.{i}",
            lane=str(lane),
            start=0.1 * lane + 0.5 * i,
            end=0.1 * lane + 0.5 * i + 0.3 + 0.02 * (i % 3),
            label=f"{'FB'[i % 2]}{i}",
            color=("compute", "communication")[i % 2],
            exposed=i == 5,
        )
        for lane in range(num_lanes)
        for i in range(12)
    ]
    x = tuple(0.5 * i for i in range(12))
    steps = Series(
        key="m",
        label="stage 0",
        x=x,
        y=tuple(1e9 * (i % 5) for i in range(12)),
        color="activations",
    )
    other = replace(steps, key="n", label="last", y=steps.y[::-1], color="buffers", dashed=True)
    axis = Axis(label="in use", quantity=BYTES, low=0.0, high=5e9)
    return Timeline(
        title="Schedule",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=0.1 * num_lanes + 6.5),
        lanes=tuple(Lane(key=str(i), label=name.format(i)) for i in range(num_lanes)),
        spans=tuple(spans),
        rules=(Rule(key="end", label="last backward", axis="x", at=5.0),),
        curves=(steps, other) if curves else (),
        curve_axis=axis if curves else None,
        player=curves,
    )


@cache
def charts():
    """Every chart of every calculator, by its defaults, and what none of them has."""
    found: dict[str, Chart] = {
        "made.heatmap": HEATMAP,
        **{f"made.lanes{count}": timeline(count) for count in (2, 5, 8, 16, 30, 64, 70)},
        "made.plain": timeline(4, curves=False),
        "made.names": timeline(5, name="a lane with a very long name {}"),
        "made.cut": timeline(9, name="a lane with a name {}"),
    }
    for name in names():
        calculator = load(name)
        values, _, _ = read_inputs(calculator, {})
        for output, view in calculator.compute(make(calculator, values)).items():
            if isinstance(view, Chart):
                found[f"{name}.{output}"] = view
    return found


@cache
def views():
    return {name: view_json(view, DEFAULT) for name, view in charts().items()}


every_chart = each("name", charts)


@every_chart
def test_two_builds_give_the_same_document(name):
    first, second = (json.dumps(bokeh_documents.json_item(name, views()[name])) for _ in range(2))
    assert first == second


def test_a_kept_document_is_the_one_that_bokeh_makes(tmp_path, monkeypatch):
    name, view = next(iter(views().items()))
    made = bokeh_documents.json_item(name, view)
    for damage in ("", "half"):
        assert bokeh_documents.json_item(name, view, tmp_path) == made
        bokeh_documents._document.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(bokeh_templates, "document", lambda kind: pytest.fail("was made again"))
            assert bokeh_documents.json_item(name, view, tmp_path) == made
        bokeh_documents._document.cache_clear()
        (kept,) = tmp_path.iterdir()
        kept.write_bytes(kept.read_bytes()[: len(damage) * 20])


def test_no_two_figures_of_a_page_share_a_model_s_id():
    texts = [
        json.dumps(bokeh_documents.json_item(name, views()[name])["item"]) for name in charts()
    ]
    ids = [{part.split('"')[0] for part in text.split('"id": "')[1:]} for text in texts]
    assert sum(map(len, ids)) == len(set().union(*ids))


def test_no_figure_needs_code_made_from_text():
    assert "CustomJS" not in json.dumps(
        [bokeh_documents.json_item(n, v) for n, v in views().items()]
    )


def test_the_library_is_the_installed_one():
    assert bokeh.__version__.encode() in bokeh_documents.bokeh_js()


@pytest.fixture(scope="module")
def drawn():
    """Every chart as the page's own layout draws it."""
    told = {name: chart_alt_text(chart, DEFAULT) for name, chart in charts().items()}
    shown = {name: {"view": views()[name], "spoken": told[name]} for name in charts()}
    return static_charts.draw_charts(THEME, shown)


@every_chart
def test_every_chart_is_drawn_with_numbers_only(name, drawn):
    ElementTree.fromstring(drawn[name])
    assert not re.search(r"NaN|Infinity|undefined", re.sub(r">[^<]*<", "", drawn[name]))


@every_chart
def test_no_two_curves_or_lanes_of_a_chart_share_a_key(name):
    view = views()[name]
    for group in ("series", "curves", "lanes"):
        keys = [one["key"] for one in view.get(group, ())]
        assert len(keys) == len(set(keys))


def test_no_two_spans_under_a_player_share_a_key():
    played = [view for view in views().values() if view.get("player")]
    lists = [[span["key"] for span in view["spans"]] for view in played]
    assert [len(keys) for keys in lists] == [len(set(keys)) for keys in lists]


def test_ids_depend_on_the_name_and_the_order_of_appearance_alone():
    item = {"root_id": "p7", "roots": [{"id": "p9", "of": {"id": "p7"}, "x": [1, "p9"]}], "n": 2}
    assert bokeh_documents._renumber_ids(item, "lab.curve") == {
        "root_id": "lab-curve-1",
        "roots": [{"id": "lab-curve-2", "of": {"id": "lab-curve-1"}, "x": [1, "p9"]}],
        "n": 2,
    }
