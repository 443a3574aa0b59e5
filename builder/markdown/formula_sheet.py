"""The formula sheet's Markdown: every equation with its title, symbols, sources and live numbers.

A page asks for it with `[[formula_sheet.*]]` on a line of its own. What stands there is read from
the engine, so that a new equation is on the sheet without being written down a second time.
"""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from inspect import getdoc, isfunction
from types import ModuleType
from typing import Protocol

from engine.calculator import module_of
from engine.core.equation import Equation

CALCULATOR = "formula_sheet"
PLACEMENT = "[[formula_sheet.*]]"


class Example(Protocol):
    """What the project's calculator of that name has to say of an equation with numbers."""

    title: str
    function: object
    inputs: Mapping[str, str]


def expanded(body: str) -> str:
    """Return the article's Markdown with the formula sheet where it is asked for."""
    if not is_asked(body):
        return body
    sheet = "\n".join(_sheet())
    return "\n".join(sheet if line == PLACEMENT else line for line in body.splitlines())


def is_asked(body: str) -> bool:
    """Say whether an article has the formula sheet."""
    return PLACEMENT in body.splitlines()


def _sheet() -> Iterator[str]:
    formula_sheet = import_module(module_of(CALCULATOR))
    for module, equations in formula_sheet.groups().items():
        name = module.__name__.rpartition(".")[2]
        yield f"\n## {name.replace('_', ' ').capitalize()} {{#file-{name}}}\n"
        yield _summary(module) + "\n"
        for equation in equations:
            yield from _entry(module, equation, formula_sheet.EXAMPLES.get(equation.name))


def _entry(module: ModuleType, equation: Equation, example: Example | None) -> Iterator[str]:
    named = equation.title or equation.name.replace("_", " ").capitalize()
    title = example.title if example else named
    function = example.function if example else _beside(equation, module)
    yield f"### {title} {{#{equation.name}}}\n"
    yield f"[[formula_sheet.{equation.name}]]\n" if example else f"$$\n{_tex(equation)}\n$$\n"
    yield " · ".join(_symbols(equation, example)) + "\n{: .symbols }\n"
    said = equation.says or _summary(function)
    yield f"{said} {_sources(equation)}".strip() + "\n"


def _beside(equation: Equation, module: ModuleType) -> object:
    """Return the function of the equation's name, else the first one that follows it."""
    things = list(vars(module).values())
    after = things[things.index(equation) :]
    functions = (thing for thing in after if isfunction(thing))
    return getattr(module, equation.name, None) or next(functions, None)


def _tex(equation: Equation) -> str:
    symbols = {key: tex for key, (tex, _) in equation.symbols.items()}
    return re.sub(r"\\v\{(\w+)\}", lambda found: f"{{{symbols[found[1]]}}}", equation.tex)


def _symbols(equation: Equation, example: Example | None) -> Iterator[str]:
    inputs = example.inputs if example else {}
    for key, (tex, meaning) in equation.symbols.items():
        given = f" [[formula_sheet.{inputs[key]}]]" if key in inputs else ""
        yield f"${tex}$ {meaning}{given}"


def _summary(documented: object) -> str:
    """Return the first sentence of a docstring as a statement: "Return the time" is "The time"."""
    first = (getdoc(documented) or "").partition("\n\n")[0].replace("\n", " ")
    sentence = re.split(r"(?<=\.) (?=[A-Z])", first)[0].removeprefix("Return ")
    return sentence[:1].upper() + sentence[1:]


def _sources(equation: Equation) -> str:
    return "[" + "; ".join(f"@{key}" for key in equation.sources) + "]" if equation.sources else ""
