"""What a page asks for besides the views: receipts, charts in words and as tables, files."""

from collections.abc import Mapping

from engine.calculator import Calculator
from engine.core.inputs import Scalar
from engine.core.numbers import Display
from engine.core.views import Chart, Timeline, Value, View
from engine.draw.alt_text import spoken
from engine.draw.chart_table import table_text
from engine.draw.csv import csv_text
from engine.draw.export_text import taken
from engine.draw.receipt import receipt_fragment
from engine.draw.state_comparison import compared
from engine.draw.trace_event_export import trace_text


def extra(
    calculator: Calculator,
    views: Mapping[str, View],
    values: Mapping[str, Scalar],
    display: Display,
    want: Mapping[str, list[str]],
) -> dict[str, dict[str, str]]:
    """Return kind -> output -> text for what `want` names; unknown outputs are left out.

    Kinds: "receipts", "spoken" and "table" (of a chart), "csv" and "trace" (of a timeline); "copy":
    of the whole calculator, by the kinds of `engine.draw.export_text`; and "compare": states of it,
    as `engine.draw.state_comparison` takes them.
    """
    found: dict[str, dict[str, str]] = {}
    for kind, names in want.items():
        for name in names:
            view = views.get(name)
            if kind == "copy":
                text = taken(name, calculator, values, views, display)
            elif kind == "compare":
                text = compared(name, calculator, display)
            elif view is None:
                continue
            elif kind == "receipts" and isinstance(view, Value):
                text = receipt_fragment(calculator, name, view, values, display)
            else:
                text = _written(kind, view, display)
            found.setdefault(kind, {})[name] = text
    return found


def _written(kind: str, view: View, display: Display) -> str:
    """Return a view as "csv"; a chart's "table" or "spoken" words; a timeline's "trace"."""
    if kind == "csv":
        return csv_text(view)
    if kind == "trace":
        return trace_text(view) if isinstance(view, Timeline) else ""
    if not isinstance(view, Chart):
        return ""
    return table_text(view, display) if kind == "table" else spoken(view, display)
