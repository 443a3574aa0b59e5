"""A DeepSpeed JSON as text: its settings with the line of each, or line, column and reason."""

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
class Line:
    """A key of the file.

    Attributes:
        path: keys from the outermost one, joined by points.
        value: as read; an object where the key opens one.
        number: of the line, from 1.
    """

    path: str
    value: Any
    number: int


def read_settings(text: str) -> tuple[Line, ...]:
    """Return every key of a file in its order.

    Raises:
        InputError: the text is no JSON object, a key stands in an object twice, or a number is not
            finite.
    """
    tree = _tree(text)
    if not isinstance(tree, Mapping):
        raise InputError("line 1, column 1: a DeepSpeed configuration begins with '{'")
    return tuple(_lines(text, tree))


def _tree(text: str) -> Any:  # noqa: ANN401
    _shallow(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{place}: {_reason(text, error)}") from None
    except ValueError:
        raise InputError("line 1: a number is too long") from None


def _shallow(text: str) -> None:
    """Raise where brackets are too deep: in a browser, the decoder would end Python there."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        bracket = found[0]
        depth += (bracket in "{[") - (bracket in "}]")
        if depth > _DEEPEST:
            before = text[: found.start()]
            place = (
                f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
            )
            raise InputError(f"{place}: brackets are too deep, more than {_DEEPEST} in one another")


def _reason(text: str, error: json.JSONDecodeError) -> str:
    """Return what is wrong there, in the words of somebody who writes such files."""
    there = text[error.pos : error.pos + 1]
    if there in ("#", "/"):
        return "a comment; DeepSpeed reads Hjson, which has them, but JSON has none"
    if there in ("}", "]"):
        return "a key or a value is missing; the comma before it may be one too many"
    return error.msg[:1].lower() + error.msg[1:]


def _lines(text: str, tree: Mapping[str, Any]) -> Iterator[Line]:
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
                _once(stack[-1][1], word, number, at - text.rfind("\n", 0, at))
                key = word
                where = (*path, key)
                value = _value(tree, where)
                _sound(value, word, number, at - text.rfind("\n", 0, at))
                yield Line(path=".".join(where), value=value, number=number)
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


def _once(seen: set[str], word: str, number: int, column: int) -> None:
    if word in seen:
        raise InputError(
            f"line {number}, column {column}: '{word[:40]}' stands in this object twice; "
            "DeepSpeed refuses that"
        )
    seen.add(word)


def _sound(value: Any, word: str, number: int, column: int) -> None:  # noqa: ANN401
    """Raise where a number is none that a setting can have: Python's JSON reads NaN and 1e400."""
    for one in value if isinstance(value, list) else (value,):
        if isinstance(one, int | float) and not abs(one) < _MOST:
            raise InputError(
                f"line {number}, column {column}: the number of '{word[:40]}' is not finite"
            )


def _value(tree: Any, where: Sequence[str]) -> Any:  # noqa: ANN401
    for key in where:
        tree = tree[key] if isinstance(tree, Mapping) and key in tree else None
    return tree
