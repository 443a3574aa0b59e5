"""States of one calculator side by side: what differs in inputs and numbers, and what made it so.

The reader has named the states; between two of them the inputs are changed one after another, and
the first number that differs is followed on its way.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.calculator import Calculator, Lazy, make
from engine.core.inputs import InputError, Scalar, Text
from engine.core.numbers import Display, show
from engine.core.text import words
from engine.core.views import Badge, Value, View
from engine.draw.escape import escape

MOST = 16  # changes that are followed one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A named state: its inputs, its numbers and verdicts; not `sound` if `problem` says why."""

    name: str
    values: Mapping[str, Scalar]
    views: Mapping[str, View]
    problem: str
    sound: bool


def compared(request: str, calculator: Calculator, display: Display) -> str:
    """Return the comparison as an HTML fragment.

    Args:
        request: JSON list of {"name": of the state, "values": {input: SI text}}.
        calculator: whose states they are.
        display: how the reader wants numbers shown.
    """
    states = [_state(calculator, one["name"], one["values"]) for one in json.loads(request)]
    told = [f"<p>{escape(f'{one.name}: {one.problem}')}</p>" for one in states if one.problem]
    sound = [one for one in states if one.sound]
    inputs = _table("Input", sound, _inputs(calculator, sound))
    numbers = _table("Number", sound, _numbers(sound, display))
    same = "" if inputs or len(sound) < 2 else "<p>These states have the same inputs.</p>"
    return "".join([*told, same, inputs, _explained(calculator, sound, display), numbers])


def _state(calculator: Calculator, name: str, texts: Mapping[str, str]) -> State:
    """Return the state; an input that is not known, or not allowed, has its default."""
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
        views = _told(calculator.lazy(make(calculator, values)))
    except InputError as error:
        problems.append(str(error))
        views, sound = {}, False
    problem = "; ".join(problems)
    return State(name=name, values=values, views=views, problem=problem, sound=sound)


def _told(lazy: Lazy) -> dict[str, View]:
    """Return numbers and verdicts; charts, which are made when they are looked at, are not made."""
    made = lazy.made(lazy.ready)
    if not any(isinstance(view, Value) for view in made.values()):
        made = lazy.made()
    return {name: view for name, view in made.items() if isinstance(view, Value | Badge)}


def _inputs(calculator: Calculator, states: list[State]) -> Iterator[tuple[str, list[str]]]:
    for key in _differing(calculator, states):
        yield calculator.fields[key].label, [_shown(calculator, key, s.values) for s in states]


def _differing(calculator: Calculator, states: list[State]) -> list[str]:
    return [key for key in calculator.fields if len({state.values[key] for state in states}) > 1]


def _shown(calculator: Calculator, key: str, values: Mapping[str, Scalar]) -> str:
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
        return show(view.value, view.quantity, display)
    return f"{view.text}: {words(view.sentence, display)}" if isinstance(view, Badge) else "–"


def _table(what: str, states: list[State], rows: Iterable[tuple[str, list[str]]]) -> str:
    found = list(rows)
    if len(states) < 2 or not found:
        return ""
    head = [what, *(state.name for state in states)]
    return _html(f"{what}s that differ", head, [(name, *cells) for name, cells in found])


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


def _explained(calculator: Calculator, states: list[State], display: Display) -> str:
    """Return the way from the first of two states to the second, one input after another."""
    if len(states) != 2:
        return ""
    before, after = states
    keys = _differing(calculator, states)
    name = _followed(before, after, display)
    if not name or not 1 < len(keys) <= MOST:
        return ""

    def at(values: Mapping[str, Scalar]) -> str:
        return _text(calculator.lazy(make(calculator, values)).made([name]).get(name), display)

    rows = _steps(calculator, before, after, keys, at)
    label = _label(before.views[name])
    title = f"{label}: from {_text(before.views[name], display)}, one change after another"
    order = "<p>In another order the single changes weigh differently; their end is the same.</p>"
    return _html(title, ["Change", f"{label} then"], rows) + order


def _followed(before: State, after: State, display: Display) -> str:
    """Return the first number that differs, "" if none does."""
    for name, view in before.views.items():
        then = after.views.get(name)
        if isinstance(view, Value) and _text(view, display) != _text(then, display):
            return name
    return ""


def _steps(
    calculator: Calculator,
    before: State,
    after: State,
    keys: list[str],
    at: Callable[[Mapping[str, Scalar]], str],
) -> Iterator[tuple[str, str]]:
    """Yield (change, the number after it); what makes no job by itself goes with the next one."""
    now, waiting = dict(before.values), []
    for key in keys:
        now[key] = after.values[key]
        old, new = (_shown(calculator, key, state.values) for state in (before, after))
        waiting.append(f"{calculator.fields[key].label}: {old} → {new}")
        try:
            then = at(now)
        except InputError:
            continue
        yield "; ".join(waiting), then
        waiting.clear()
