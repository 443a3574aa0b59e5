"""`cite FILE.bib` and `cite DOI`: sources into the bibliography, read by bibtexparser."""

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
PATIENCE = 20  # seconds
LACKING = "cite reads BibTeX with bibtexparser, which is not here: pip install bibtexparser"
_DOI = re.compile(r"(?:https://doi\.org/|doi:)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_WHERE = ("journal", "booktitle", "publisher", "school", "institution", "howpublished")
Fetch = Callable[[str], str]
Report = Callable[[str], None]
Fault = tuple[int, str]  # line from 0, message


class CiteError(Exception):
    """A source cannot be taken; the message is one sentence."""


def add(
    root: Path, given: str, fetch: Fetch | None = None, report: Report = lambda _: None
) -> list[str]:
    """Add the sources of a .bib file, or of a DOI, to the bibliography; return their new keys.

    Args:
        root: the project's folder.
        given: path of a file, or a DOI with or without the address of its resolver.
        fetch: DOI -> its BibTeX.
        report: is told which sources the bibliography has already; they stay as they are.

    Raises:
        CiteError: nothing could be read, an entry lacks what a source needs, or none is new.
    """
    doi = _DOI.fullmatch(given)
    if not doi and not Path(given).is_file():
        raise CiteError(f"'{given}' is no file and no DOI, which begins with 10.")
    text = (fetch or _fetched)(doi[1]) if doi else _text(Path(given))
    found = _tables(*_entries(text, given), given)
    path = root / REFERENCES
    before = path.read_text("utf-8") if path.is_file() else ""
    taken = [key for key in found if key in tomllib.loads(before)]
    has = f"{REFERENCES} has {', '.join(map(repr, taken))} already"
    if len(taken) == len(found):
        raise CiteError(f"{has}; nothing was added")
    new = {key: table for key, table in found.items() if key not in taken}
    whole = "\n\n".join(filter(None, (before.rstrip("\n"), *map(_toml, new, new.values()))))
    tomllib.loads(whole)
    path.write_text(whole + "\n", "utf-8")
    if taken:
        report(f"{has}; {'it stays as it is' if len(taken) == 1 else 'they stay as they are'}")
    return list(new)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise CiteError(f"{path}: byte {error.start} is not UTF-8") from None


def _fetched(doi: str) -> str:
    address = RESOLVER + quote(doi, safe="/:;()._-")
    asked = urllib.request.Request(address, headers={"Accept": ACCEPTED})
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            return str(answer.read().decode("utf-8", errors="replace"))
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise CiteError(f"{RESOLVER}{doi} did not answer: {error}") from None


def _entries(text: str, given: str) -> tuple[list[dict[str, str]], list[Fault]]:
    """Return the entries, and what is wrong with those that cannot be read."""
    try:
        from bibtexparser.entrypoint import parse_string
        from bibtexparser.middlewares import LatexDecodingMiddleware
    except ImportError:
        raise CiteError(LACKING) from None
    # It would write on its own what it cannot read.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = parse_string(text, append_middleware=[LatexDecodingMiddleware()])
    wrong = [(block.start_line or 0, _reason(block.error)) for block in library.failed_blocks]
    found = [
        {
            "key": e.key,
            "line": str(e.start_line or 0),
            **{f.key.lower(): str(f.value) for f in e.fields},
        }
        for e in library.entries
    ]
    if not (found or wrong):
        raise CiteError(f"{given} holds no entry of BibTeX")
    return found, wrong


def _reason(error: Exception) -> str:
    """Return why an entry cannot be read: its parser keeps that beside the message or in it."""
    told = str(getattr(error, "abort_reason", "") or error or type(error).__name__)
    return " ".join(told.partition(" Note: ")[0].split()).rstrip(".")


def _tables(
    entries: Iterable[Mapping[str, str]], unread: list[Fault], given: str
) -> dict[str, dict[str, Any]]:
    """Return key -> source, as the bibliography holds it.

    Raises:
        CiteError: entries cannot be read or lack what a source needs; all of them are told.
    """
    found: dict[str, dict[str, Any]] = {}
    wrong = [*unread]
    for entry in entries:
        key, table = _key(entry["key"]), _table(entry)
        lacking = [name for name in ("title", "year") if not table[name]]
        lacking += [] if table["url"] or table["isbn"] else ["url or isbn"]
        if lacking:
            message = f"'{entry['key']}' has no {' and no '.join(lacking)}"
            wrong.append((int(entry["line"]), message))
        elif key in found:
            message = f"'{entry['key']}' would be [@{key}], as an entry before it"
            wrong.append((int(entry["line"]), message))
        found[key] = table
    if wrong:
        told = (f"{given}:{line + 1}: {message}" for line, message in sorted(wrong))
        raise CiteError("\n".join(told) + "; nothing was added")
    return found


def _key(key: str) -> str:
    """Return a key that can stand in [@key]."""
    return re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")


def _table(entry: Mapping[str, str]) -> dict[str, Any]:
    """Return the source as the bibliography holds it."""
    year = entry.get("year") or entry.get("date", "")[:4]
    doi = _DOI.fullmatch(entry.get("doi", ""))
    url = RESOLVER + doi[1] if doi else entry.get("url", "").replace("http://", "https://")
    url = url if url.startswith("https://") else ""
    where = next((_plain(entry[name]) for name in _WHERE if entry.get(name)), "")
    volume = " ".join(filter(None, (where, entry.get("volume", ""))))
    pages = entry.get("pages", "").replace("--", "-").replace("–", "-")
    return {
        "authors": [_author(one) for one in re.split(r"\s+and\s+", entry.get("author", "")) if one],
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
    given = ((name, value) for name, value in table.items() if value not in ("", []))
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in given)
    return "\n".join((f"[{key}]", *lines))
