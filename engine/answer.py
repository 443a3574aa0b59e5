"""JSON requests and replies of the engine, for the command line, the builder and the Worker.

Request: {"calculator": name,
  "typed":  {input: text}   as typed in a field, in the field's unit
  "values": {input: text}   SI, from a URL, a preset or the last reply
  "slide":  {input: 0..1}   position of a slider
  "nudge":  {input: steps}  small steps from the value given above
  "fallback": true          use the default for a bad value instead of stopping
  "display": {"binary": bool, "both_ways": bool}
  "kept": {input: text}     a state to compare with, SI; "ghosts": [output] its charts too
  "headline": true          make the headline too, whoever looks
  "short": true             leave out what a reader of files handed over: it came with this request
  "only": [output]          the outputs that somebody looks at; all, if it is not there
  "within": seconds         what would take longer is left for a later request
  "rest": true              one output is made however long it takes
  "want": {"receipts": [output], "spoken": [output], "table": [output], "csv": [output],
           "trace": [output], "copy": [kind], "compare": [request]}}
           spoken is a chart in words, trace a timeline for Perfetto, copy all of it as a text,
           compare several states as `engine.draw.state_comparison` takes them
Reply: {"calculator", "inputs": {name: {"value", "text", "position", "changed", "error"}},
  "problems": [text], "query": [[key, text]], "outputs": {name: view} or null, "extra": {...},
  "later": [output]         where something was left
  "kept": {output: {"text", "change"} or view}   of the state to compare with
  "headline": output        its name, where it was asked for
  "progress": {"share": 0..1, "text"}   of a search that goes on: the same request again goes on
                            with it, until there are outputs}
"""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from engine.budget import Budget, Clock, ReplyViews, reply_views, slice_limit
from engine.calculator import Calculator, LazyViews, changed_inputs, field_of, load, make
from engine.core.inputs import Choice, Field, InputError, Number, Order, Scalar, Switch, Text
from engine.core.numbers import Display
from engine.core.parsing import exact_text
from engine.core.slices import Progress, SlicedRun
from engine.core.text import render_text
from engine.core.views import View
from engine.draw.view_json import view_json

# Texts to take away (`engine.draw.export_text`) that hold no number of the result.
INPUTS_ALONE = ("terminal", "python")


def answer(request: str, clock: Clock | None = None) -> str:
    """Return the reply to a request; both are JSON texts as in the module's docstring.

    Nothing is left for later without a clock, which the engine does not have itself.
    """
    return dump(reply(json.loads(request), clock))


