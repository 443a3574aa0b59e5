"""`show NAME`: lists a calculator's inputs, outputs and presets for authors."""

from collections.abc import Sequence
from difflib import get_close_matches

from builder.calculators import calculator_checks, calculator_context
from builder.core import error_locations
from builder.project.project_file import ProjectError


def describe_calculator(name: str) -> list[str]:
    """Return the lines that `show NAME` prints.

    Raises:
        ValueError: there is no such calculator.
        ProjectError: it cannot be run.
    """
    names = calculator_context.calculator_names()
    if name not in names:
        similar = get_close_matches(name, names, n=3) or names
        raise ValueError(f"there is no calculator '{name}'; there is {', '.join(similar)}")
    context = _load_calculator(name)
    input_rows = [
        (f"[[{name}.{field.name}]]", field.text, field.range, field.label)
        for field in context.fields
    ]
    output_rows = [
        (f"[[{name}.{output}]]", _value_text(view), view["kind"], _view_label(view))
        for output, view in context.outputs.items()
    ]
    return [
        f"{context.title}. {context.question}",
        f"{calculator_context.source_path(name)}; whole: [[{name}]]",
        *("", "inputs: in a page, default, what is allowed, what it is", *_table_lines(input_rows)),
        *("", "outputs: in a page, at the defaults, kind, what it is", *_table_lines(output_rows)),
        *_preset_lines(context),
    ]


def _load_calculator(name: str) -> calculator_context.CalculatorContext:
    try:
        return calculator_checks.load_checked(name)[0]
    except calculator_checks.InvalidCalculator as error:
        raise ProjectError([*error.problems]) from None
    except Exception as error:  # whatever an author's code may raise
        raise ProjectError(
            [error_locations.calculator_problem(name, calculator_context.source_path(name), error)]
        ) from error


def _value_text(view: dict[str, object]) -> str:
    return str(view.get("text", "")) if view["kind"] == "value" else ""


def _view_label(view: dict[str, object]) -> str:
    return str(view.get("label") or view.get("title") or "")


def _preset_lines(context: calculator_context.CalculatorContext) -> list[str]:
    titles = [str(preset["title"]) for preset in context.presets]
    return ["", f"presets: {'; '.join(titles)}"] if titles else []


def _table_lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows as aligned columns of at most 48 characters."""
    widths = [min(48, max(map(len, column))) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
