"""Loads all calculators with their default results and pictures, and checks them together."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, TypeVar

from builder.calculators import calculator_checks, calculator_context
from builder.calculators.calculator_context import CalculatorContext
from builder.calculators.source_locations import SourceLocations
from builder.content.library import REFERENCES, Library
from builder.core import error_locations
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.problem import Problem
from builder.core.process_pool import ProcessPool
from engine.answer import dump
from engine.core.equation import Equation

SERIAL_LIMIT = 8  # up to this many calculators are computed without other processes
# ((context of a calculator, its problems), its sources).
LoadedCalculator = tuple[tuple[CalculatorContext, list[Problem]], dict[str, tuple[str, ...]]]
Value = TypeVar("Value")
DrawCharts = Callable[[Mapping[str, Any]], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatorSet:
    """All calculators by name; if `broken`, `problems` holds only those that raise.

    `digests` maps a calculator to the digest of everything that an article can show of it.
    """

    calculators: Mapping[str, CalculatorContext]
    problems: tuple[Problem, ...]
    broken: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)

    def load(self, name: str) -> CalculatorContext:
        """Return the context of an existing calculator."""
        return self.calculators[name]


@dataclass(frozen=True, slots=True)
class CalculatorKeys:
    """Cache keys of calculators: results, sources and pictures.

    Attributes:
        results: calculator -> digest of the code that its results depend on.
        sources: calculator -> digest of the code that its cited sources depend on.
        layout: digest of the code that draws.
        takes: function for the inputs that a job fills, as in `Project.takes`.
        colors: names of the theme's colors; none where it has no colors.
    """

    results: Callable[[str], str]
    sources: Callable[[str], str]
    layout: str
    takes: str = ""
    colors: tuple[str, ...] = ()


def load_calculators(
    build_cache: BuildCache, keys: CalculatorKeys, draw: DrawCharts, pool: ProcessPool
) -> CalculatorSet:
    """Return all calculators with their charts drawn; `draw` draws many charts in one call."""
    new_contexts = _load_new(build_cache, keys, pool)
    contexts: dict[str, CalculatorContext] = {}
    digests: dict[str, str] = {}
    problems: list[Problem] = []
    broken: list[Problem] = []
    for name in calculator_context.calculator_names():
        try:
            key = keys.results(name)
            loaded, all_sources = new_contexts.get(name, (None, None))
            load = (
                _constant(loaded)
                if loaded
                else partial(calculator_checks.load_checked, name, keys.takes)
            )
            context, context_problems = build_cache.get(f"calculator {name}", key, load)
            load_sources = (
                partial(calculator_context.output_sources, context)
                if all_sources is None
                else _constant(all_sources)
            )
            sources = build_cache.get(f"sources {name}", keys.sources(name), load_sources)
            digest_without_sources = build_cache.get(
                f"mark {name}", key, partial(calculator_context.context_digest, context)
            )
            contexts[name], digests[name] = (
                replace(context, sources=sources),
                digest((digest_without_sources, repr(sources))),
            )
            used_colors = build_cache.get(
                f"colors {name}", key, partial(calculator_checks.view_colors, context.views)
            )
        except calculator_checks.InvalidCalculator as error:
            broken += error.problems
            continue
        except Exception as error:  # whatever an author's code may raise
            broken.append(
                error_locations.calculator_problem(
                    name, calculator_context.source_path(name), error
                )
            )
            continue
        problems += context_problems
        problems += _color_problems(name, used_colors, keys.colors)
        for equation in contexts[name].equations:
            for symbol in unknown_symbols(equation):
                message = f"equation '{equation.name}' uses \\v{{{symbol}}}, not among its symbols"
                problems.append(Problem(calculator_context.source_path(name), 1, message))
    if broken:
        return CalculatorSet(calculators={}, problems=tuple(broken), broken=True)
    picture_keys = {
        name: digest((keys.layout, dump(_chart_inputs(context))))
        for name, context in contexts.items()
    }
    with_pictures = _with_pictures(contexts, build_cache, picture_keys, draw)
    return CalculatorSet(calculators=with_pictures, problems=tuple(problems), digests=digests)


def _color_problems(
    name: str, used: Iterable[tuple[str, str, str]], known: tuple[str, ...]
) -> list[Problem]:
    locations = SourceLocations(name)
    return [
        locations.problem(
            locations.find_output(output, kind, color),
            f"output '{output}' has the color '{color}'; there are {', '.join(known)}",
        )
        for output, kind, color in used
        if known and color not in known
    ]


def _load_new(
    build_cache: BuildCache, keys: CalculatorKeys, pool: ProcessPool
) -> dict[str, LoadedCalculator]:
    """Return the calculators that are not cached, computed by the pool, without failing ones."""
    new = []
    for name in calculator_context.calculator_names():
        with suppress(Exception):  # reported where it is loaded
            if not build_cache.has(f"calculator {name}", keys.results(name)):
                new.append(name)
    if len(new) <= SERIAL_LIMIT:
        return {}
    loaded = zip(
        new, pool.map(partial(_try_load, keys.takes), new, serial_limit=SERIAL_LIMIT), strict=True
    )
    return {name: calculator for name, calculator in loaded if calculator}


def _constant(value: Value) -> Callable[[], Value]:
    return lambda: value


def _try_load(takes: str, name: str) -> LoadedCalculator | None:
    try:
        context, problems = calculator_checks.load_checked(name, takes)
        return (context, problems), calculator_context.output_sources(context)
    except Exception:  # raised again where its location is reported
        return None


def _with_pictures(
    contexts: Mapping[str, CalculatorContext],
    build_cache: BuildCache,
    keys: Mapping[str, str],
    draw: DrawCharts,
) -> dict[str, CalculatorContext]:
    """Return the calculators with pictures of their charts; one call draws all missing ones."""
    undrawn = {
        n: context
        for n, context in contexts.items()
        if not build_cache.has(f"pictures {n}", keys[n])
    }

    @cache
    def pictures() -> Mapping[str, str]:
        return draw(
            {
                f"{name}.{output}": chart
                for name, context in undrawn.items()
                for output, chart in _chart_inputs(context).items()
            }
        )

    def with_svg(name: str, context: CalculatorContext) -> CalculatorContext:
        extra = context.reply["extra"]
        svg = build_cache.get(
            f"pictures {name}",
            keys[name],
            lambda: {output: pictures()[f"{name}.{output}"] for output in extra["spoken"]},
        )
        return replace(context, reply={**context.reply, "extra": {**extra, "svg": svg}})

    return {name: with_svg(name, context) for name, context in contexts.items()}


def _chart_inputs(context: CalculatorContext) -> dict[str, Any]:
    """Return the inputs of a calculator's chart drawings: output -> view and alt text."""
    spoken = context.reply["extra"]["spoken"]
    return {name: {"view": context.outputs[name], "spoken": spoken[name]} for name in spoken}


def source_problems(calculator_set: CalculatorSet, library: Library) -> list[Problem]:
    """Return problems for cited sources that are not in the bibliography."""
    return [
        Problem(
            calculator_context.source_path(name),
            1,
            f"output '{output}' cites '{key}', not in {REFERENCES}",
        )
        for name, calculator in calculator_set.calculators.items()
        for output, keys in calculator.sources.items()
        for key in keys
        if key not in library.references
    ]


def unplaced_problems(placed: Iterable[str]) -> list[Problem]:
    """Return problems for calculators that no page shows."""
    missing = sorted(set(calculator_context.calculator_names()) - set(placed))
    return [
        Problem(
            calculator_context.source_path(name), 1, f"calculator '{name}' is placed on no page"
        )
        for name in missing
    ]


def unknown_symbols(equation: Equation) -> list[str]:
    """Return the symbols in an equation's TeX that its `symbols` does not declare."""
    used = re.findall(r"\\v\{(\w+)\}", equation.tex)
    return sorted(set(used) - set(equation.symbols))
