"""Problems in the content, each with a file and a line; searches in Markdown outside of code."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_FENCE = re.compile(r"^\s*(```+|~~~+)")
_SPAN = re.compile(r"(`+).+?\1")
# As pymdownx.arithmatex reads them: `$$` on lines of its own, `$` within a paragraph.
_MATH = re.compile(
    r"^[ \t]*\$\$(?:\\.|[^\\])+?\$\$[ \t]*$"
    r"|(?<!\\)\$(?!\s)(?:\\.|(?!\n[ \t]*\n)[^\\$])+?(?<!\s)\$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A message about one line of a file; `path` is relative to the project's folder."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        """Return `path:line: message`, the format that editors and terminals link."""
        return f"{self.path}:{self.line}: {self.message}"


class TemplateError(Exception):
    """A template lacks what the builder needs; (a file name or a mark in its text, a message)."""


class ContentError(Exception):
    """Invalid content; the caller that knows the file and line adds them."""


def line_of_toml(error: tomllib.TOMLDecodeError, text: str) -> int:
    """Return the line (from 1) of a TOML syntax error."""
    line = re.search(r"at line (\d+)", str(error))
    return int(line[1]) if line else text.count("\n") + 1


def lines_with_fences(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number from 1, line, enclosing code fence or "") of every line.

    The line that closes a fence is its last and belongs to none.
    """
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        match = _FENCE.match(line)
        if fence:
            closes = match and match[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif match:
            fence = match[1]
        yield number, line, fence


@lru_cache(maxsize=2)  # consecutive checks read the same article
def prose_lines(text: str) -> tuple[tuple[int, str], ...]:
    """Return (line number from 1, line) outside fenced code, with code spans blanked."""
    previous_fence, lines = "", []
    for number, line, fence in lines_with_fences(text):
        if not fence and not previous_fence:
            lines.append((number, _SPAN.sub(lambda span: " " * len(span[0]), line)))
        previous_fence = fence
    return tuple(lines)


@lru_cache(maxsize=2)
def blank_code_and_math(text: str) -> str:
    """Return the text with code and formulas blanked; line numbers are unchanged."""
    prose = dict(prose_lines(text))
    lines = (prose.get(number, "") for number in range(1, len(text.splitlines()) + 1))
    return blank_math("\n".join(lines))


def blank_math(text: str) -> str:
    """Return the text with its formulas blanked; line numbers are unchanged."""
    return _MATH.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def lines_containing(text: str, needle: str) -> list[int]:
    """Return the line numbers of `text` that contain `needle` outside of code; [1] if none."""
    first = needle.splitlines()[0].strip() if needle.strip() else needle
    return [number for number, line in prose_lines(text) if first and first in line] or [1]


def problems_where(path: str, text: str, needle: str, message: str) -> list[Problem]:
    """Return one problem for every line that contains `needle`."""
    return [Problem(path, line, message) for line in lines_containing(text, needle)]


class ServiceError(Exception):
    """Node or another external tool failed; the message is one sentence."""
