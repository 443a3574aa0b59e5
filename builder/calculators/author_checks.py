"""Checks of an author's calculator that the defaults alone do not show.

What it imports and calls, whether it answers the same twice, whether it answers at both ends of
every input, whether its equations name fields, and how much it hands to a page.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_type_hints

from builder.calculators.source_locations import SourceLocations
from builder.content.content_folder import svg_problems
from builder.core import error_locations
from builder.core.problem import Problem
from builder.core.time_limit import TooSlowError
from engine.calculator import Calculator, make
from engine.core.equation import Equation
from engine.core.inputs import Choice, InputError, Number, Scalar, Switch
from engine.core.numbers import DEFAULT
from engine.core.outputs import Output, Symbol
from engine.core.views import Bars, Formula, Heatmap, Lines, Scene, Table, Value, View
from engine.draw.scene import scene_svg
from engine.draw.view_json import view_json

# Of a chart or of a scene's shapes in all frames, and of a text that a reader sees.
MOST_POINTS, LONGEST_TEXT = 20_000, 10_000
_MOST_OPTIONS = 12  # of a choice, that are tried
# What depends on the moment, the machine or chance, or acts on something outside.
_EFFECTS = frozenset(
    [
        "asyncio",
        "ctypes",
        "datetime",
        "glob",
        "http",
        "io",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "shutil",
        "signal",
        "socket",
        "ssl",
        "subprocess",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
        "webbrowser",
    ]
)
_PURE = "urllib.parse"
_CALLS = frozenset(
    [
        "breakpoint",
        "compile",
        "eval",
        "exec",
        "exit",
        "input",
        "open",
        "print",
        "quit",
        "__import__",
    ]
)
_SUSPECT = re.compile(rf"\b({'|'.join(sorted(_EFFECTS | _CALLS))})\b")


def source_faults(text: str) -> list[tuple[int, str]]:
    """Return (line, message) of imports and calls that a calculator must not have."""
    if not _SUSPECT.search(text):
        return []
    try:
        tree = ast.parse(text)
    except SyntaxError:  # told where all files are read
        return []
    return sorted(fault for node in ast.walk(tree) for fault in _node_faults(node))


def _node_faults(node: ast.AST) -> Iterator[tuple[int, str]]:
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = [node.module or ""]
    for name in names:
        if name.partition(".")[0] in _EFFECTS and name != _PURE:
            assert isinstance(node, ast.Import | ast.ImportFrom)
            yield (
                node.lineno,
                f"imports '{name}'; a calculator gives the same numbers for the same inputs, "
                "everywhere and always, and acts on nothing else",
            )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        yield node.lineno, f"calls {node.func.id}(); what a calculator says stands in its views"


def size_problems(views: Mapping[str, View], locations: SourceLocations) -> Iterator[Problem]:
    """Yield problems of views that hold more than a page can show."""
    for name, view in views.items():
        points = _points(view)
        if points > MOST_POINTS:
            kind = "shapes; a scene" if isinstance(view, Scene) else "points; a chart"
            message = f"has {points:,} {kind} may have {MOST_POINTS:,}"
            yield _output_problem(name, view, message, locations)
        letters = max((len(text) for text in _texts(view)), default=0)
        if letters > LONGEST_TEXT:
            message = f"has a text of {letters:,} letters; it may have {LONGEST_TEXT:,}"
            yield _output_problem(name, view, message, locations)


def _output_problem(name: str, view: View, message: str, locations: SourceLocations) -> Problem:
    location = locations.find_output(name, type(view).__name__)
    return locations.problem(location, f"output '{name}' {message}")


def _points(view: View) -> int:
    if isinstance(view, Lines):
        return sum(len(series.x) for series in view.series)
    if isinstance(view, Heatmap):
        return sum(map(len, view.values))
    if isinstance(view, Table):
        return sum(map(len, view.rows))
    if isinstance(view, Bars):
        return sum(len(bar.segments) for bar in view.bars)
    if isinstance(view, Scene):
        return sum(len(frame.shapes) for frame in view.frames)
    return 0


def drawing_problems(views: Mapping[str, View], locations: SourceLocations) -> Iterator[Problem]:
    """Yield problems of scenes whose shapes are no SVG, or more than a drawing may be."""
    for name, view in views.items():
        if not isinstance(view, Scene):
            continue
        frames = range(len(view.frames))
        told = (svg_problems(scene_svg(replace(view, opening=at))) for at in frames)
        for _, message in dict.fromkeys(problem for problems in told for problem in problems):
            yield _output_problem(name, view, f"holds a shape: {message}", locations)


def _texts(view: View) -> Iterator[str]:
    """Yield the texts of a view as they are declared, without the numbers in them."""
    for attribute in ("title", "caption", "note", "sentence", "label", "text"):
        text = getattr(view, attribute, "")
        template = getattr(text, "template", text)
        if isinstance(template, str):
            yield template


def trial_problems(
    calculator: Calculator, source: str, locations: SourceLocations
) -> Iterator[Problem]:
    """Yield problems of a calculator that answers differently twice, or not at all somewhere.

    Every number is tried at both of its ends, every choice with its options, every switch both
    ways; the other inputs keep their defaults.
    """
    if _numbers(calculator, {}) != _numbers(calculator, {}):
        message = f"calculator '{calculator.name}' answers differently to the same inputs"
        code = getattr(calculator.solve, "__code__", None)
        yield Problem(source, code.co_firstlineno if code else 1, message)
        return
    for name, field in calculator.fields.items():
        for value in _ends(field):
            try:
                _numbers(calculator, {name: value})
            except InputError:  # a refusal, with what is allowed
                continue
            except TooSlowError:
                raise
            except Exception as error:  # whatever an author's code may raise
                problem = error_locations.calculator_problem(calculator.name, source, error)
                shown = field.show(value)
                yield Problem(
                    problem.path, problem.line, f"{problem.message}, with {name} = {shown}"
                )
                break


def _numbers(calculator: Calculator, values: Mapping[str, Scalar]) -> str:
    views = calculator.compute(make(calculator, values))
    return json.dumps({name: view_json(view, DEFAULT) for name, view in views.items()}, default=str)


def _ends(field: object) -> list[Any]:
    if isinstance(field, Number):
        return [round(v) if field.whole else v for v in (field.low, field.high)]
    if isinstance(field, Choice):
        return list(field.options)[:_MOST_OPTIONS]
    return [True, False] if isinstance(field, Switch) else []


def symbol_problems(
    calculator: Calculator, views: Mapping[str, View], locations: SourceLocations
) -> Iterator[Problem]:
    """Yield problems of equations whose symbols are those of no field and of no receipt."""
    result = get_type_hints(calculator.solve).get("return")
    records = [calculator.inputs, *([result] if isinstance(result, type) else [])]
    known = {symbol for record in records for symbol in _symbols(record)}
    for equation in calculator.equations:
        given_symbols = {
            symbol for view in views.values() for symbol in _given_symbols(view, equation)
        }
        used = set(re.findall(r"\\v\{(\w+)\}", equation.tex)) & set(equation.symbols)
        for symbol in sorted(used - known - given_symbols):
            message = (
                f"equation '{equation.name}' uses \\v{{{symbol}}}, the symbol of no field; give it "
                "to a Number, an Output or a Symbol, or write it as plain TeX"
            )
            yield locations.problem(locations.find_text(equation.name), message)


def _given_symbols(view: View, equation: Equation) -> Iterable[str]:
    """Return the symbols whose values a view gives for an equation."""
    if isinstance(view, Formula) and view.equation == equation:
        return view.symbols
    if isinstance(view, Value) and view.receipt.equation == equation:
        return view.receipt.symbols
    return ()


def _symbols(record: type[Any]) -> Iterator[str]:
    for hint in get_type_hints(record, include_extras=True).values():
        marks = getattr(hint, "__metadata__", ())
        for mark in marks:
            if isinstance(mark, Symbol):
                yield mark.key
            elif isinstance(mark, Number | Output) and mark.symbol:
                yield mark.symbol
