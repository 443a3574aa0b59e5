"""What an article opens and never closes: fences, `///` blocks, formulas, brackets."""

import re
from collections.abc import Iterator

from builder.core.problem import Problem, fenced, prose_lines, prose_only
from builder.markdown.extensions import citations

_PLACEMENT = re.compile(r"\[\[[^\[\]\n]*\]\]")
# One bracket too few at an end; a link's text may begin or end with a bracket of its own.
_OPEN = re.compile(r"\[\[[a-z_][^\[\]\n]*(?:\](?![\](\[]|[^\[\]\n]*\][(\[])|$)", re.MULTILINE)
_CLOSED = re.compile(r"(?<!\[)\[[a-z_]\w*\.\w+[^\[\]\n]*\]\](?![\](\[])")
_CITATION = re.compile(r"\[@[^\[\]]*\](?![(\[])")
_BLOCK = re.compile(r"^(\s*)(///+)\s*([\w-].*)?$")


def problems(source: str, body: str) -> list[Problem]:
    """Return one problem for each, on the line that opens it."""
    found = [*_fences(body), *_blocks(body), *_dollars(body), *_brackets(body)]
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


def _brackets(body: str) -> Iterator[tuple[int, str]]:
    """Yield placements with a bracket too few, and citations that name nothing."""
    if "[[" not in body and "]]" not in body and "[@" not in body:
        return
    text = prose_only(body)
    bare = _PLACEMENT.sub(lambda found: " " * len(found[0]), text)
    wrong = [(one, f"'{one[0].strip()}' lacks a ']' at its end") for one in _OPEN.finditer(bare)]
    wrong += [(one, f"'{one[0]}' lacks a '[' before it") for one in _CLOSED.finditer(bare)]
    wrong += [
        (one, f"'{one[0]}' is no citation; write [@key] or [@key; @other]")
        for one in _CITATION.finditer(text)
        if not re.fullmatch(citations.PATTERN, one[0])
    ]
    for one, message in wrong:
        yield text.count("\n", 0, one.start()) + 1, message


def _dollars(body: str) -> Iterator[tuple[int, str]]:
    text = prose_only(body).replace("\\$", "  ")
    for number, line in enumerate(text.splitlines(), 1):
        if "$" in line:
            yield number, "a formula is opened by $ and never closed; a dollar is written \\$"