def dump(value: object) -> str:
    """Return compact JSON text: the same bytes natively and in the browser."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def reply(request: Mapping[str, Any], clock: Clock | None = None) -> dict[str, Any]:
    """Return the reply to a request as plain data."""
    calculator = load(request["calculator"])
    display = Display(**request.get("display", {}))
    values, errors, problems = read_inputs(calculator, request)
    want = request.get("want", {})
    stop = errors and not request.get("fallback")
    shown = ReplyViews() if stop else _reply_views(calculator, values, display, request, clock)
    answer_data = {
        "calculator": calculator.name,
        "inputs": {
            name: _without_file_text(field, _input_state(calculator, name, values, errors), request)
            for name, field in calculator.fields.items()
        },
        "problems": problems,
        "query": [
            [f"{calculator.name}.{k}", v] for k, v in changed_inputs(calculator, values).items()
        ],
        "outputs": None if stop else shown.outputs,
        "extra": _extra_texts(
            calculator, shown.views, values, display, _available_extras(want, shown)
        ),
    }
    later = {"later": shown.later} if shown.later else {}
    kept = _kept_outputs(calculator, shown.views, display, request)
    headline = {"headline": calculator.headline} if request.get("headline") else {}
    return (
        answer_data
        | later
        | kept
        | headline
        | ({"progress": _progress(shown.progress, display)} if shown.progress else {})
    )


def _kept_outputs(
    calculator: Calculator, now: Mapping[str, View], display: Display, request: Mapping[str, Any]
) -> dict[str, Any]:
    if "kept" not in request or not now:
        return {}
    from engine.draw.change import kept_outputs  # as little as that is needed at first

    ghosts = request.get("ghosts", ())
    return {"kept": kept_outputs(calculator, request["kept"], now, ghosts, display)}


def _progress(progress: Progress, display: Display) -> dict[str, Any]:
    return {"share": round(progress.share, 4), "text": render_text(progress.text, display)}


def _reply_views(
    calculator: Calculator,
    values: Mapping[str, Scalar],
    display: Display,
    request: Mapping[str, Any],
    clock: Clock | None,
) -> ReplyViews:
    """Return the requested views, within the time of the request."""
    only, want = request.get("only"), request.get("want", {})
    required = {name for names in want.values() for name in names}
    write = partial(view_json, display=display)
    timed = clock is not None and "within" in request
    over = slice_limit(clock, calculator.name) if clock and timed else None
    lazy = _solve(calculator, values, over or (lambda: False))
    if "copy" in want and isinstance(lazy, LazyViews):
        required |= {*lazy.in_words}  # a text to take away holds no figure
    headline = {calculator.headline} if request.get("headline") else set()
    chosen = None if only is None else {*only, *required, *headline}
    if isinstance(lazy, Progress):
        return ReplyViews(later=sorted(chosen or ()), progress=lazy)
    if clock is None or not timed:
        return reply_views(lazy, chosen, write)
    budget = Budget(
        clock=clock,
        within=request["within"],
        calculator=calculator.name,
        rest=request.get("rest", False),
        over=over,
    )
    return reply_views(lazy, chosen, write, budget, required=required)


def _solve(
    calculator: Calculator, values: Mapping[str, Scalar], over: Callable[[], bool]
) -> LazyViews | Progress:
    """Return the lazy views for these inputs, or the progress of an unfinished search."""
    running = solving(calculator.name, make(calculator, values))
    begun = not running.done
    try:
        lazy = running.until(over)
    except Exception:
        solving.cache_clear()  # what has failed once begins anew
        raise
    if lazy is None:
        assert running.progress is not None
        return running.progress
    if running.progress and begun and over():
        return replace(running.progress, share=1.0)  # its views come with the next reply
    return lazy


def solved_views(name: str, inputs: Hashable) -> LazyViews:
    """Return the lazy views for these inputs, fully solved."""
    lazy = solving(name, inputs).until(lambda: False)
    assert lazy is not None
    return lazy


@lru_cache(maxsize=8)
def solving(name: str, inputs: Hashable) -> SlicedRun[LazyViews]:
    """Return the cached computation of the views for these inputs."""
    return SlicedRun(load(name).slices(inputs))


def read_inputs(
    calculator: Calculator, request: Mapping[str, Any]
) -> tuple[dict[str, Scalar], dict[str, str], list[str]]:
    """Return values (SI, defaults where bad), the error of each bad input, and other problems."""
    values: dict[str, Scalar] = dict(calculator.defaults)
    errors: dict[str, str] = {}
    problems: list[str] = []
    steps = (
        [(name, "values", text) for name, text in request.get("values", {}).items()]
        + [(name, "typed", text) for name, text in request.get("typed", {}).items()]
        + [(name, "slide", at) for name, at in request.get("slide", {}).items()]
        + [(name, "nudge", count) for name, count in request.get("nudge", {}).items()]
    )
    for key, operation, argument in steps:
        name = calculator.formerly.get(key, key)
        if name not in calculator.fields:
            problems.append(_unknown_input(calculator, key))
            continue
        try:
            values[name] = _apply(calculator, name, operation, argument, values[name])
            errors.pop(name, None)
        except InputError as error:
            errors[name] = str(error)
    return values, errors, problems


def _apply(
    calculator: Calculator,
    name: str,
    operation: str,
    argument: Any,  # noqa: ANN401
    current: Scalar,
) -> Scalar:
    field = field_of(calculator, name)
    if operation in ("typed", "values"):
        return field.read(str(argument), typed=operation == "typed")
    if isinstance(field, Number):
        return (
            field.at(float(argument))
            if operation == "slide"
            else field.nudge(current, int(argument))
        )
    if operation == "nudge" and isinstance(field, Choice):
        options = list(field.options)
        return options[(options.index(str(current)) + int(argument)) % len(options)]
    if operation == "nudge" and isinstance(field, Switch):
        return not current if int(argument) % 2 else current
    if isinstance(field, Order):
        raise InputError(f"{name} is an order; name its items one after the other")
    raise InputError(f"{name} has no slider")


def _unknown_input(calculator: Calculator, name: str) -> str:
    if name in calculator.formerly:
        return f"the input '{name}' of an older version is gone; what it set has no effect"
    try:
        field_of(calculator, name)
    except InputError as error:
        return str(error)
    raise AssertionError(name)


def _input_state(
    calculator: Calculator, name: str, values: Mapping[str, Scalar], errors: Mapping[str, str]
) -> dict[str, Any]:
    field, value = calculator.fields[name], values[name]
    return {
        "value": field.write(value) if isinstance(field, Text) else exact_text(value),
        "text": field.show(value),
        "position": round(field.position(value), 6) if isinstance(field, Number) else None,
        "changed": value != calculator.defaults[name],
        "error": errors.get(name),
    }


def _without_file_text(
    field: Field, entry: dict[str, Any], request: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an input's state without the text of a chosen file, unless it is a sample."""
    if not request.get("short") or not isinstance(field, Text) or not field.reader:
        return entry
    value = entry["value"] if field.linked(entry["text"]) else None
    return {**entry, "value": value, "text": ""}


def _available_extras(want: Mapping[str, list[str]], shown: ReplyViews) -> Mapping[str, list[str]]:
    """Return the extras that can be produced now: during a search those of inputs alone."""
    if not shown.progress:
        return want
    return {"copy": [kind for kind in want.get("copy", ()) if kind in INPUTS_ALONE]}


def _extra_texts(
    calculator: Calculator,
    views: Mapping[str, View],
    values: Mapping[str, Scalar],
    display: Display,
    want: Mapping[str, list[str]],
) -> dict[str, dict[str, str]]:
    if not any(want.values()):
        return {}
    # A first visit gets its first numbers sooner when the drawing code is not imported for them.
    from engine.draw.reply_extras import extra_texts

    return extra_texts(calculator, views, values, display, want)
