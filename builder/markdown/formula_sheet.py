"""The formula sheet's Markdown: every equation with its title, symbols, sources and live numbers.

A page places it with `[[formula_sheet.*]]` on a line of its own. Its content is read from the
engine, so a new equation appears on the sheet without being written down a second time.
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
    """The numeric example of an equation, from the project's calculator `formula_sheet`."""

    title: str
    function: object
    inputs: Mapping[str, str]


def expand_formula_sheet(body: str) -> str:
    """Return the article's Markdown with the formula sheet in place of its placement."""
    if not has_placement(body):
        return body
    sheet = "\n".join(_sheet_lines())
    return "\n".join(sheet if line == PLACEMENT else line for line in body.splitlines())


def has_placement(body: str) -> bool:
    """Say whether an article places the formula sheet."""
    return PLACEMENT in body.splitlines()


def _sheet_lines() -> Iterator[str]:
    formula_sheet = import_module(module_of(CALCULATOR))
    for module, equations in formula_sheet.groups().items():
        name = module.__name__.rpartition(".")[2]
        yield f"\n## {name.replace('_', ' ').capitalize()} {{#file-{name}}}\n"
        yield _summary(module) + "\n"
        for equation in equations:
            yield from _entry(module, equation, formula_sheet.EXAMPLES.get(equation.name))


def _entry(module: ModuleType, equation: Equation, example: Example | None) -> Iterator[str]:
    default_title = equation.title or equation.name.replace("_", " ").capitalize()
    title = example.title if example else default_title
    function = example.function if example else _documented_function(equation, module)
    yield f"### {title} {{#{equation.name}}}\n"
    yield f"[[formula_sheet.{equation.name}]]\n" if example else f"$$\n{_tex(equation)}\n$$\n"
    yield " · ".join(_symbols(equation, example)) + "\n{: .symbols }\n"
    description = equation.says or _summary(function)
    yield f"{description} {_sources(equation)}".strip() + "\n"


def _documented_function(equation: Equation, module: ModuleType) -> object:
    """Return the function of the equation's name, else the first one that follows it."""
    members = list(vars(module).values())
    after = members[members.index(equation) :]
    functions = (member for member in after if isfunction(member))
    return getattr(module, equation.name, None) or next(functions, None)


def _tex(equation: Equation) -> str:
    symbols = {key: tex for key, (tex, _) in equation.symbols.items()}
    return re.sub(r"\\v\{(\w+)\}", lambda match: f"{{{symbols[match[1]]}}}", equation.tex)


def _symbols(equation: Equation, example: Example | None) -> Iterator[str]:
    inputs = example.inputs if example else {}
    for key, (tex, meaning) in equation.symbols.items():
        value = f" [[formula_sheet.{inputs[key]}]]" if key in inputs else ""
        yield f"${tex}$ {meaning}{value}"


def _summary(documented: object) -> str:
    """Return the first sentence of a docstring as a statement: "Return the time" is "The time"."""
    first = (getdoc(documented) or "").partition("\n\n")[0].replace("\n", " ")
    sentence = re.split(r"(?<=\.) (?=[A-Z])", first)[0].removeprefix("Return ")
    return sentence[:1].upper() + sentence[1:]


def _sources(equation: Equation) -> str:
    return "[" + "; ".join(f"@{key}" for key in equation.sources) + "]" if equation.sources else ""
