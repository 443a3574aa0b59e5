"""What no text needs and would keep a build busy for minutes: said before Markdown is read."""

import re
from collections.abc import Iterator

from builder.core.problem import Problem, fenced, prose_lines, prose_only

DEEPEST, WIDEST = 50, 100  # open brackets of one paragraph; columns before a text
_BLOCK = re.compile(r"\s*///+\s*[\w-]")
_YAML = re.compile(r"(?:^|[\s\[{,:])[&*][\w-]|<<\s*:|(?:^|\s)!\S")
_PAIRS = (("[", "]"), ("(", ")"))


def problems(source: str, body: str) -> list[Problem]:
    """Return what an article nests too deeply, and options of blocks that are more than values."""
    found = [*_brackets(body), *_indented(body), *_options(body)]
    return [Problem(source, line, message) for line, message in found]


def _brackets(body: str) -> Iterator[tuple[int, str]]:
    pairs = [pair for pair in _PAIRS if body.count(pair[0]) > DEEPEST]
    text = re.sub(r"\\.", "  ", prose_only(body)) if pairs else ""
    for opens, closes in pairs:
        depth = 0
        for number, line in enumerate(text.splitlines(), 1):
            before, depth = depth, 0 if not line.strip() else depth
            for sign in line:
                depth = max(0, depth + (sign == opens) - (sign == closes))
                if depth > DEEPEST >= before:
                    yield number, f"more than {DEEPEST} '{opens}' are open at once"
                    before = depth


def _indented(body: str) -> Iterator[tuple[int, str]]:
    for number, line, fence in fenced(body):
        if fence or not line[:1].isspace():
            continue
        wide = line.expandtabs(4)
        columns = len(wide) - len(wide.lstrip())
        if line.strip() and columns > WIDEST:
            yield number, f"begins after {columns} columns; at most {WIDEST}"
            return


def _options(body: str) -> Iterator[tuple[int, str]]:
    within = False
    for number, line in prose_lines(body):
        option = within and line.startswith("    ")
        if option and _YAML.search(line):
            yield number, "an option of a block is 'name: value', with no other sign of YAML"
        within = bool(_BLOCK.match(line)) or option
