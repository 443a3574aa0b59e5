"""What an article opens and never closes: fences, `///` blocks, formulas."""

import re
from collections.abc import Iterator

from builder.problem import Problem, fenced, prose_lines, prose_only

_BLOCK = re.compile(r"^(\s*)(///+)\s*([\w-].*)?$")


def problems(source: str, body: str) -> list[Problem]:
    """Return one problem for each, on the line that opens it."""
    found = [*_fences(body), *_blocks(body), *_dollars(body)]
    return [Problem(source, line, message) for line, message in found]


def _fences(body: str) -> Iterator[tuple[int, str]]:
    opened = 0
    for number, _, fence in fenced(body):
        opened = (opened or number) if fence else 0
    if opened:
        yield opened, "this fence of code is never closed"


def _blocks(body: str) -> Iterator[tuple[int, str]]:
    opened: list[tuple[str, int, str]] = []
    for number, line in prose_lines(body):
        found = _BLOCK.match(line)
        if not found:
            continue
        _, marks, name = found.groups()
        if name:
            opened.append((marks, number, name))
        elif not opened:
            yield number, f"'{marks}' closes no block"
        elif opened[-1][0] != marks:
            yield number, f"'{marks}' does not close the block of line {opened[-1][1]}"
        else:
            opened.pop()
    for marks, number, name in opened:
        yield number, f"the block '{marks} {name}' is never closed by '{marks}'"


def _dollars(body: str) -> Iterator[tuple[int, str]]:
    text = prose_only(body).replace("\\$", "  ")
    for number, line in enumerate(text.splitlines(), 1):
        if "$" in line:
            yield number, "a formula is opened by $ and never closed; a dollar is written \\$"
