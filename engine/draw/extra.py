"""What a page asks for besides the views: receipts, charts in words and as tables, files."""

from collections.abc import Mapping

from engine.basis.inputs import Scalar
from engine.basis.numbers import Display
from engine.basis.views import Chart, Timeline, Value, View
from engine.calculator import Calculator
from engine.draw.compare import compared
from engine.draw.csv import csv_text
from engine.draw.receipt import receipt_fragment
from engine.draw.spoken import spoken
from engine.draw.table_of_chart import table_text
from engine.draw.taken import taken
from engine.draw.trace import trace_text


def extra(
    calculator: Calculator,
    views: Mapping[str, View],
    values: Mapping[str, Scalar],
    display: Display,
    want: Mapping[str, list[str]],
) -> dict[str, dict[str, str]]:
    """Return kind -> output -> text for what `want` names; unknown outputs are left out.

    Kinds: "receipts", "spoken" and "table" (of a chart), "csv" and "trace" (of a timeline);
    "copy": of the whole calculator, by the kinds of `engine.draw.taken`; and "compare": states of
    it, as `engine.draw.compare` takes them.
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
