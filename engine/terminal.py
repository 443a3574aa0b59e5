"""Calculators in a terminal: `list`, or one of them with its inputs as name=value.

The module `__main__` of a project's package calls `piped`, with verbs of its own.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from engine.answer import dump, reply
from engine.calculator import Calculator, load, make, names
from engine.core import active_project
from engine.core.inputs import Field, Number, Scalar, Text
from engine.core.numbers import Display, show
from engine.core.parsing import plain
from engine.core.text import words
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
    table_words,
)

ABOUT = """A bare number is in SI units, as in a link to the page: port=5e10. With a unit it is read
as in the page's own field: port=400Gb/s, parameters=7B. A text is read from a file, text=@FILE, or
from standard input, text=@-; text=sample:NAME is one of its samples."""


class Verb(NamedTuple):
    """A command of a project's own: what runs it, and its arguments in words."""

    run: Callable[[Sequence[str]], int]
    arguments: str


Verbs = Mapping[str, Verb]
_NONE: Verbs = {}


def main(arguments: Sequence[str], verbs: Verbs = _NONE) -> int:
    """Run one command; return the exit status: 0, or 2 where a name or a value cannot be used."""
    if arguments and arguments[0] in verbs:
        return verbs[arguments[0]].run(arguments[1:])
    options = _parser(verbs).parse_intermixed_args(arguments)
    if options.command == "list" or (options.help and not options.command):
        print("\n".join(_list(verbs)))
        return 0
    if options.command not in names():
        lost = f"no command '{options.command}'" if options.command else "no command given"
        return fail([f"{lost}; there are list, {', '.join(names())}"])
    calculator = load(options.command)
    if options.help:
        print("\n".join(_manual(calculator)))
        return 0
    bad = [text for text in options.inputs if "=" not in text]
    if bad:
        return fail([f"'{text}' is not of the form name=value" for text in bad])
    try:
        given = _by_unit(calculator, options.inputs)
    except (OSError, UnicodeDecodeError) as error:
        return fail([str(error)])
    return _compute(calculator, given, options)


def _usage(verbs: Verbs) -> str:
    """Return the forms of a command, one a line."""
    command = f"python -m {active_project.package()}"
    forms = [
        "list",
        *(f"{name} {verb.arguments}" for name, verb in verbs.items()),
        "CALCULATOR [name=value ...] [--json] [--binary] [--both-ways]",
        "CALCULATOR --help",
    ]
    return "\n       ".join(f"{command} {form}" for form in forms)


