"""Command line for calculators: `list`, or a calculator with inputs as name=value.

The module `__main__` of a project's package calls `run_piped`, with verbs of its own.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from engine.answer import dump, reply
from engine.calculator import Calculator, load, make, names
from engine.core import active_project
from engine.core.closest_name import closest
from engine.core.inputs import Field, Number, Scalar, Text
from engine.core.numbers import Display, format_value
from engine.core.parsing import exact_text
from engine.core.text import render_text
from engine.core.views import (
    Advice,
    Badge,
    Bars,
    Challenge,
    Code,
    Formula,
    Lines,
    Table,
    Value,
    View,
    table_texts,
)

ABOUT = """A bare number is in SI units, as in a link to the page: port=5e10. With a unit it is read
as in the page's own field: port=400Gb/s, parameters=7B. A text is read from a file, text=@FILE, or
from standard input, text=@-; text=sample:NAME is one of its samples."""


_WIDEST = 44  # characters of a column; a longer cell moves what follows it on its own line
STATUS = """Exit status: 0 if done, 1 if a configuration that `check` looks at does not fit, 2 for
arguments or files that cannot be used, with a line for each problem on standard error."""


class Command(NamedTuple):
    """A subcommand: its function and its usage text."""

    run: Callable[[Sequence[str]], int]
    arguments: str


Commands = Mapping[str, Command]
_NO_COMMANDS: Commands = {}


def main(arguments: Sequence[str], verbs: Commands = _NO_COMMANDS) -> int:
    """Run a command line; return exit status 0, or 2 for unusable arguments."""
    if arguments and arguments[0] in verbs:
        return verbs[arguments[0]].run(arguments[1:])
    options = _parser(verbs).parse_intermixed_args(arguments)
    if options.version:
        print(_version())
        return 0
    if options.command == "list" or (options.help and not options.command):
        print(_list_json() if options.json else "\n".join(_calculator_list(verbs)))
        return 0
    if options.command not in names():
        return print_problems([_no_command(options.command, verbs)])
    calculator = load(options.command)
    if options.help:
        print("\n".join(_manual(calculator)))
        return 0
    bad = [text for text in options.inputs if "=" not in text]
    if bad:
        return print_problems([f"'{text}' is not of the form name=value" for text in bad])
    try:
        inputs = _split_by_unit(calculator, options.inputs)
    except (OSError, UnicodeDecodeError) as error:
        return print_problems([str(error)])
    return _compute(calculator, inputs, options)


def _no_command(name: str | None, verbs: Commands) -> str:
    if not name:
        return f"no command given; '{program()} list' shows all"
    near = closest(name, ("list", *verbs, *names()))
    hint = f"did you mean '{near}'? " if near else ""
    return f"no command '{name}'; {hint}'{program()} list' shows all"


def program() -> str:
    """Return the command: `wallclock` where the package is installed, else that of the module."""
    package = active_project.package()
    return package if package == "wallclock" else f"python -m {package}"


def _usage(verbs: Commands) -> str:
    """Return the usage lines of all commands."""
    command = program()
    forms = [
        "list [--json]",
        *(f"{name} {verb.arguments}" for name, verb in verbs.items()),
        "CALCULATOR [name=value ...] [--json] [--binary] [--both-ways]",
        "CALCULATOR --help",
    ]
    return "\n       ".join(f"{command} {form}" for form in forms)


def _parser(verbs: Commands) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program(),
        usage=_usage(verbs),
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs="?")
    parser.add_argument("inputs", nargs="*")
    for option in ("--json", "--binary", "--both-ways"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    return parser


def _version() -> str:
    """Return the version of the package; the repository itself has none."""
    package = importlib.import_module(active_project.package())
    return str(getattr(package, "__version__", "not installed"))


def _list_json() -> str:
    rows = [{"name": name, "question": load(name).question} for name in names()]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def print_problems(problems: Iterable[str]) -> int:
    """Print problems to standard error; return exit status 2."""
    for problem in problems:
        print(problem, file=sys.stderr)
    return 2


def _calculator_list(verbs: Commands) -> list[str]:
    rows = [(name, load(name).question) for name in names()]
    return [f"usage: {_usage(verbs)}", "", ABOUT, "", STATUS, "", *_columns(rows)]


def _manual(calculator: Calculator) -> list[str]:
    rows = [
        (name, *_value_texts(field, default), field.range_words(), _field_description(field))
        for name, field in calculator.fields.items()
        for default in [calculator.defaults[name]]
    ]
    presets = [
        f"  {title}: " + " ".join(f"{name}={exact_text(value)}" for name, value in change.items())
        for title, change in calculator.presets.items()
    ]
    return [
        f"{calculator.title}. {calculator.question}",
        "",
        *_columns([("input", "default, SI", "shown as", "allowed", "what it is"), *rows]),
        *(["", "presets:", *presets] if presets else []),
        "",
        ABOUT,
    ]


def _value_texts(field: Field, value: Scalar) -> tuple[str, str]:
    """Return a value as link text and as display text; of a text, its size."""
    if isinstance(field, Text):
        return field.linked(value), field.brief(value)
    return exact_text(value), field.show(value)


def _field_description(field: Field) -> str:
    symbol = f" ({field.symbol})" if isinstance(field, Number) and field.symbol else ""
    return f"{field.label}{symbol}. {field.help}".rstrip()


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as indented, aligned text lines."""
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*rows, strict=True)]
    return [
        ("  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def _compute(
    calculator: Calculator, inputs: Mapping[str, Mapping[str, str]], options: argparse.Namespace
) -> int:
    display = {"binary": options.binary, "both_ways": options.both_ways}
    result = reply({"calculator": calculator.name, **inputs, "display": display})
    errors = [f"{k}: {v['error']}" for k, v in result["inputs"].items() if v["error"]]
    if errors or result["problems"]:
        unknown = [name for name in inputs["values"] if name not in calculator.fields]
        hints = [(name, closest(name, calculator.fields)) for name in unknown]
        meant = [f"{name}: did you mean '{near}'?" for name, near in hints if near]
        return print_problems([*result["problems"], *meant, *errors])
    print(dump(result) if options.json else _result_page(calculator, result, Display(**display)))
    return 0


def _split_by_unit(calculator: Calculator, inputs: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return {"values": plain numbers and names, "typed": numbers with a unit}."""
    result: dict[str, dict[str, str]] = {"values": {}, "typed": {}}
    for text in inputs:
        name, _, value = text.partition("=")
        field = calculator.fields.get(name)
        unit = isinstance(field, Number) and not _is_plain_number(value)
        if isinstance(field, Text) and value.startswith("@"):
            value = _read_text(value[1:])
        result["typed" if unit else "values"][name] = value
    return result


def _read_text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    with open(file, encoding="utf-8") as opened:  # noqa: PTH123 (pathlib costs start-up time)
        return opened.read()


def _is_plain_number(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True


def _result_page(calculator: Calculator, result: Mapping[str, Any], display: Display) -> str:
    """Return inputs and results as text."""
    values = {
        name: calculator.fields[name].read(entry["value"], typed=False)
        for name, entry in result["inputs"].items()
    }
    views = calculator.compute(make(calculator, values))
    rows = [
        (name, _value_texts(calculator.fields[name], value)[1]) for name, value in values.items()
    ]
    numbers = [_number_row(n, v, display) for n, v in views.items() if isinstance(v, Value)]
    blocks = [
        [f"{view.title}", *lines] if hasattr(view, "title") else list(lines)
        for view in views.values()
        if (lines := list(_view_lines(view, display)))
    ]
    parts = [[calculator.title, *_columns(rows)], _columns(numbers), *blocks]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _number_row(name: str, view: Value, display: Display) -> tuple[str, str, str]:
    note = render_text(view.note, display)
    shown = format_value(view.value, view.quantity, display)
    return name, shown, view.label + (f" ({note})" if note else "")


def _view_lines(view: View, display: Display) -> Iterator[str]:
    """Yield a view as text lines; nothing for a number, a drawing or an empty table."""
    if isinstance(view, Badge):
        yield f"{view.text}: {render_text(view.sentence, display)}"
    elif isinstance(view, Advice):
        yield f"  {render_text(view.verdict, display)}"
        if view.remedies:
            yield from _columns(
                [
                    (format_value(r.after, view.quantity, display), render_text(r.label, display))
                    for r in view.remedies
                ]
            )
    elif isinstance(view, Challenge):
        yield f"  {render_text(view.goal, display)}"
        yield from (
            f"  [{'x' if c.met else ' '}] {render_text(c.text, display)}" for c in view.conditions
        )
    else:
        yield from _data_lines(view, display)


def _data_lines(view: View, display: Display) -> Iterator[str]:
    if isinstance(view, Table) and view.rows:
        cells = table_texts(view, display)
        yield from _columns([view.columns, *cells])
    elif isinstance(view, Bars):
        totals = [(bar.label, sum(part.value for part in bar.segments)) for bar in view.bars]
        yield from _columns([(n, format_value(v, view.axis.quantity, display)) for n, v in totals])
    elif isinstance(view, Formula):
        yield from _columns(
            [
                (key, format_value(*view.symbols[key], display), meaning)
                for key, (_, meaning) in view.equation.symbols.items()
            ]
        )
    elif isinstance(view, Lines):
        labels = [point.label for point in view.points] + [rule.label for rule in view.rules]
        yield from (f"  {render_text(label, display)}" for label in labels if label)
    elif isinstance(view, Code):
        yield view.text


def run_piped(arguments: Sequence[str], verbs: Commands = _NO_COMMANDS) -> int:
    """Run a command line and ignore a closed output pipe, as with `| head`."""
    try:
        status = main(arguments, verbs)
        sys.stdout.flush()
    except BrokenPipeError:
        # Closed here, or Python would try to write the rest once more when it ends.
        with suppress(BrokenPipeError):
            sys.stdout.close()
        return 0
    return status
