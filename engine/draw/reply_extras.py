"""Extra texts of a reply: receipts, alt texts, tables, CSV, traces, exports, comparisons."""

from collections.abc import Mapping

from engine.calculator import Calculator
from engine.core.inputs import Scalar
from engine.core.numbers import Display
from engine.core.views import Chart, Timeline, Value, View
from engine.draw.alt_text import chart_alt_text
from engine.draw.chart_table import table_text
from engine.draw.csv import csv_text
from engine.draw.export_text import export_text
from engine.draw.receipt import receipt_fragment
from engine.draw.state_comparison import comparison_html
from engine.draw.trace_event_export import trace_text


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
