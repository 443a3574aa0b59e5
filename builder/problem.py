"""What is wrong in the content, and where: every problem names a file and a line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^\s*(```+|~~~+)")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One sentence about one line of a file; `path` is relative to the project's folder."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        """Return it as editors and terminals expect it: path:line: message."""
        return f"{self.path}:{self.line}: {self.message}"


class ContentError(Exception):
    """Something an author wrote cannot be used; whoever knows the file and line adds them."""


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) of the lines outside fenced code; code spans are blanked."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        else:
            yield number, re.sub(r"(`+).+?\1", lambda span: " " * len(span[0]), line)


def lines_of(text: str, needle: str) -> list[int]:
    """Return the lines (from 1) of `text` on which `needle` stands outside code; [1] if none."""
    first = needle.splitlines()[0].strip() if needle.strip() else needle
    return [number for number, line in prose_lines(text) if first and first in line] or [1]


def located(path: str, text: str, needle: str, message: str) -> list[Problem]:
    """Return the problem once for every line on which `needle` stands."""
    return [Problem(path, line, message) for line in lines_of(text, needle)]
