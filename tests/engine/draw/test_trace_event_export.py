import json

import pytest

from engine.core.units import COUNT, SECONDS
from engine.core.views import Axis, Lane, Series, Span, Timeline
from engine.draw.reply_extras import trace_text


def span(key, lane, start, end, **more):
    return Span(key=key, lane=lane, start=start, end=end, label=key, color="compute", **more)


@pytest.fixture(scope="module")
def events():
    view = Timeline(
        title="Two stages",
        axis=Axis(label="time", quantity=SECONDS, low=0, high=4e-3),
        lanes=(Lane(key="a", label="stage 0"), Lane(key="b", label="stage 1")),
        spans=(
            span("F", "a", 0.0, 1e-3, links=("batch:0", "stage:0")),
            span("G", "b", 1.5e-3, 3e-3, after=("F",), exposed=True),
        ),
        curves=(Series(key="c", label="held", x=(0.0, 1e-3), y=(0.0, 2.0), color="buffers"),),
        curve_axis=Axis(label="held", quantity=COUNT, low=0, high=2),
    )
    return json.loads(trace_text(view))["traceEvents"]


def of(events, phase):
    return [event for event in events if event["ph"] == phase]


def test_a_span_is_a_complete_event_in_microseconds(events):
    assert [(e["name"], e["ts"], e["dur"]) for e in of(events, "X")] == [
        ("F", 0.0, 1000.0),
        ("G", 1500.0, 1500.0),
    ]


def test_a_lane_is_a_thread_with_its_name(events):
    names = {e["tid"]: e["args"]["name"] for e in of(events, "M") if e["name"] == "thread_name"}
    assert [names[e["tid"]] for e in of(events, "X")] == ["stage 0", "stage 1"]


def test_lanes_keep_their_order(events):
    found = [e for e in of(events, "M") if e["name"] == "thread_sort_index"]
    assert [e["args"]["sort_index"] for e in found] == [1, 2]


def test_a_flow_leads_from_inside_what_was_waited_for_to_what_waited(events):
    (leaves,), (arrives,) = of(events, "s"), of(events, "f")
    assert leaves["id"] == arrives["id"]
    assert 0 <= leaves["ts"] < 1000
    assert (arrives["ts"], arrives["bp"]) == (1500.0, "e")


def test_a_curve_is_a_counter(events):
    assert [(e["ts"], e["args"]["value"]) for e in of(events, "C")] == [(0.0, 0.0), (1000.0, 2.0)]


def test_what_a_span_belongs_to_is_told(events):
    assert of(events, "X")[0]["args"] == {"key": "F", "links": "batch:0 stage:0"}
