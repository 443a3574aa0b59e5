"""`show NAME`: what a calculator takes and gives, as an author of a page needs it."""

from collections.abc import Sequence
from difflib import get_close_matches

from builder.calculators import calculator_checks, calculator_context
from builder.core import error_locations
from builder.project.project_file import ProjectError


def lines(name: str) -> list[str]:
    """Return what is told of a calculator.

    Raises:
        ValueError: there is no such calculator.
        ProjectError: it cannot be asked.
    """
    names = calculator_context.names()
    if name not in names:
        near = get_close_matches(name, names, n=3) or names
        raise ValueError(f"there is no calculator '{name}'; there is {', '.join(near)}")
    found = _read(name)
    takes = [(f"[[{name}.{one.name}]]", one.text, one.range, one.label) for one in found.fields]
    gives = [
        (f"[[{name}.{output}]]", _shown(view), view["kind"], _told(view))
        for output, view in found.outputs.items()
    ]
    return [
        f"{found.title}. {found.question}",
        f"{calculator_context.source(name)}; whole: [[{name}]]",
        *("", "inputs: in a page, default, what is allowed, what it is", *_table(takes)),
        *("", "outputs: in a page, at the defaults, kind, what it is", *_table(gives)),
        *_presets(found),
    ]


def _read(name: str) -> calculator_context.Live:
    try:
        return calculator_checks.read(name)[0]
    except calculator_checks.Unsound as error:
        raise ProjectError([*error.problems]) from None
    except Exception as error:  # whatever an author's code may raise
        raise ProjectError(
            [error_locations.in_calculator(name, calculator_context.source(name), error)]
        ) from error


def _shown(view: dict[str, object]) -> str:
    return str(view.get("text", "")) if view["kind"] == "value" else ""


def _told(view: dict[str, object]) -> str:
    return str(view.get("label") or view.get("title") or "")


def _presets(found: calculator_context.Live) -> list[str]:
    titles = [str(preset["title"]) for preset in found.presets]
    return ["", f"presets: {'; '.join(titles)}"] if titles else []


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows, each cell but the last as wide as the widest of its column, up to 48."""
    widths = [min(48, max(map(len, column))) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
