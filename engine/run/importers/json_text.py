"""Settings of a JSON object with their lines."""

import re

from engine.run.importers.dialect import Piece
from engine.run.importers.import_report import Setting, flatten


def object_settings(piece: Piece) -> list[Setting]:
    """Return the leaves of a piece's object, each with the first line that names its key."""
    lines = _key_lines(piece)
    return [
        Setting(
            key=leaf.key, value=leaf.value, line=lines.get(leaf.key.rpartition(".")[2], piece.line)
        )
        for leaf in flatten(piece.tree or {})
    ]


def _key_lines(piece: Piece) -> dict[str, int]:
    """Return the line of each key of an object: the first that names it in quotes."""
    lines: dict[str, int] = {}
    for number, line in enumerate(piece.text.splitlines(), piece.line):
        for name in re.findall(r'"([^"\n]{1,100})"\s*:', line[:2000]):
            lines.setdefault(name, number)
    return lines
