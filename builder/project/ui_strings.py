"""Translations of the interface: `theme/words.toml` of a project, applied to the templates.

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
from builder.core.text_files import read_text

FILE, KEYS = "words.toml", "keys.toml"
_JINJA_CONTENT = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'])*?"""
_JINJA = re.compile(
    rf"\{{#.*?#\}}|\{{\{{{_JINJA_CONTENT}\}}\}}|\{{%{_JINJA_CONTENT}%\}}", re.DOTALL
)
_TAG = re.compile(r"""<[/!a-zA-Z](?:"[^"]*"|'[^']*'|[^>"'])*>""")
_ATTRIBUTE = re.compile(r"""([\w-]+)=("[^"]*"|'[^']*')""")
_READ_ATTRIBUTES = ("aria-label", "aria-valuetext", "title", "placeholder", "alt")
_QUOTED = re.compile(r'"([^"\n]*)"')
# Names and kinds, which no reader sees, are small letters without a space.
_READABLE = re.compile(r"[A-Z].*[a-z]|.*[\w}] \w", re.DOTALL)
_KEY_COLON = re.compile(r"\s*:")  # after the key of a table
_SCRIPT_OR_STYLE = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_CSS_RULES = re.compile(r"\{[^{}]*:[^{}]*;")  # of a style sheet
_IN_KEYS = re.compile(r'^(?:title|does) = "(.*)"$', re.MULTILINE)
_FORMAT_FIELD = re.compile(r"\{\w+\}")
_HOLE = "\0"


@dataclass(frozen=True, slots=True)
class _UiText:
    """A text of the interface: its span, its words, whether it is a string in a Jinja tag."""

    start: int
    end: int
    text: str
    quoted: bool


def read_translations(theme: Path, source: str) -> tuple[dict[str, str], list[Problem]]:
    """Return text -> translation of a theme, and the problems of the file."""
    text, file_problems = read_text(theme / FILE, source)
    if file_problems:
        return {}, file_problems
    try:
        translations = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [Problem(source, line_of_toml(error, text), str(error))]
    problems = [
        Problem(source, line_of(text, key), f"'{key}' is {value!r}; it has to be a text")
        for key, value in translations.items()
        if not isinstance(value, str) or not value.strip() or re.search(r"\{[{%#]", value)
    ]
    problems += [] if problems else _placeholder_problems(text, source, translations)
    return ({} if problems else translations), problems


def _placeholder_problems(text: str, source: str, translations: Mapping[str, str]) -> list[Problem]:
    """Return problems for translations with missing or unknown `{fields}`."""
    problems = []
    for key, translation in translations.items():
        wanted, present = (
            dict.fromkeys(_FORMAT_FIELD.findall(side)) for side in (key, translation)
        )
        missing, unknown = (
            [p for p in wanted if p not in present],
            [p for p in present if p not in wanted],
        )
        message = (
            f"'{translation}' lacks {' and '.join(missing)}, which is filled in" if missing else ""
        )
        if unknown and not missing:
            message = f"'{translation}' has {' and '.join(unknown)}, which nothing fills in"
        if message:
            problems.append(Problem(source, line_of(text, key), message))
    return problems


def line_of(text: str, key: str) -> int:
    """Return the line of a text's translation, 1 if it is not found."""
    prefixes = (f'"{key}"', f"'{key}'", key)
    return next((n for n, line in enumerate(text.splitlines(), 1) if line.startswith(prefixes)), 1)


def may_hold_texts(name: str) -> bool:
    """Return whether a theme file, by its relative path, can hold texts of the interface."""
    return name == KEYS or (name.startswith("templates/") and name.endswith(".html"))


def texts_of_file(name: str, text: str) -> list[str]:
    """Return the texts of the interface in a theme file, in order."""
    return list(dict.fromkeys(piece.text for piece in _ui_texts(name, text)))


def texts_of_theme(theme: Path) -> list[str]:
    """Return the texts of the interface in a theme, in the order of its files."""
    paths = [*files(theme / "templates", "*.html"), theme / KEYS]
    names = {path.relative_to(theme).as_posix(): path for path in paths}
    texts = (texts_of_file(name, path.read_text("utf-8")) for name, path in names.items())
    return list(dict.fromkeys(text for file_texts in texts for text in file_texts))


def translate_file(name: str, text: str, translations: Mapping[str, str]) -> tuple[str, set[str]]:
    """Return a theme file with translated texts, and the original texts that it had."""
    pieces = _ui_texts(name, text)
    for piece in reversed(pieces):
        if piece.text in translations:
            translation = translations[piece.text]
            translation = (
                re.sub(r'(["\\])', r"\\\1", translation) if piece.quoted else escape(translation)
            )
            text = text[: piece.start] + translation + text[piece.end :]
    return text, {piece.text for piece in pieces}


def _ui_texts(name: str, text: str) -> list[_UiText]:
    if name == KEYS:
        return [_UiText(*match.span(1), match[1], True) for match in _IN_KEYS.finditer(text)]
    text = _blank_matches(_SCRIPT_OR_STYLE, text)
    return sorted((*_html_texts(text), *_jinja_strings(text)), key=lambda piece: piece.start)


def _html_texts(text: str) -> Iterator[_UiText]:
    """Yield the texts between tags and in attributes."""
    html = _blank_matches(_JINJA, text)
    position = 0
    for tag in _TAG.finditer(html):
        yield from _texts_between_tags(html, position, tag.start())
        yield from _attribute_texts(html, tag.start(), tag.end())
        position = tag.end()
    yield from _texts_between_tags(html, position, len(html))


def _blank_matches(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: _HOLE * len(match[0]), text)


def _texts_between_tags(html: str, start: int, end: int) -> Iterator[_UiText]:
    """Yield the texts between two tags; a macro can also hold only attributes, or CSS rules."""
    if re.match(rf"[{_HOLE}\s]*[\w-]+=\"", html[start:end]):
        yield from _attribute_texts(html, start, end)
    else:
        yield from (
            piece for piece in _text_parts(html, start, end) if not _CSS_RULES.search(piece.text)
        )


def _attribute_texts(html: str, start: int, end: int) -> Iterator[_UiText]:
    """Yield the texts in attributes that people read."""
    for attribute in _ATTRIBUTE.finditer(html, start, end):
        for part in _text_parts(html, attribute.start(2) + 1, attribute.end(2) - 1):
            if attribute[1] in _READ_ATTRIBUTES or (
                attribute[1].startswith("data-") and _READABLE.match(part.text)
            ):
                yield part


def _text_parts(html: str, start: int, end: int) -> Iterator[_UiText]:
    """Yield the texts between blanked Jinja tags."""
    for match in re.finditer(rf"[^{_HOLE}]+", html[start:end]):
        stripped = match[0].strip()
        if re.search(r"[A-Za-z]", stripped):
            begin = start + match.start() + match[0].index(stripped)
            text = " ".join(unescape(stripped).split())
            yield _UiText(begin, begin + len(stripped), text, quoted=False)


def _jinja_strings(text: str) -> Iterator[_UiText]:
    for expression in _JINJA.finditer(text):
        strings = (
            () if expression[0].startswith("{#") else _QUOTED.finditer(text, *expression.span())
        )
        for match in strings:
            if _READABLE.match(match[1]) and not _KEY_COLON.match(text, match.end()):
                yield _UiText(*match.span(1), match[1], quoted=True)
