"""The interface in other words: `theme/words.toml` of a project, laid over the templates.

Its lines are `"Search" = "Suchen"`: a text of the interface as it stands in a template, and what
shall stand there. A text is what stands between two tags or signs of Jinja, in an attribute that
people read, or in quotation marks within those signs. The table of keys has texts, too.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from builder.core.folders import files
from builder.core.problem import Problem, line_of_toml
from builder.core.text_files import text_of

FILE, KEYS = "words.toml", "keys.toml"
_INSIDE = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'])*?"""
_SIGNS = re.compile(rf"\{{#.*?#\}}|\{{\{{{_INSIDE}\}}\}}|\{{%{_INSIDE}%\}}", re.DOTALL)
_TAG = re.compile(r"""<[/!a-zA-Z](?:"[^"]*"|'[^']*'|[^>"'])*>""")
_ATTRIBUTE = re.compile(r"""([\w-]+)=("[^"]*"|'[^']*')""")
_READ = ("aria-label", "aria-valuetext", "title", "placeholder", "alt")
_QUOTED = re.compile(r'"([^"\n]*)"')
# Names and kinds, which no reader sees, are small letters without a space.
_SPOKEN = re.compile(r"[A-Z].*[a-z]|.*[\w}] \w", re.DOTALL)
_NAMED = re.compile(r"\s*:")  # after the key of a table
_APART = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_RULES = re.compile(r"\{[^{}]*:[^{}]*;")  # of a style sheet
_IN_KEYS = re.compile(r'^(?:title|does) = "(.*)"$', re.MULTILINE)
_FILLED = re.compile(r"\{\w+\}")
_HOLE = "\0"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text of the interface: where it stands, what it says, whether within signs of Jinja."""

    start: int
    end: int
    text: str
    quoted: bool


def read(theme: Path, source: str) -> tuple[dict[str, str], list[Problem]]:
    """Return text -> other words of a theme, and what is wrong with their file."""
    text, unread = text_of(theme / FILE, source)
    if unread:
        return {}, unread
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [Problem(source, line_of_toml(error, text), str(error))]
    wrong = [
        Problem(source, line_of(text, key), f"'{key}' is {value!r}; it has to be a text")
        for key, value in given.items()
        if not isinstance(value, str) or not value.strip() or re.search(r"\{[{%#]", value)
    ]
    wrong += [] if wrong else _lost(text, source, given)
    return ({} if wrong else given), wrong


def _lost(text: str, source: str, given: Mapping[str, str]) -> list[Problem]:
    """Return the texts without what is filled into theirs, and those where nothing fills it."""
    found = []
    for key, said in given.items():
        wanted, there = (dict.fromkeys(_FILLED.findall(one)) for one in (key, said))
        lost, new = [p for p in wanted if p not in there], [p for p in there if p not in wanted]
        message = f"'{said}' lacks {' and '.join(lost)}, which is filled in" if lost else ""
        if new and not lost:
            message = f"'{said}' has {' and '.join(new)}, which nothing fills in"
        if message:
            found.append(Problem(source, line_of(text, key), message))
    return found


def line_of(text: str, key: str) -> int:
    """Return the line on which a text is given other words, 1 if it cannot be found."""
    begins = (f'"{key}"', f"'{key}'", key)
    return next((n for n, one in enumerate(text.splitlines(), 1) if one.startswith(begins)), 1)


def has_any(name: str) -> bool:
    """Say whether a file of a theme, by its path there, holds texts of the interface."""
    return name == KEYS or (name.startswith("templates/") and name.endswith(".html"))


def texts(name: str, text: str) -> list[str]:
    """Return the texts of the interface in a file of a theme, in their order."""
    return list(dict.fromkeys(piece.text for piece in _pieces(name, text)))


def of_theme(theme: Path) -> list[str]:
    """Return the texts of the interface of a theme, in the order of its files."""
    paths = [*files(theme / "templates", "*.html"), theme / KEYS]
    names = {path.relative_to(theme).as_posix(): path for path in paths}
    found = (texts(name, path.read_text("utf-8")) for name, path in names.items())
    return list(dict.fromkeys(text for some in found for text in some))


def replaced(name: str, text: str, words: Mapping[str, str]) -> tuple[str, set[str]]:
    """Return a file of a theme with other words, and the texts of the interface that it had."""
    pieces = _pieces(name, text)
    for piece in reversed(pieces):
        if piece.text in words:
            said = words[piece.text]
            said = re.sub(r'(["\\])', r"\\\1", said) if piece.quoted else escape(said)
            text = text[: piece.start] + said + text[piece.end :]
    return text, {piece.text for piece in pieces}


def _pieces(name: str, text: str) -> list[_Piece]:
    if name == KEYS:
        return [_Piece(*one.span(1), one[1], True) for one in _IN_KEYS.finditer(text)]
    text = _blank(_APART, text)
    return sorted((*_shown(text), *_within_signs(text)), key=lambda piece: piece.start)


def _shown(text: str) -> Iterator[_Piece]:
    """Yield what stands between tags and in attributes."""
    bare = _blank(_SIGNS, text)
    at = 0
    for tag in _TAG.finditer(bare):
        yield from _between(bare, at, tag.start())
        yield from _said(bare, tag.start(), tag.end())
        at = tag.end()
    yield from _between(bare, at, len(bare))


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: _HOLE * len(found[0]), text)


def _between(bare: str, start: int, end: int) -> Iterator[_Piece]:
    """Yield the texts between two tags; a macro can hold attributes alone, or rules of style."""
    if re.match(rf"[{_HOLE}\s]*[\w-]+=\"", bare[start:end]):
        yield from _said(bare, start, end)
    else:
        yield from (one for one in _parts(bare, start, end) if not _RULES.search(one.text))


def _said(bare: str, start: int, end: int) -> Iterator[_Piece]:
    """Yield the texts in attributes that people read."""
    for one in _ATTRIBUTE.finditer(bare, start, end):
        for part in _parts(bare, one.start(2) + 1, one.end(2) - 1):
            if one[1] in _READ or (one[1].startswith("data-") and _SPOKEN.match(part.text)):
                yield part


def _parts(bare: str, start: int, end: int) -> Iterator[_Piece]:
    """Yield what stands between the holes of a stretch of text."""
    for found in re.finditer(rf"[^{_HOLE}]+", bare[start:end]):
        said = found[0].strip()
        if re.search(r"[A-Za-z]", said):
            begin = start + found.start() + found[0].index(said)
            whole = " ".join(unescape(said).split())
            yield _Piece(begin, begin + len(said), whole, quoted=False)


def _within_signs(text: str) -> Iterator[_Piece]:
    for signs in _SIGNS.finditer(text):
        found = () if signs[0].startswith("{#") else _QUOTED.finditer(text, *signs.span())
        for one in found:
            if _SPOKEN.match(one[1]) and not _NAMED.match(text, one.end()):
                yield _Piece(*one.span(1), one[1], quoted=True)
