"""What is wrong in the views of a calculator: axes, curves, rows, handles, challenges, colors."""

from collections.abc import Iterator, Mapping

from builder.calculators.source_locations import Places
from builder.calculators.value_checks import unfitting
from builder.core.problem import Problem
from engine.answer import solved
from engine.calculator import Calculator, make
from engine.core.inputs import Number, Scalar
from engine.core.numbers import show
from engine.core.text import words
from engine.core.views import (
    Axis,
    Badge,
    Bars,
    Challenge,
    Heatmap,
    Lines,
    Series,
    Table,
    Timeline,
    Value,
    View,
)

Fault = tuple[str, str]  # the text in the source that it is about, "" if none; message


def problems(calculator: Calculator, views: Mapping[str, View], at: Places) -> list[Problem]:
    """Return what is wrong in the views of a calculator, so that they cannot be drawn or used.

    Args:
        calculator: that made them.
        views: by output, of its defaults.
        at: the places of its source.
    """
    found: list[Problem] = []
    for name, view in views.items():
        for text, message in _wrong(calculator, view):
            place = at.of_output(name, type(view).__name__, text)
            found.append(at.problem(place, f"output '{name}': {message}"))
    return found


def of_challenges(calculator: Calculator, views: Mapping[str, View], at: Places) -> list[Problem]:
    """Return what is wrong in the challenges among the views; each is asked for its solution."""
    return [
        one
        for name, view in views.items()
        if isinstance(view, Challenge)
        for one in _of_challenge(calculator, name, view, at)
    ]


def _wrong(calculator: Calculator, view: View) -> Iterator[Fault]:
    for side in ("x", "y", "axis", "curve_axis"):
        axis = getattr(view, side, None)
        if isinstance(axis, Axis) and (wrong := _wrong_axis(axis)):
            yield axis.label, wrong
    if isinstance(view, Lines | Timeline):
        yield from _wrong_curves(view.series if isinstance(view, Lines) else view.curves)
    if isinstance(view, Lines) and view.handle:
        yield from _wrong_handle(calculator, view.handle)
    if isinstance(view, Table):
        yield from _wrong_rows(view)


def _wrong_axis(axis: Axis) -> str:
    low, high = (show(one, axis.quantity) for one in (axis.low, axis.high))
    spans = f"the axis '{axis.label}' goes from {low} to {high}"
    if not axis.low < axis.high:
        return f"{spans}; its high has to be above its low"
    if axis.scale != "linear" and axis.low <= 0:
        return f"{spans} on a logarithmic scale, which has no place for zero and below"
    return ""


def _wrong_curves(curves: tuple[Series, ...]) -> Iterator[Fault]:
    for one in curves:
        if len(one.x) != len(one.y):
            yield (
                one.key,
                f"series '{one.key}' has {len(one.x)} x and {len(one.y)} y; "
                "they have to be as many",
            )


def _wrong_handle(calculator: Calculator, handle: str) -> Iterator[Fault]:
    numbers = [name for name, one in calculator.fields.items() if isinstance(one, Number)]
    if handle not in numbers:
        kind = "number" if handle in calculator.fields else "input"
        yield handle, f"handle='{handle}' names no {kind}; there are {', '.join(numbers)}"


def _wrong_rows(table: Table) -> Iterator[Fault]:
    wide = len(table.columns)
    for count, row in enumerate(table.rows, 1):
        if len(row) != wide:
            yield (
                "",
                f"row {count} has {len(row)} cells and the table {wide} columns: "
                + ", ".join(table.columns),
            )
            return


def _of_challenge(
    calculator: Calculator, name: str, view: Challenge, at: Places
) -> Iterator[Problem]:
    """Yield what is wrong with where a challenge begins and how it is said to be met."""
    parts = {"start": view.start, "solution": view.solution}
    wrong = [
        at.problem(at.of_text(key, part), f"output '{name}': its {part}: {message}")
        for part, values in parts.items()
        for key, message in unfitting(calculator, values)
    ]
    yield from wrong
    if wrong:
        return
    unmet = _unmet(calculator, name, {**view.start, **view.solution})
    if unmet:
        message = f"output '{name}': its solution does not meet '{unmet[0]}'"
        yield at.problem(at.of_text("solution"), message)
    if not _unmet(calculator, name, view.start):
        message = f"output '{name}': its start meets all conditions already"
        yield at.problem(at.of_text("start"), message)


def _unmet(calculator: Calculator, name: str, values: Mapping[str, Scalar]) -> list[str]:
    """Return the conditions of a challenge that these inputs do not meet."""
    inputs = make(calculator, values)
    view = solved(calculator.name, inputs).made([name])[name]
    given = view.conditions if isinstance(view, Challenge) else ()
    return [words(one.text) for one in given if not one.met]


def colors(views: Mapping[str, View]) -> tuple[tuple[str, str, str], ...]:
    """Return (output, its kind, color) of every color that the views name."""
    return tuple(
        dict.fromkeys(
            (name, type(view).__name__, color)
            for name, view in views.items()
            for color in _colors(view)
        )
    )


def _colors(view: View) -> Iterator[str]:
    if isinstance(view, Value | Badge):
        yield view.color
    if isinstance(view, Lines):
        yield from (one.color for one in view.series)
    if isinstance(view, Lines | Heatmap):
        yield from (one.color for one in view.points)
    if isinstance(view, Lines | Bars | Timeline):
        yield from (one.color for one in view.rules)
    if isinstance(view, Bars):
        yield from (part.color for bar in view.bars for part in bar.segments)
    if isinstance(view, Timeline):
        yield from (one.color for one in view.spans)
        yield from (one.color for one in view.curves)
        yield from (color for _, color in view.keys)
