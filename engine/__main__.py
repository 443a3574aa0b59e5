"""The engine in a terminal: `list`, or a calculator with its inputs as name=value."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from engine.answer import dump, reply
from engine.calculator import Calculator, load, names
from engine.inputs import Field, Number
from engine.text import plain

USAGE = """python -m engine list
       python -m engine CALCULATOR [name=value ...] [--json] [--binary] [--both-ways]
       python -m engine CALCULATOR --help"""
ABOUT = """A bare value is in SI units, as in a link to the page (port=5e10); one with a unit is read
as the page reads it (port=400Gb/s, parameters=7B)."""


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit status: 0, or 2 where a name or a value cannot be used."""
    options = _parser().parse_args(arguments)
    if options.command == "list" or (options.command is None and options.help):
        print(_list())
        return 0
    if options.command not in names():
        lost = "no command given" if options.command is None else f"no command '{options.command}'"
        return _fail([f"{lost}; there are list, {', '.join(names())}"])
    calculator = load(options.command)
    if options.help:
        print(_manual(calculator))
        return 0
    bad = [text for text in options.inputs if "=" not in text]
    if bad:
        return _fail([f"'{text}' is not of the form name=value" for text in bad])
    return _compute(calculator, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", usage=USAGE, add_help=False)
    parser.add_argument("command", nargs="?")
    parser.add_argument("inputs", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--binary", action="store_true")
    parser.add_argument("--both-ways", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    return parser


def _fail(problems: Sequence[str]) -> int:
    for problem in problems:
        print(problem, file=sys.stderr)
    return 2


def _list() -> str:
    calculators = [load(name) for name in names()]
    width = max(len(calculator.name) for calculator in calculators)
    rows = (f"  {calculator.name:<{width}}  {calculator.question}" for calculator in calculators)
    return "\n".join([f"usage: {USAGE}", "", ABOUT, "", *rows])


def _manual(calculator: Calculator) -> str:
    defaults = calculator.defaults
    rows = [
        (name, field.show(defaults[name]), plain(defaults[name]), field.range_words(), _about(field))
        for name, field in calculator.fields.items()
    ]
    heads = ("input", "default", "in SI", "allowed", "what it is")
    presets = [
        f"  {title}: {' '.join(f'{name}={plain(value)}' for name, value in values.items())}"
        for title, values in calculator.presets.items()
    ]
    return "\n".join(
        [
            f"{calculator.title}. {calculator.question}",
            "",
            *_columns([heads, *rows]),
            *(["", "Presets:", *presets] if presets else []),
            "",
            ABOUT,
        ]
    )


def _about(field: Field) -> str:
    symbol = f" {field.symbol}" if isinstance(field, Number) and field.symbol else ""
    return f"{field.label}{symbol}." + (f" {field.help}" if field.help else "")


def _columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Return the rows as lines whose columns stand below one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _compute(calculator: Calculator, options: argparse.Namespace) -> int:
    request = {
        "calculator": calculator.name,
        **_sorted_inputs(calculator, options.inputs),
        "display": {"binary": options.binary, "both_ways": options.both_ways},
    }
    found = reply(request)
    errors = [f"{k}: {v['error']}" for k, v in found["inputs"].items() if v["error"]]
    if errors or found["problems"]:
        return _fail([*found["problems"], *errors])
    print(dump(found) if options.json else _page(calculator, found))
    return 0


def _sorted_inputs(calculator: Calculator, given: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return {"values": SI, "typed": with a unit}; a number with a unit is as typed on the page."""
    sorted_: dict[str, dict[str, str]] = {"values": {}, "typed": {}}
    for text in given:
        name, _, value = text.partition("=")
        bare = not isinstance(calculator.fields.get(name), Number) or _is_float(value)
        sorted_["values" if bare else "typed"][name] = value
    return sorted_
