"""A calculator live in a notebook: its inputs and its results, as a widget of anywidget.

The page's part is `widget.js`. What it sends is a part of the request that a page sends
(`engine.answer`), and the inputs' states that it gets are those of a page's reply.
"""

from collections.abc import Mapping
from pkgutil import get_data
from typing import Any

from engine.answer import read_inputs, reply, solved_views
from engine.calculator import load, make
from engine.core.input_units import Scalar
from engine.core.inputs import Choice, Field, Number, Switch, Text
from engine.core.parsing import exact_text
from engine.core.views import Value
from engine.library.notebook import calculate, notebook_package

_OPERATIONS = ("typed", "slide", "nudge")


class LiveCalculator:
    """A calculator whose inputs change one after the other.

    Attributes:
        name: of the calculator.
        values: its inputs in SI units.
        numbers: name -> result in SI units, for the last inputs that can be used.
        form: what a page shows of each input, with its error.
        html: the results for the last inputs that can be used.
    """

    def __init__(self, name: str, values: Mapping[str, Scalar]) -> None:
        self.name, self.values = name, dict(values)
        self.numbers: dict[str, float] = {}
        self.form: list[dict[str, Any]] = []
        self.html = ""
        self.change({})

    def change(self, request: Mapping[str, Any]) -> None:
        """Take a part of a request: texts as typed, places of sliders, steps.

        What cannot be used changes no result; its input then has an error.
        """
        calculator = load(self.name)
        asked = {key: request.get(key, {}) for key in _OPERATIONS}
        asked["values"] = {key: exact_text(value) for key, value in self.values.items()}
        states = reply({"calculator": self.name, **asked, "only": []})["inputs"]
        self.form = [
            {"name": name, **_declaration(field), **states[name]}
            for name, field in calculator.fields.items()
            if not (isinstance(field, Text) and field.reader)  # a page's script reads those files
        ]
        values, errors, _ = read_inputs(calculator, asked)
        if errors:
            return
        self.values = values
        views = solved_views(self.name, make(calculator, values)).compute()
        from engine.library.display import views_html  # `import wallclock` is quick without it

        self.numbers = {name: view.value for name, view in views.items() if isinstance(view, Value)}
        self.html = views_html(calculator.title, views)


def _declaration(field: Field) -> dict[str, Any]:
    """Return what a page shows of an input beside its state."""
    options = list(map(list, field.options.items())) if isinstance(field, Choice) else []
    kinds = {Number: "number", Choice: "choice", Switch: "switch", Text: "text"}
    return {
        "kind": kinds.get(type(field), "line"),
        "label": field.label,
        "help": field.help,
        "advanced": field.advanced,
        "options": options,
    }


def widget(calculator: str, /, **inputs: Scalar) -> Any:  # noqa: ANN401 (anywidget is an extra)
    """Return a widget that shows a calculator live: its inputs, and what follows from them.

    The last line of a cell shows it. `.live.values` and `.live.numbers` of it are its inputs and
    results now, in SI units; `observe` on its trait `html` tells every change.

    Args:
        calculator: its name, as `wallclock list` names it.
        inputs: where it begins, as in `calculate`.

    Raises:
        InputError: there is no such calculator or input, or a value cannot be used.
        ImportError: anywidget is not installed.

    Example:
        >>> lab = widget("gradient_sync", port="400 Gb/s")
        >>> 0 < lab.live.numbers["all_reduce_time"] < 1
        True
    """
    anywidget = notebook_package("anywidget")
    traitlets = notebook_package("traitlets")
    live = LiveCalculator(calculator, calculate(calculator, **inputs).inputs)
    script = (get_data(__package__, "widget.js") or b"").decode()
    synced = {
        "form": traitlets.List(live.form).tag(sync=True),
        "html": traitlets.Unicode(live.html).tag(sync=True),
        "change": traitlets.Dict().tag(sync=True),
        "answered": traitlets.Int(0).tag(sync=True),
    }
    made = type("Calculator", (anywidget.AnyWidget,), {"_esm": script, **synced})()
    made.live = live

    def answer(event: Mapping[str, Any]) -> None:
        live.change(event["new"])
        with made.hold_sync():
            made.form, made.html = live.form, live.html
            made.answered = event["new"].get("number", 0)

    made.observe(answer, "change")
    return made
