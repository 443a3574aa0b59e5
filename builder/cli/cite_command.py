"""`cite FILE.bib` and `cite DOI`: add BibTeX sources to the bibliography."""

import http.client
import json
import logging
import re
import tomllib
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from builder.content.library import REFERENCES

RESOLVER, ACCEPTED = "https://doi.org/", "application/x-bibtex"
FETCH_TIMEOUT = 20  # seconds
MISSING_PARSER = "cite reads BibTeX with bibtexparser, which is not here: pip install bibtexparser"
_DOI = re.compile(r"(?:https://doi\.org/|doi:)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_WHERE = ("journal", "booktitle", "publisher", "school", "institution", "howpublished")
Fetch = Callable[[str], str]
Report = Callable[[str], None]
LineMessage = tuple[int, str]  # line from 0, message


class CiteError(Exception):
    """A source cannot be added; the message is one sentence."""


def add_sources(
    root: Path, source: str, fetch: Fetch | None = None, report: Report = lambda _: None
) -> list[str]:
    """Add the sources of a .bib file, or of a DOI, to the bibliography; return their new keys.

    Args:
        root: the project's folder.
        source: path of a file, or a DOI with or without the URL of its resolver.
        fetch: DOI -> its BibTeX.
        report: called with the sources that are already in the bibliography.

    Raises:
        CiteError: nothing could be read, an entry lacks what a source needs, or none is new.
    """
    doi = _DOI.fullmatch(source)
    if not doi and not Path(source).is_file():
        raise CiteError(f"'{source}' is no file and no DOI, which begins with 10.")
    text = (fetch or _fetch_bibtex)(doi[1]) if doi else _read_file(Path(source))
    tables = _source_tables(*_parse_bibtex(text, source), source)
    path = root / REFERENCES
    previous_text = path.read_text("utf-8") if path.is_file() else ""
    known_keys = [key for key in tables if key in tomllib.loads(previous_text)]
    already_there = f"{REFERENCES} has {', '.join(map(repr, known_keys))} already"
    if len(known_keys) == len(tables):
        raise CiteError(f"{already_there}; nothing was added")
    new_tables = {key: table for key, table in tables.items() if key not in known_keys}
    new_text = "\n\n".join(
        filter(None, (previous_text.rstrip("\n"), *map(_toml, new_tables, new_tables.values())))
    )
    tomllib.loads(new_text)
    path.write_text(new_text + "\n", "utf-8")
    if known_keys:
        unchanged = "it stays as it is" if len(known_keys) == 1 else "they stay as they are"
        report(f"{already_there}; {unchanged}")
    return list(new_tables)


def _read_file(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise CiteError(f"{path}: byte {error.start} is not UTF-8") from None


def _fetch_bibtex(doi: str) -> str:
    address = RESOLVER + quote(doi, safe="/:;()._-")
    request = urllib.request.Request(address, headers={"Accept": ACCEPTED})
    try:
        with urllib.request.urlopen(request, timeout=FETCH_TIMEOUT) as response:
            return str(response.read().decode("utf-8", errors="replace"))
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise CiteError(f"{RESOLVER}{doi} did not answer: {error}") from None


def _parse_bibtex(text: str, source: str) -> tuple[list[dict[str, str]], list[LineMessage]]:
    """Return the BibTeX entries, and (line, message) of those that cannot be parsed."""
    try:
        from bibtexparser.entrypoint import parse_string
        from bibtexparser.middlewares import LatexDecodingMiddleware
    except ImportError:
        raise CiteError(MISSING_PARSER) from None
    # Otherwise it logs unreadable entries itself.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = parse_string(text, append_middleware=[LatexDecodingMiddleware()])
    unread = [(block.start_line or 0, _reason(block.error)) for block in library.failed_blocks]
    entries = [
        {
            "key": entry.key,
            "line": str(entry.start_line or 0),
            **{field.key.lower(): str(field.value) for field in entry.fields},
        }
        for entry in library.entries
    ]
    if not (entries or unread):
        raise CiteError(f"{source} holds no entry of BibTeX")
    return entries, unread


def _reason(error: Exception) -> str:
    """Return the parser's reason for rejecting an entry."""
    reason = str(getattr(error, "abort_reason", "") or error or type(error).__name__)
    return " ".join(reason.partition(" Note: ")[0].split()).rstrip(".")


def _source_tables(
    entries: Iterable[Mapping[str, str]], unread: list[LineMessage], source: str
) -> dict[str, dict[str, Any]]:
    """Return key -> table of each source for the bibliography.

    Raises:
        CiteError: entries are unreadable or incomplete; the message lists all of them.
    """
    tables: dict[str, dict[str, Any]] = {}
    problems = [*unread]
    for entry in entries:
        key, table = _source_key(entry["key"]), _source_table(entry)
        missing = [name for name in ("title", "year") if not table[name]]
        missing += [] if table["url"] or table["isbn"] else ["url or isbn"]
        if missing:
            message = f"'{entry['key']}' has no {' and no '.join(missing)}"
            problems.append((int(entry["line"]), message))
        elif key in tables:
            message = f"'{entry['key']}' would be [@{key}], as an entry before it"
            problems.append((int(entry["line"]), message))
        tables[key] = table
    if problems:
        lines = (f"{source}:{line + 1}: {message}" for line, message in sorted(problems))
        raise CiteError("\n".join(lines) + "; nothing was added")
    return tables


def _source_key(key: str) -> str:
    """Return a valid key for [@key] citations."""
    return re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")


def _source_table(entry: Mapping[str, str]) -> dict[str, Any]:
    """Return the bibliography table of a BibTeX entry."""
    year = entry.get("year") or entry.get("date", "")[:4]
    doi = _DOI.fullmatch(entry.get("doi", ""))
    url = RESOLVER + doi[1] if doi else entry.get("url", "").replace("http://", "https://")
    url = url if url.startswith("https://") else ""
    where = next((_plain(entry[name]) for name in _WHERE if entry.get(name)), "")
    volume = " ".join(filter(None, (where, entry.get("volume", ""))))
    pages = entry.get("pages", "").replace("--", "-").replace("–", "-")
    return {
        "authors": [
            _author(author) for author in re.split(r"\s+and\s+", entry.get("author", "")) if author
        ],
        "year": int(year) if year.isdecimal() else year,
        "title": _plain(entry.get("title", "")),
        "where": ", ".join(filter(None, (volume, pages))),
        "url": url,
        "isbn": entry.get("isbn", ""),
    }


def _author(name: str) -> str:
    last, comma, first = _plain(name).partition(", ")
    return f"{first} {last}" if comma else last


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[{}]", "", text).split())


def _toml(key: str, table: Mapping[str, Any]) -> str:
    # A text of JSON is one of TOML, too, save that TOML knows no escaped slash, which JSON
    # does not write.
    filled = ((name, value) for name, value in table.items() if value not in ("", []))
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in filled)
    return "\n".join((f"[{key}]", *lines))
