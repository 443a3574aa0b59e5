"""Extra texts of a reply: receipts, alt texts, tables, CSV, traces, exports, comparisons."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine.calculator import Calculator, changed_inputs
from engine.core.inputs import Scalar
from engine.core.numbers import Display, format_value, other_system
from engine.core.text import render_text, with_published_digits
from engine.core.units import MICRO
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    Chart,
    Heatmap,
    Lines,
    Point,
    Published,
    Rule,
    Series,
    Span,
    Timeline,
    Value,
    View,
)
from engine.draw.chart_json import json_number
from engine.draw.csv import csv_text
from engine.draw.escape import escape
from engine.draw.export_text import export_text, table_text
from engine.draw.fragments import cite_links
from engine.draw.state_comparison import comparison_html


def extra_texts(
    calculator: Calculator,
    views: Mapping[str, View],
    values: Mapping[str, Scalar],
    display: Display,
    want: Mapping[str, list[str]],
) -> dict[str, dict[str, str]]:
    """Return kind -> output -> text for the extras in `want`; unknown outputs are skipped.

    Kinds: "receipts", "spoken" and "table" (of a chart), "csv" and "trace" (of a timeline); "copy":
    of the whole calculator, by the kinds of `engine.draw.export_text`; and "compare": states of it,
    as `engine.draw.state_comparison` takes them.
    """
    texts: dict[str, dict[str, str]] = {}
    for kind, names in want.items():
        for name in names:
            view = views.get(name)
            if kind == "copy":
                text = export_text(name, calculator, values, views, display)
            elif kind == "compare":
                text = comparison_html(name, calculator, display)
            elif view is None:
                continue
            elif kind == "receipts" and isinstance(view, Value):
                text = receipt_fragment(calculator, name, view, values, display)
            else:
                text = _view_text(kind, view, display)
            texts.setdefault(kind, {})[name] = text
    return texts


def _view_text(kind: str, view: View, display: Display) -> str:
    """Return a view as "csv", a chart as "table" or "spoken" text, a timeline as "trace"."""
    if kind == "csv":
        return csv_text(view)
    if kind == "trace":
        return trace_text(view) if isinstance(view, Timeline) else ""
    if not isinstance(view, Chart):
        return ""
    return table_text(view, display) if kind == "table" else chart_alt_text(view, display)


# Alternative text of charts for screen readers: title, extent and marks.

_MAX_LANES = 8  # up to so many lanes are told one by one


def chart_alt_text(view: Chart, display: Display) -> str:
    """Return the alternative text of a chart."""
    return _BY_TYPE[type(view)](view, display)


def axis_name(axis: Axis) -> str:
    """Return the label of an axis, with its scale if logarithmic."""
    return f"{axis.label} ({axis.scale})" if axis.scale == "log" else axis.label


def _marks_text(marks: Sequence[Point | Rule], display: Display) -> str:
    labels = [label for mark in marks if (label := render_text(mark.label, display))]
    return f" Marked: {', '.join(labels)}." if labels else ""


def _lines(view: Lines, display: Display) -> str:
    def extent(axis: Axis) -> str:
        low, high = (format_value(v, axis.quantity, display) for v in (axis.low, axis.high))
        return f"{axis_name(axis)} from {low} to {high}"

    return (
        f"{view.title}. Across: {extent(view.x)}; up: {extent(view.y)}. "
        f"Curves: {', '.join(s.label or axis_name(view.y) for s in view.series)}."
        + _marks_text([*view.points, *view.rules], display)
    )


def _bars(view: Bars, display: Display) -> str:
    def total(bar: Bar) -> str:
        return format_value(sum(part.value for part in bar.segments), view.axis.quantity, display)

    totals = "; ".join(f"{bar.label}: {total(bar)}" for bar in view.bars)
    return f"{view.title}. {totals}.{_marks_text(view.rules, display)}"


def _heatmap(view: Heatmap, display: Display) -> str:
    finite = [v for row in view.values for v in row if math.isfinite(v)] or [0.0]
    low, high = (
        format_value(value, view.quantity, display) for value in (min(finite), max(finite))
    )
    text = f"{view.title}. {view.y_label} down, {view.x_label} across; from {low} to {high}."
    return text + _marks_text(view.points, display)


def _timeline(view: Timeline, display: Display) -> str:
    def text(seconds: float) -> str:
        return format_value(seconds, view.axis.quantity, display)

    busy = dict.fromkeys((lane.key for lane in view.lanes), 0.0)
    exposed = dict(busy)
    for span in view.spans:
        if span.color == "idle":
            continue  # drawn waiting is no work
        busy[span.lane] += span.end - span.start
        exposed[span.lane] += (span.end - span.start) * span.exposed
    if len(view.lanes) > _MAX_LANES:
        least, most = min(busy.values()), max(busy.values())
        lanes = f"{len(view.lanes)} lanes, each busy for {text(least)} to {text(most)}"
    else:
        lanes = "; ".join(
            f"{lane.label} busy for {text(busy[lane.key])}"
            + (f", {text(exposed[lane.key])} exposed" if exposed[lane.key] else "")
            for lane in view.lanes
        )
    return f"{view.title}. {lanes}.{_marks_text(view.rules, display)}{_curves(view, display)}"


def _curves(view: Timeline, display: Display) -> str:
    axis = view.curve_axis
    if axis is None or not view.curves:
        return ""
    most = [
        f"{series.label} at most {format_value(max(series.y, default=0.0), axis.quantity, display)}"
        for series in view.curves
    ]
    return f" {axis.label}: {'; '.join(most)}."


_BY_TYPE: Mapping[type, Callable[[Any, Display], str]] = {
    Lines: _lines,
    Bars: _bars,
    Heatmap: _heatmap,
    Timeline: _timeline,
}


# Receipts as HTML fragments: formula, substitution, assumptions, sources.

BASES = {
    "modelled": "Modeled: computed by the formula, not measured.",
    "simulated": "Simulated: the outcome of an event simulation, not measured.",
    "measured": "Measured by the source.",
    "compared": "The model's own error: its predictions against what the sources measured.",
    "datasheet": "From the vendor's datasheet.",
    "definition": "True by definition of the units.",
}


def receipt_fragment(
    calculator: Calculator,
    name: str,
    view: Value,
    values: Mapping[str, Scalar],
    display: Display,
) -> str:
    """Return the receipt of `view`, the output `name`, for the input values (SI)."""
    receipt = view.receipt
    text = format_value(view.value, view.quantity, display)
    also = other_system(view.value, view.quantity, display)
    sources = dict.fromkeys(
        (receipt.equation.sources if receipt.equation else ()) + receipt.sources
    )
    parts = [
        f'<p class="receipt-title">{escape(view.label)}</p><p class="big">{text}'
        + (f' <span class="also">= {also}</span>' if also else "")
        + "</p>",
        _equation(view, display),
        _list("Assumptions", [render_text(item, display) for item in receipt.assumptions]),
        _published(receipt.published, display) if receipt.published else "",
        f'<p class="basis">{BASES[receipt.basis]}</p>',
        _sources(sources),
        _link(calculator, values),
    ]
    return f'<div data-receipt="{calculator.name}.{name}">{"".join(parts)}</div>'


def _equation(view: Value, display: Display) -> str:
    receipt = view.receipt
    if receipt.equation is None:
        return ""
    symbols = {key: format_value(v, q, display) for key, (v, q) in receipt.symbols.items()}
    shown = escape(
        json.dumps(symbols, ensure_ascii=False, separators=(",", ":")), quote=False
    ).replace("'", "&#x27;")
    meanings = "".join(
        f'<li data-symbol="{key}"'
        + (f' data-from="{receipt.inputs[key]}"' if key in receipt.inputs else "")
        + f'><span data-tex="{receipt.equation.name}.{key}"></span> {escape(meaning)}: '
        f"{symbols.get(key, '')}</li>"
        for key, (_, meaning) in receipt.equation.symbols.items()
    )
    # A long formula scrolls, so that a keyboard has to reach it.
    return (
        f'<div data-equation="{receipt.equation.name}" tabindex="0" role="group"'
        f' aria-label="Formula"'
        f" data-symbols='{shown}'></div>"
        f'<ul class="symbols">{meanings}</ul>'
    )


def _list(title: str, items: list[str]) -> str:
    if not items:
        return ""
    return (
        f'<p class="receipt-heading">{title}</p><ul>'
        + "".join(f"<li>{escape(i)}</li>" for i in items)
        + "</ul>"
    )


def _published(published: Published, display: Display) -> str:
    text = render_text(with_published_digits(published.text), display)
    return (
        f'<p class="published"><strong>Published elsewhere:</strong> '
        f"{escape(text)}. {escape(render_text(published.reason, display))} "
        f'<a data-cite="{published.source}" href="#ref-{published.source}">source</a></p>'
    )


def _sources(keys: Mapping[str, None]) -> str:
    if not keys:
        return ""
    return f'<p class="sources">Sources: {cite_links(keys)}</p>'


def _link(calculator: Calculator, values: Mapping[str, Scalar]) -> str:
    query = "&".join(
        f"{calculator.name}.{k}={v}" for k, v in changed_inputs(calculator, values).items()
    )
    return (
        f'<p class="actions"><a data-permalink href="?{escape(query)}">Link to this state</a> '
        '<button type="button" data-copy-link>Copy link</button> '
        '<button type="button" data-copy-cite="number">Cite this number</button> '
        '<button type="button" data-report>Report this number</button></p>'
    )


# Timelines in the Trace Event Format, for Perfetto and Chrome's tracing page.
#
# A lane is a thread, a span a complete event ("X"), a curve a counter ("C"), and what a span waited
# for a flow ("s" to "f"). Times are microseconds.

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
