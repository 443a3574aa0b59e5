"""Records of recognition: a dialect with its signs, a piece of a text, a text not read.

A dialect is declared once, with its signs, in `file_dialects.py` or `command_dialects.py`, and
listed in `dialects.py`; its reader has a file of its own, imported when a text is of that dialect.
A sign is what only that dialect has: a flag, a key, a function's name. The helpers below write
their patterns.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.run.importers.import_report import RunDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One configuration of a text.

    Attributes:
        dialect: the name of what it is.
        text: of it alone.
        line: of its first line, from 1.
        tree: what a JSON object holds.
        name: of its file, where the text says it.
    """

    dialect: str
    text: str
    line: int
    tree: Mapping[str, Any] | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A part of a text that no reader takes.

    Attributes:
        name: of its file, where the text says it; otherwise its lines.
        first: line, from 1.
        last: line.
        seen: signs of dialects, too few to tell one.
        reason: why it is not read.
    """

    name: str
    first: int
    last: int
    seen: tuple[str, ...] = ()
    reason: str = "no format that is known here"

    def sentence(self) -> str:
        """Return the sentence on unread lines, with the signs that were seen."""
        line_range = (
            f"lines {self.first}-{self.last}" if self.last > self.first else f"line {self.last}"
        )
        where = line_range if self.name == line_range else f"{self.name}, {line_range}"
        seen = "; ".join(self.seen) or "none"
        return f"{where}: not read: {self.reason}; signs seen: {seen}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What reads the texts of a dialect.

    Attributes:
        read: puts a piece into a draft.
        finish: derives values from several settings and assumes the software's defaults.
        refuses: says why a text of this dialect is not read after all; empty if it is.
    """

    read: Callable[[Piece, RunDraft], None]
    finish: Callable[[RunDraft], None] | None = None
    refuses: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A format that is read: its signs and its reader.

    Attributes:
        name: as shown to readers.
        reader: imports and returns the reader.
        software: whose defaults complete a job; empty for what describes a model or a launch.
        signs: patterns of a text; every distinct match outside of comments is one sign.
        keys: of a JSON object, points between levels; every one that stands there is one sign.
        joins: other software whose texts describe the same job together with this one.
        contains: names of dialects whose signs stand in this one's texts as well.
        overrides: is read last, as flags go before a file of the same software.
        weak: gives way to any other dialect of the same text.
    """

    name: str
    reader: Callable[[], Reader]
    software: str = ""
    signs: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    contains: frozenset[str] = frozenset()
    overrides: bool = False
    weak: bool = False
    patterns: tuple[re.Pattern[str], ...] = field(init=False)

    def __post_init__(self) -> None:
        """Compile the signs."""
        patterns = tuple(re.compile(sign, re.MULTILINE) for sign in self.signs)
        object.__setattr__(self, "patterns", patterns)

    def signs_in(self, text: str) -> tuple[str, ...]:
        """Return the distinct signs of a text without its comments, in order."""
        matches = (match[0] for pattern in self.patterns for match in pattern.finditer(text))
        return tuple(dict.fromkeys(_normalize(match) for match in matches))

    def keys_in(self, tree: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the keys of an object that only this dialect has."""
        return tuple(sorted(key for key in self.keys if _has(tree, key)))


def _normalize(match: str) -> str:
    return " ".join(match.split()).rstrip(" =:(.").replace("_", "-").strip("\"'").lower()[:60]


def _has(tree: Mapping[str, Any], key: str) -> bool:
    value: Any = tree
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True


# Variables of scripts that hold counts of nodes and processes.
LAUNCH_VARIABLES = (
    "NNODES", "NUM_NODES", "NUM_MACHINES", "NPROC_PER_NODE", "GPUS_PER_NODE", "NUM_GPUS_PER_NODE",
    "NGPU", "NGPUS", "NUM_GPUS", "CUDA_VISIBLE_DEVICES", "WORLD_SIZE",
)  # fmt: skip


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def flags(*names: str) -> str:
    """Return the pattern of flags, hyphens or underscores, that are no labels of a `case`."""
    words = "|".join(re.escape(name).replace(r"\-", "[-_]") for name in names)
    return rf"(?<![\w-])--(?:{words})(?=[\s=\\\"']|\)(?![^\n]*;;|[ \t]*$)|$)"


def yaml_keys(*names: str) -> str:
    """Return the pattern of keys at the first level of YAML."""
    return rf"^[\"']?(?:{'|'.join(names)})[\"']?\s*:(?=\s|$)"


def nested_yaml_keys(*names: str) -> str:
    """Return the pattern of keys below the first level of YAML."""
    return rf"^[ \t]+(?:- )?[\"']?(?:{'|'.join(names)})[\"']?\s*:(?=\s|$)"


def assignments(*names: str) -> str:
    """Return the pattern of assignments `NAME=` of a shell, a TOML or Python keywords."""
    return rf"(?<![\w.-])(?:{'|'.join(names)})\s?=(?!=)"
