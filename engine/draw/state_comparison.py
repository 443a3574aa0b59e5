"""Comparison of saved states of a calculator: differing inputs and numbers, step by step.

The reader has named the states; between two of them the inputs are changed one after another, and
the first number that differs is followed on its way.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.calculator import Calculator, LazyViews, make
from engine.core.inputs import InputError, Scalar, Text
from engine.core.numbers import Display, format_value
from engine.core.text import render_text
from engine.core.views import Badge, Value, View
from engine.draw.escape import escape

MAX_STEPS = 16  # changes that are followed one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A named state: inputs, numbers and badges; `problem` explains what is wrong with it."""

    name: str
    values: Mapping[str, Scalar]
    views: Mapping[str, View]
    problem: str
    sound: bool


def comparison_html(request: str, calculator: Calculator, display: Display) -> str:
    """Return the comparison as an HTML fragment.

    Args:
        request: JSON list of {"name": of the state, "values": {input: SI text}}.
        calculator: whose states they are.
        display: how the reader wants numbers shown.
    """
    states = [_state(calculator, state["name"], state["values"]) for state in json.loads(request)]
    problems = [
        f"<p>{escape(f'{state.name}: {state.problem}')}</p>" for state in states if state.problem
    ]
    sound = [state for state in states if state.sound]
    inputs = _table("Input", sound, _inputs(calculator, sound))
    numbers = _table("Number", sound, _numbers(sound, display))
    same = "" if inputs or len(sound) < 2 else "<p>These states have the same inputs.</p>"
    return "".join([*problems, same, inputs, _steps_html(calculator, sound, display), numbers])


def _state(calculator: Calculator, name: str, texts: Mapping[str, str]) -> State:
    """Return the state; unknown or invalid inputs get their defaults."""
    values: dict[str, Scalar] = dict(calculator.defaults)
    problems, sound = [], True
    for key, text in texts.items():
        try:
            if key not in calculator.fields:
                raise InputError(f"there is no input '{key}' any more")
            values[key] = calculator.fields[key].read(str(text), typed=False)
        except InputError as error:
            problems.append(str(error))
    try:
        views = _number_views(calculator.lazy(make(calculator, values)))
    except InputError as error:
        problems.append(str(error))
        views, sound = {}, False
    problem = "; ".join(problems)
    return State(name=name, values=values, views=views, problem=problem, sound=sound)


def _number_views(lazy: LazyViews) -> dict[str, View]:
    """Return numbers and badges; charts are not computed."""
    views = lazy.compute(lazy.ready)
    if not any(isinstance(view, Value) for view in views.values()):
        views = lazy.compute()
    return {name: view for name, view in views.items() if isinstance(view, Value | Badge)}


def _inputs(calculator: Calculator, states: list[State]) -> Iterator[tuple[str, list[str]]]:
    for key in _differing_inputs(calculator, states):
        yield calculator.fields[key].label, [_value_text(calculator, key, s.values) for s in states]


def _differing_inputs(calculator: Calculator, states: list[State]) -> list[str]:
    return [key for key in calculator.fields if len({state.values[key] for state in states}) > 1]


def _value_text(calculator: Calculator, key: str, values: Mapping[str, Scalar]) -> str:
    field = calculator.fields[key]
    return field.brief(values[key]) if isinstance(field, Text) else field.show(values[key])


def _numbers(states: list[State], display: Display) -> Iterator[tuple[str, list[str]]]:
    names = dict.fromkeys(name for state in states for name in state.views)
    for name in names:
        views = [state.views.get(name) for state in states]
        cells = [_text(view, display) for view in views]
        if len({*cells}) > 1:
            yield next(_label(view) for view in views if view), cells


def _label(view: View) -> str:
    return view.label if isinstance(view, Value) else "Verdict"


def _text(view: View | None, display: Display) -> str:
    if isinstance(view, Value):
        return format_value(view.value, view.quantity, display)
    return f"{view.text}: {render_text(view.sentence, display)}" if isinstance(view, Badge) else "–"


def _table(kind: str, states: list[State], rows: Iterable[tuple[str, list[str]]]) -> str:
    table_rows = list(rows)
    if len(states) < 2 or not table_rows:
        return ""
    head = [kind, *(state.name for state in states)]
    return _html(f"{kind}s that differ", head, [(name, *cells) for name, cells in table_rows])


def _html(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    table = f"<table><caption>{escape(title)}</caption><thead><tr>{columns}</tr></thead>"
    return f'<div class="scroll" tabindex="0">{table}<tbody>{lines}</tbody></table></div>'


def _steps_html(calculator: Calculator, states: list[State], display: Display) -> str:
    """Return the change from the first of two states to the second, input by input."""
    if len(states) != 2:
        return ""
    before, after = states
    keys = _differing_inputs(calculator, states)
    name = _first_difference(before, after, display)
    if not name or not 1 < len(keys) <= MAX_STEPS:
        return ""

    def at(values: Mapping[str, Scalar]) -> str:
        return _text(calculator.lazy(make(calculator, values)).compute([name]).get(name), display)

    rows = _step_rows(calculator, before, after, keys, at)
    label = _label(before.views[name])
    title = f"{label}: from {_text(before.views[name], display)}, one change after another"
    order = "<p>In another order the single changes weigh differently; their end is the same.</p>"
    return _html(title, ["Change", f"{label} then"], rows) + order


def _first_difference(before: State, after: State, display: Display) -> str:
    """Return the name of the first number that differs, or ""."""
    for name, view in before.views.items():
        then = after.views.get(name)
        if isinstance(view, Value) and _text(view, display) != _text(then, display):
            return name
    return ""


def _step_rows(
    calculator: Calculator,
    before: State,
    after: State,
    keys: list[str],
    at: Callable[[Mapping[str, Scalar]], str],
) -> Iterator[tuple[str, str]]:
    """Yield (change, resulting number); an invalid step is merged with the next one."""
    now, waiting = dict(before.values), []
    for key in keys:
        now[key] = after.values[key]
        old, new = (_value_text(calculator, key, state.values) for state in (before, after))
        waiting.append(f"{calculator.fields[key].label}: {old} → {new}")
        try:
            then = at(now)
        except InputError:
            continue
        yield "; ".join(waiting), then
        waiting.clear()
