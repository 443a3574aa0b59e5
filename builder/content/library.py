"""Shared content files: bibliography, glossary, readers and measurements."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from builder.content.bibliography import Reference, parse_references
from builder.core.problem import Problem, line_of_toml

REFERENCES = "content/references.toml"
GLOSSARY = "content/glossary.toml"
READERS = "content/readers.toml"
MEASURED = "content/measured.json"
FILES = (REFERENCES, GLOSSARY, READERS, MEASURED)
_REFERENCE_KEYS = (
    "authors",
    "year",
    "title",
    "where",
    "url",
    "isbn",
    "used_for",
    "checked",
    "label",
)
_TERM_KEYS = ("text", "also", "see", "asked", "tools")
_READER_KEYS, _READER_REQUIRED = ("title", "text", "guides"), ("title", "text")
_LISTS = ("also", "authors", "asked", "tools", "guides")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)|n\.\s?d\.")
_KINDS: dict[str, tuple[type, ...]] = {
    "also": (),
    "asked": (),
    "tools": (),
    "guides": (),
    "year": (int, str),
    "checked": (bool,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A glossary entry.

    Attributes:
        name: as in the file.
        see: the slug of its guide, or "".
        line: in the file.
        asked: what readers type who look for it: its other names, and words such as "slow".
        tools: slugs of the tools that answer about it.
    """

    name: str
    text: str
    see: str
    line: int
    asked: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A kind of reader, who has a list of guides.

    `guides` are their slugs in the order to read them; without any, the list holds the guides that
    name the reader, in the order of the paths.
    """

    key: str
    title: str
    text: str
    guides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """References by key; terms by each of their lower-case names; readers in order.

    `measured` is the JSON output of measurements (`builder.markdown.reference_lists`).
    """

    references: Mapping[str, Reference]
    terms: Mapping[str, Term]
    readers: tuple[Reader, ...] = ()
    measured: Mapping[str, Any] | None = None


@lru_cache(maxsize=2)
def parse_library(
    references: str, glossary: str, readers: str = "", measured: str = ""
) -> tuple[Library, list[Problem]]:
    """Return the library from the texts of its four files ("" for a missing file), and problems."""
    sources, problems = _parse_tables(references, REFERENCES, _REFERENCE_KEYS, ("title", "year"))
    entries, glossary_problems = _parse_tables(glossary, GLOSSARY, _TERM_KEYS, ("text",))
    reader_tables, reader_problems = _parse_tables(readers, READERS, _READER_KEYS, _READER_REQUIRED)
    measurements, measured_problems = _parse_measured(measured)
    terms = {
        alias.lower(): Term(
            name=name,
            text=entry["text"],
            see=entry.get("see", ""),
            line=line_of_table(glossary, name),
            asked=(*entry.get("also", ()), *entry.get("asked", ())),
            tools=tuple(entry.get("tools", ())),
        )
        for name, entry in entries.items()
        for alias in (name, *entry.get("also", ()))
    }
    return Library(
        references=parse_references(sources),
        terms=terms,
        readers=tuple(
            Reader(
                key=key,
                title=table["title"],
                text=table["text"],
                guides=tuple(table.get("guides", ())),
            )
            for key, table in reader_tables.items()
        ),
        measured=measurements,
    ), [
        *problems,
        *glossary_problems,
        *_ambiguous_term_problems(glossary, entries),
        *reader_problems,
        *measured_problems,
    ]


def _parse_measured(text: str) -> tuple[Mapping[str, Any] | None, list[Problem]]:
    try:
        return (json.loads(text) if text else None), []
    except json.JSONDecodeError as error:
        return None, [Problem(MEASURED, error.lineno, error.msg)]


def term_problems(library: Library, slugs: Iterable[str]) -> list[Problem]:
    """Return problems for terms that refer to a page that does not exist."""
    known_slugs = set(slugs)
    return [
        Problem(GLOSSARY, term.line, f"'{term.name}' names the page '{slug}', which is not there")
        for term in dict.fromkeys(library.terms.values())
        for slug in (term.see, *term.tools)
        if slug and slug not in known_slugs
    ]


def line_of_table(text: str, key: str) -> int:
    """Return the line of the table `[key]` in a TOML text, 1 if it is not found."""
    head = re.compile(rf"\s*\[\s*[\"']?{re.escape(key)}[\"']?\s*\]")
    return next((n for n, line in enumerate(text.splitlines(), 1) if head.match(line)), 1)


def _parse_tables(
    text: str, path: str, allowed: tuple[str, ...], required: tuple[str, ...]
) -> tuple[dict[str, dict[str, Any]], list[Problem]]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [Problem(path, line_of_toml(error, text), str(error))]
    problems, valid = [], {}
    for key, entry in tables.items():
        messages = _table_problems(key, entry, allowed, required)
        problems += [Problem(path, line_of_table(text, key), message) for message in messages]
        if not messages:
            valid[key] = entry
    return valid, problems


def _ambiguous_term_problems(text: str, entries: Mapping[str, dict[str, Any]]) -> list[Problem]:
    """Return problems for names that two terms share."""
    first_term: dict[str, str] = {}
    problems = []
    for name, entry in entries.items():
        for alias in {alias.lower(): alias for alias in (name, *entry.get("also", ()))}.values():
            first = first_term.setdefault(alias.lower(), name)
            if first != name:
                message = f"'{alias}' is a name of both '{first}' and '{name}'"
                problems.append(Problem(GLOSSARY, line_of_table(text, name), message))
    return problems


def _table_problems(
    key: str, entry: object, allowed: tuple[str, ...], required: tuple[str, ...]
) -> list[str]:
    if not isinstance(entry, dict):
        return [f"'{key}' has to be a table [{key}]"]
    messages = [f"'{key}' has no {name}" for name in required if name not in entry]
    if "year" in required and not {"url", "isbn"} & set(entry):
        messages.append(f"'{key}' has no url, and no isbn as a printed book has")
    unknown = sorted(set(entry) - set(allowed))
    messages += [
        f"'{key}' has the {name} {value!r}; it has to be {_expected_value(name)}"
        for name, value in entry.items()
        if name in allowed and not _is_valid_value(name, value)
    ]
    messages += [
        f"'{key}' has an unknown key '{n}'; there are {', '.join(allowed)}" for n in unknown
    ]
    if not str(entry.get("url", "https://")).startswith("https://"):
        messages.append(f"'{key}' has the url '{entry['url']}'; external links begin with https://")
    return messages


def _is_valid_value(name: str, value: object) -> bool:
    if name in _LISTS and isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    if name == "year" and isinstance(value, str) and not _YEAR.search(value):
        return False
    return isinstance(value, _KINDS.get(name, str))


def _expected_value(name: str) -> str:
    return {
        "also": "a list of texts",
        "asked": "a list of texts",
        "tools": "a list of texts",
        "guides": "a list of texts",
        "authors": "a text or a list of texts",
        "year": "a year, a text with a year in it, or 'n.d.' where none is known",
        "checked": "true or false",
    }.get(name, "a text")
