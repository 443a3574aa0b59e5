"""Settings of a JSON object with their lines."""

import json
import re
from collections.abc import Iterator

from engine.run.importers.dialect import Piece
from engine.run.importers.import_report import Setting, flatten

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|\n')


def object_settings(piece: Piece) -> list[Setting]:
    """Return the leaves of a piece's object, each with the line of its key."""
    lines = dict(_key_lines(piece))
    return [
        Setting(key=leaf.key, value=leaf.value, line=lines.get(leaf.key, piece.line))
        for leaf in flatten(piece.tree or {})
    ]


def _key_lines(piece: Piece) -> Iterator[tuple[str, int]]:
    """Yield the keys of an object, joined by points, with their lines."""
    path: list[str] = []
    line, word, key = piece.line, "", ""
    for match in _TOKEN.finditer(piece.text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token == ":":
            key = word
            yield ".".join([*path[1:], key]), line
        elif token in "{[":
            path.append(key)
        elif token in "}]":
            path = path[:-1]
        elif token != ",":
            word = _unquoted(token)


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1]
