"""All calculators with their default results, and what is wrong with them as a whole."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, TypeVar

from builder.calculators import calculator_checks, calculator_context
from builder.calculators.calculator_context import Live
from builder.calculators.source_locations import Places
from builder.content.library import REFERENCES, Library
from builder.core import error_locations
from builder.core.build_cache import Memo
from builder.core.folders import digest
from builder.core.problem import Problem
from builder.core.process_pool import ProcessPool
from engine.answer import dump
from engine.core.equation import Equation

FEW = 8  # calculators that have answered before another process has begun
# A calculator with what is wrong with it, and its sources.
Read = tuple[tuple[Live, list[Problem]], dict[str, tuple[str, ...]]]
Made = TypeVar("Made")
Draw = Callable[[Mapping[str, Any]], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The calculators by name; with `broken`, `problems` names those that raise and no others.

    `marks` gives the digest of what an article can show of each.
    """

    calculators: Mapping[str, Live]
    problems: tuple[Problem, ...]
    broken: bool = False
    marks: Mapping[str, str] = field(default_factory=dict)

    def load(self, name: str) -> Live:
        """Return the calculator `name`, which exists."""
        return self.calculators[name]


@dataclass(frozen=True, slots=True)
class Marks:
    """Digests of what is made from what.

    Attributes:
        results: calculator -> of what its results depend on.
        sources: calculator -> of what the sources that it names depend on.
        layout: of what draws.
        takes: what a job fills, as in `Project.takes`.
        colors: names that the theme knows; none where it has no colors.
    """

    results: Callable[[str], str]
    sources: Callable[[str], str]
    layout: str
    takes: str = ""
    colors: tuple[str, ...] = ()


def read(memo: Memo, keys: Marks, draw: Draw, hands: ProcessPool) -> Toolbox:
    """Return all calculators, their charts drawn; `draw` draws many in one call."""
    made = _made(memo, keys, hands)
    found: dict[str, Live] = {}
    marks: dict[str, str] = {}
    problems: list[Problem] = []
    broken: list[Problem] = []
    for name in calculator_context.names():
        try:
            key = keys.results(name)
            alone, all_sources = made.get(name, (None, None))
            first = _given(alone) if alone else partial(calculator_checks.read, name, keys.takes)
            one, wrong = memo.get(f"calculator {name}", key, first)
            second = (
                partial(calculator_context.sources_of, one)
                if all_sources is None
                else _given(all_sources)
            )
            named = memo.get(f"sources {name}", keys.sources(name), second)
            shown = memo.get(f"mark {name}", key, partial(calculator_context.mark, one))
            found[name], marks[name] = replace(one, sources=named), digest((shown, repr(named)))
            named_colors = memo.get(
                f"colors {name}", key, partial(calculator_checks.colors, one.views)
            )
        except calculator_checks.Unsound as error:
            broken += error.problems
            continue
        except Exception as error:  # whatever an author's code may raise
            broken.append(
                error_locations.in_calculator(name, calculator_context.source(name), error)
            )
            continue
        problems += wrong
        problems += _unknown_colors(name, named_colors, keys.colors)
        for equation in found[name].equations:
            for symbol in unknown_symbols(equation):
                message = f"equation '{equation.name}' uses \\v{{{symbol}}}, not among its symbols"
                problems.append(Problem(calculator_context.source(name), 1, message))
    if broken:
        return Toolbox(calculators={}, problems=tuple(broken), broken=True)
    drawn_by = {name: digest((keys.layout, dump(_charts(one)))) for name, one in found.items()}
    pictured = _drawn(found, memo, drawn_by, draw)
    return Toolbox(calculators=pictured, problems=tuple(problems), marks=marks)


def _unknown_colors(
    name: str, used: Iterable[tuple[str, str, str]], known: tuple[str, ...]
) -> list[Problem]:
    at = Places(name)
    return [
        at.problem(
            at.of_output(output, kind, color),
            f"output '{output}' has the color '{color}'; there are {', '.join(known)}",
        )
        for output, kind, color in used
        if known and color not in known
    ]


def _made(memo: Memo, keys: Marks, hands: ProcessPool) -> dict[str, Read]:
    """Return the calculators that are new, as far as they answer."""
    new = []
    for name in calculator_context.names():
        with suppress(Exception):  # said where it is read
            if not memo.has(f"calculator {name}", keys.results(name)):
                new.append(name)
    if len(new) <= FEW:
        return {}
    found = zip(new, hands.each(partial(_read, keys.takes), new, few=FEW), strict=True)
    return {name: one for name, one in found if one}


def _given(value: Made) -> Callable[[], Made]:
    return lambda: value


def _read(takes: str, name: str) -> Read | None:
    try:
        one, wrong = calculator_checks.read(name, takes)
        return (one, wrong), calculator_context.sources_of(one)
    except Exception:  # raised again where its place in the code can be said
        return None


def _drawn(
    found: Mapping[str, Live], memo: Memo, keys: Mapping[str, str], draw: Draw
) -> dict[str, Live]:
    """Return the calculators with the pictures of their charts; one call draws all that are new."""
    fresh = {n: one for n, one in found.items() if not memo.has(f"pictures {n}", keys[n])}

    @cache
    def pictures() -> Mapping[str, str]:
        return draw(
            {
                f"{name}.{output}": chart
                for name, one in fresh.items()
                for output, chart in _charts(one).items()
            }
        )

    def drawn(name: str, one: Live) -> Live:
        extra = one.reply["extra"]
        svg = memo.get(
            f"pictures {name}",
            keys[name],
            lambda: {output: pictures()[f"{name}.{output}"] for output in extra["spoken"]},
        )
        return replace(one, reply={**one.reply, "extra": {**extra, "svg": svg}})

    return {name: drawn(name, one) for name, one in found.items()}


def _charts(one: Live) -> dict[str, Any]:
    """Return what the charts of a calculator are drawn from: equal parts give equal pictures."""
    spoken = one.reply["extra"]["spoken"]
    return {name: {"view": one.outputs[name], "spoken": spoken[name]} for name in spoken}


def wrong_sources(toolbox: Toolbox, library: Library) -> list[Problem]:
    """Return the receipts that name a source which is not in the bibliography."""
    return [
        Problem(
            calculator_context.source(name),
            1,
            f"output '{output}' cites '{key}', not in {REFERENCES}",
        )
        for name, calculator in toolbox.calculators.items()
        for output, keys in calculator.sources.items()
        for key in keys
        if key not in library.references
    ]


def unplaced(placed: Iterable[str]) -> list[Problem]:
    """Return the calculators that no page shows."""
    missing = sorted(set(calculator_context.names()) - set(placed))
    return [
        Problem(calculator_context.source(name), 1, f"calculator '{name}' is placed on no page")
        for name in missing
    ]


def unknown_symbols(equation: Equation) -> list[str]:
    """Return the keys that the equation's TeX uses and its `symbols` do not declare."""
    used = re.findall(r"\\v\{(\w+)\}", equation.tex)
    return sorted(set(used) - set(equation.symbols))