def _parser(verbs: Verbs) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {active_project.package()}",
        usage=_usage(verbs),
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs="?")
    parser.add_argument("inputs", nargs="*")
    for option in ("--json", "--binary", "--both-ways"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    return parser


def fail(problems: Iterable[str]) -> int:
    """Say what is wrong; return the status of wrong usage."""
    for problem in problems:
        print(problem, file=sys.stderr)
    return 2


def _list(verbs: Verbs) -> list[str]:
    rows = [(name, load(name).question) for name in names()]
    return [f"usage: {_usage(verbs)}", "", ABOUT, "", *_columns(rows)]


def _manual(calculator: Calculator) -> list[str]:
    rows = [
        (name, *_in_short(field, default), field.range_words(), _about(field))
        for name, field in calculator.fields.items()
        for default in [calculator.defaults[name]]
    ]
    presets = [
        f"  {title}: " + " ".join(f"{name}={plain(value)}" for name, value in change.items())
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


def _in_short(field: Field, value: Scalar) -> tuple[str, str]:
    """Return a value as a link names it and as a page shows it; of a text how long it is."""
    if isinstance(field, Text):
        return field.linked(value), field.brief(value)
    return plain(value), field.show(value)


def _about(field: Field) -> str:
    symbol = f" ({field.symbol})" if isinstance(field, Number) and field.symbol else ""
    return f"{field.label}{symbol}. {field.help}".rstrip()


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as indented lines whose columns stand below one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        ("  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def _compute(
    calculator: Calculator, given: Mapping[str, Mapping[str, str]], options: argparse.Namespace
) -> int:
    display = {"binary": options.binary, "both_ways": options.both_ways}
    found = reply({"calculator": calculator.name, **given, "display": display})
    errors = [f"{k}: {v['error']}" for k, v in found["inputs"].items() if v["error"]]
    if errors or found["problems"]:
        return fail([*found["problems"], *errors])
    print(dump(found) if options.json else _page(calculator, found, Display(**display)))
    return 0


def _by_unit(calculator: Calculator, given: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return {"values": bare numbers and names, "typed": numbers with a unit}."""
    found: dict[str, dict[str, str]] = {"values": {}, "typed": {}}
    for text in given:
        name, _, value = text.partition("=")
        field = calculator.fields.get(name)
        unit = isinstance(field, Number) and not _is_bare(value)
        if isinstance(field, Text) and value.startswith("@"):
            value = _content(value[1:])
        found["typed" if unit else "values"][name] = value
    return found


def _content(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    with open(file, encoding="utf-8") as opened:  # noqa: PTH123 (pathlib costs start-up time)
        return opened.read()


def _is_bare(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True


def _page(calculator: Calculator, found: Mapping[str, Any], display: Display) -> str:
    """Return all results as text."""
    values = {
        name: calculator.fields[name].read(entry["value"], typed=False)
        for name, entry in found["inputs"].items()
    }
    views = calculator.compute(make(calculator, values))
    rows = [(name, _in_short(calculator.fields[name], value)[1]) for name, value in values.items()]
    numbers = [_number(n, v, display) for n, v in views.items() if isinstance(v, Value)]
    blocks = [
        [f"{view.title}", *lines] if hasattr(view, "title") else list(lines)
        for view in views.values()
        if (lines := list(_lines(view, display)))
    ]
    parts = [[calculator.title, *_columns(rows)], _columns(numbers), *blocks]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _number(name: str, view: Value, display: Display) -> tuple[str, str, str]:
    note = words(view.note, display)
    shown = show(view.value, view.quantity, display)
    return name, shown, view.label + (f" ({note})" if note else "")


def _lines(view: View, display: Display) -> Iterator[str]:
    """Yield what the view says in words; nothing for a number, a drawing or an empty table."""
    if isinstance(view, Badge):
        yield f"{view.text}: {words(view.sentence, display)}"
    elif isinstance(view, Advice):
        yield f"  {words(view.verdict, display)}"
        if view.remedies:
            yield from _columns(
                [
                    (show(r.after, view.quantity, display), words(r.label, display))
                    for r in view.remedies
                ]
            )
    elif isinstance(view, Challenge):
        yield f"  {words(view.goal, display)}"
        yield from (
            f"  [{'x' if c.met else ' '}] {words(c.text, display)}" for c in view.conditions
        )
    else:
        yield from _data(view, display)


def _data(view: View, display: Display) -> Iterator[str]:
    if isinstance(view, Table) and view.rows:
        cells = table_words(view, display)
        yield from _columns([view.columns, *cells])
    elif isinstance(view, Bars):
        totals = [(bar.label, sum(part.value for part in bar.segments)) for bar in view.bars]
        yield from _columns([(n, show(v, view.axis.quantity, display)) for n, v in totals])
    elif isinstance(view, Formula):
        yield from _columns(
            [
                (key, show(*view.symbols[key], display), meaning)
                for key, (_, meaning) in view.equation.symbols.items()
            ]
        )
    elif isinstance(view, Lines):
        labels = [point.label for point in view.points] + [rule.label for rule in view.rules]
        yield from (f"  {words(label, display)}" for label in labels if label)
    elif isinstance(view, Code):
        yield view.text


def piped(arguments: Sequence[str], verbs: Verbs = _NONE) -> int:
    """Run one command whose reader may stop reading, as `| head` does; that is no error."""
    try:
        status = main(arguments, verbs)
        sys.stdout.flush()
    except BrokenPipeError:
        # Closed here, or Python would try to write the rest once more when it ends.
        with suppress(BrokenPipeError):
            sys.stdout.close()
        return 0
    return status
