"""Comparison of saved states of a calculator: differing inputs and numbers, step by step.

The reader has named the states. Of two the numbers stand with their change, the largest first; the
inputs are changed one after another, and one number, the headline or any other, is followed.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.calculator import Calculator, LazyViews, make
from engine.core.inputs import InputError, Scalar, Text
from engine.core.numbers import Display, format_value
from engine.core.text import render_text
from engine.core.views import Badge, Value, View
from engine.draw.change import change_text, read_state, relative_size
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
        request: JSON of {"states": [{"name": of the state, "values": {input: SI text}}],
            "trace": the number that is followed from the first of two to the second, or ""}.
        calculator: whose states they are.
        display: how the reader wants numbers shown.
    """
    question = json.loads(request)
    states = [_state(calculator, state["name"], state["values"]) for state in question["states"]]
    problems = [
        f"<p>{escape(f'{state.name}: {state.problem}')}</p>" for state in states if state.problem
    ]
    sound = [state for state in states if state.sound]
    inputs = _table("Input", sound, _inputs(calculator, sound))
    numbers = (
        _changes_html(sound[0], sound[1], display)
        if len(sound) == 2
        else _table("Number", sound, _numbers(sound, display))
    )
    same = "" if inputs or len(sound) < 2 else "<p>These states have the same inputs.</p>"
    steps = _steps_html(calculator, sound, display, question.get("trace", ""))
    return "".join([*problems, same, numbers, steps, inputs])


def _state(calculator: Calculator, name: str, texts: Mapping[str, str]) -> State:
    """Return the state; unknown or invalid inputs get their defaults."""
    values, problems = read_state(calculator, texts)
    sound = True
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


def _changes_html(before: State, after: State, display: Display) -> str:
    """Return the verdicts of two states and a table of their numbers, largest change first."""
    names = dict.fromkeys((*before.views, *after.views))
    pairs = [(name, before.views.get(name), after.views.get(name)) for name in names]
    texts = [(name, old, new, _text(old, display), _text(new, display)) for name, old, new in pairs]
    verdicts = "".join(
        f"<p><strong>{escape(state.name)}</strong> {escape(text)}</p>"
        for _, old, new, *both in texts
        if both[0] != both[1] and isinstance(old or new, Badge)
        for state, text in zip((before, after), both, strict=True)
    )
    rows = [
        (_size(old, new), name, _label(old or new), then, now, _change(old, new))  # type: ignore[arg-type]
        for name, old, new, then, now in texts
        if then != now and isinstance(old or new, Value)
    ]
    if not rows:
        return verdicts
    lines = "".join(
        f'<tr><th scope="row"><button type="button" data-trace="{escape(name)}">{escape(label)}'
        f"</button></th><td>{escape(then)}</td><td>{escape(now)}</td><td>{escape(change)}</td></tr>"
        for _, name, label, then, now, change in sorted(rows, key=lambda row: -row[0])
    )
    head = "".join(
        f'<th scope="col">{escape(text)}</th>'
        for text in ("Number", before.name, after.name, "Change")
    )
    return (
        f'{verdicts}<div class="scroll" tabindex="0"><table><caption>Numbers that differ</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _size(before: View | None, after: View | None) -> float:
    both = isinstance(before, Value) and isinstance(after, Value)
    return relative_size(before.value, after.value) if both else math.inf  # type: ignore[union-attr]


def _change(before: View | None, after: View | None) -> str:
    both = isinstance(before, Value) and isinstance(after, Value)
    return change_text(before.value, after.value) if both else ""  # type: ignore[union-attr]


def _steps_html(calculator: Calculator, states: list[State], display: Display, trace: str) -> str:
    """Return the change from the first of two states to the second, input by input."""
    if len(states) != 2:
        return ""
    before, after = states
    keys = _differing_inputs(calculator, states)
    differing = _differing_numbers(before, after, display)
    names = (trace, calculator.headline, *differing)
    name = next((name for name in names if name in differing), "")
    if not name or not 1 < len(keys) <= MAX_STEPS:
        return ""

    def at(values: Mapping[str, Scalar]) -> str:
        return _text(calculator.lazy(make(calculator, values)).compute([name]).get(name), display)

    rows = _step_rows(calculator, before, after, keys, at)
    label = _label(before.views[name])
    title = f"{label}: from {_text(before.views[name], display)}, one change after another"
    order = "<p>In another order the single changes weigh differently; their end is the same.</p>"
    return _html(title, ["Change", f"{label} then"], rows) + order


def _differing_numbers(before: State, after: State, display: Display) -> list[str]:
    """Return the names of the numbers that differ."""
    return [
        name
        for name, view in before.views.items()
        if isinstance(view, Value) and _text(view, display) != _text(after.views.get(name), display)
    ]


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
