"""Parser of a DeepSpeed JSON: settings with their lines, or an error with line and column."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.inputs import InputError

_DEEPEST = 50
_BRACKETS = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]]')
_MOST = 1e300  # numbers beyond it overflow where something is computed from them


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLine:
    """A key of the file with its value and line number.

    Attributes:
        path: keys from the outermost one, joined by points.
        value: as read; an object where the key opens one.
        number: of the line, from 1.
    """

    path: str
    value: Any
    number: int


def read_settings(text: str) -> tuple[SettingLine, ...]:
    """Return every key of a file in its order.

    Raises:
        InputError: the text is no JSON object, a key stands in an object twice, or a number is not
            finite.
    """
    tree = _parse(text)
    if not isinstance(tree, Mapping):
        raise InputError("line 1, column 1: a DeepSpeed configuration begins with '{'")
    return tuple(_lines(text, tree))


def _parse(text: str) -> Any:  # noqa: ANN401
    _check_depth(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{place}: {_reason(text, error)}") from None
    except ValueError:
        raise InputError("line 1: a number is too long") from None


def _check_depth(text: str) -> None:
    """Raise if brackets nest too deeply: in a browser, the decoder would crash Python."""
    depth = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        depth += (bracket in "{[") - (bracket in "}]")
        if depth > _DEEPEST:
            before = text[: match.start()]
            place = (
                f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
            )
            raise InputError(f"{place}: brackets are too deep, more than {_DEEPEST} in one another")


def _reason(text: str, error: json.JSONDecodeError) -> str:
    """Return the JSON syntax error in the words of an author of configuration files."""
    there = text[error.pos : error.pos + 1]
    if there in ("#", "/"):
        return "a comment; DeepSpeed reads Hjson, which has them, but JSON has none"
    if there in ("}", "]"):
        return "a key or a value is missing; the comma before it may be one too many"
    return error.msg[:1].lower() + error.msg[1:]


def _lines(text: str, tree: Mapping[str, Any]) -> Iterator[SettingLine]:
    """Yield the keys in the order of the text; the decoder has read it, so it is sound."""
    decoder = json.JSONDecoder()
    stack: list[tuple[str, set[str]]] = []
    path: list[str] = []
    at, key = 0, ""
    while at < len(text):
        letter = text[at]
        if letter == '"':
            word, end = decoder.raw_decode(text, at)
            rest = end
            while rest < len(text) and text[rest].isspace():
                rest += 1
            if rest < len(text) and text[rest] == ":":
                number = text.count("\n", 0, at) + 1
                _check_unique(stack[-1][1], word, number, at - text.rfind("\n", 0, at))
                key = word
                where = (*path, key)
                value = _value_at(tree, where)
                _check_finite(value, word, number, at - text.rfind("\n", 0, at))
                yield SettingLine(path=".".join(where), value=value, number=number)
            at = end
            continue
        if letter in "{[":
            path = [*path, key] if stack and letter == "{" and stack[-1][0] == "{" else path
            stack.append((letter, set()))
        elif letter in "}]":
            stack.pop()
            if letter == "}" and path and stack and stack[-1][0] == "{":
                path = path[:-1]
        at += 1


def _check_unique(seen: set[str], word: str, number: int, column: int) -> None:
    if word in seen:
        raise InputError(
            f"line {number}, column {column}: '{word[:40]}' stands in this object twice; "
            "DeepSpeed refuses that"
        )
    seen.add(word)


def _check_finite(value: Any, word: str, number: int, column: int) -> None:  # noqa: ANN401
    """Raise if a number is not finite: Python's JSON reads NaN and 1e400."""
    for element in value if isinstance(value, list) else (value,):
        if isinstance(element, int | float) and not abs(element) < _MOST:
            raise InputError(
                f"line {number}, column {column}: the number of '{word[:40]}' is not finite"
            )


def _value_at(tree: Any, where: Sequence[str]) -> Any:  # noqa: ANN401
    for key in where:
        tree = tree[key] if isinstance(tree, Mapping) and key in tree else None
    return tree
