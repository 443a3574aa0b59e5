"""Timelines in the Trace Event Format, for Perfetto and Chrome's tracing page.

A lane is a thread, a span a complete event ("X"), a curve a counter ("C"), and what a span waited
for a flow ("s" to "f"). Times are microseconds.
"""

import json
from collections.abc import Iterator
from typing import Any

from engine.core.units import MICRO
from engine.core.views import Series, Span, Timeline
from engine.draw.chart_json import json_number

_PROCESS = 1
# A flow begins in the span that encloses its time, and a span's end is no longer inside it.
_JUST_BEFORE_THE_END = 0.999

Event = dict[str, Any]


def trace_text(view: Timeline) -> str:
    """Return the timeline as Trace Event JSON."""
    threads = {lane.key: number for number, lane in enumerate(view.lanes, 1)}
    events = [
        _metadata_event("process_name", 0, {"name": view.title}),
        *(
            _metadata_event("thread_name", threads[lane.key], {"name": lane.label})
            for lane in view.lanes
        ),
        *(_metadata_event("thread_sort_index", n, {"sort_index": n}) for n in threads.values()),
        *(_complete_event(span, threads[span.lane]) for span in view.spans),
        *_flow_events(view, threads),
        *(event for series in view.curves for event in _counter_events(series)),
    ]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, ensure_ascii=False)


def _metadata_event(name: str, thread: int, args: Event) -> Event:
    return {"ph": "M", "name": name, "pid": _PROCESS, "tid": thread, "args": args}


def _time(seconds: float) -> float | None:
    return json_number(seconds / MICRO)


def _complete_event(span: Span, thread: int) -> Event:
    args: Event = {"key": span.key}
    if span.exposed:
        args["exposed"] = True
    if span.links:
        args["links"] = " ".join(span.links)
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.color,
        "ts": _time(span.start),
        "dur": _time(span.end - span.start),
        "pid": _PROCESS,
        "tid": thread,
        "args": args,
    }


def _flow_events(view: Timeline, threads: dict[str, int]) -> Iterator[Event]:
    spans = {span.key: span for span in view.spans}
    waits = [(spans[key], span) for span in view.spans for key in span.after if key in spans]
    for number, (before, span) in enumerate(waits, 1):
        leaves = before.start + _JUST_BEFORE_THE_END * (before.end - before.start)
        ends = (("s", leaves, before), ("f", span.start, span))
        for phase, time, where in ends:
            yield {
                "ph": phase,
                "name": "waits",
                "cat": "waits",
                "id": number,
                "ts": _time(time),
                "pid": _PROCESS,
                "tid": threads[where.lane],
                **({"bp": "e"} if phase == "f" else {}),
            }


def _counter_events(series: Series) -> Iterator[Event]:
    for x, y in zip(series.x, series.y, strict=True):
        value = {"value": json_number(y)}
        yield {"ph": "C", "name": series.label, "pid": _PROCESS, "ts": _time(x), "args": value}
