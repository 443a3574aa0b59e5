"""Parser of a small, safe YAML subset: nested mappings, lists, scalars, with lines.

Enough for the files of accelerate and for recipes of NeMo. Anchors, tags, blocks and flow mappings
that hold something are refused with line and column.
"""

import re
from typing import Any

from engine.run.importers.import_report import Setting, TextError

_KEY = re.compile(
    r"^([^\s:#'\"\[\]{},&*!|>%@`-][^:#]{0,100}?|\"[^\"]{0,100}\"|'[^']{0,100}')\s*:(\s|$)"
)
_DEEPEST = 12


def read_yaml(text: str, first_line: int = 1) -> list[Setting]:
    """Return the leaves, their keys joined by points; raise `TextError` with line and column."""
    stack: list[tuple[int, str]] = []
    settings: list[Setting] = []
    for number, line in enumerate(text.splitlines(), first_line):
        body = _strip_comment(line)
        content = body.strip()
        if not content or content in ("---", "..."):
            continue
        indent = len(body) - len(body.lstrip(" "))
        if body[: indent + 1].endswith("\t"):
            raise TextError(f"line {number}, column {indent + 1}: a tab cannot indent")
        if content.startswith("- ") or content == "-":
            _read_item(content[1:].strip(), stack, settings, number)
            continue
        _read_entry(content, indent, stack, settings, number)
    return settings


def _read_entry(
    content: str, indent: int, stack: list[tuple[int, str]], settings: list[Setting], number: int
) -> None:
    match = _KEY.match(content)
    if not match:
        raise TextError(f"line {number}, column {indent + 1}: no 'key: value' here")
    while stack and stack[-1][0] >= indent:
        stack.pop()
    if len(stack) >= _DEEPEST:
        raise TextError(f"line {number}, column {indent + 1}: nested too deeply")
    key = match[1].strip("\"'")
    path = ".".join([*(name for _, name in stack), key])
    rest = content[match.end() :].strip()
    if re.fullmatch(r"\{\s*\}", rest):
        settings.append(Setting(key=path, value="{}", line=number))
        return
    if rest and rest[0] in "&*!|>{":
        raise TextError(
            f"line {number}, column {indent + match.end() + 1}: '{rest[0]}' is no part of the YAML "
            "that is read here"
        )
    if rest:
        settings.append(Setting(key=path, value=parse_scalar(rest), line=number))
    else:
        stack.append((indent, key))


def _read_item(
    content: str, stack: list[tuple[int, str]], settings: list[Setting], number: int
) -> None:
    """Add an item to the list of the key above."""
    path = ".".join(name for _, name in stack)
    if settings and settings[-1].key == path and isinstance(settings[-1].value, list):
        settings[-1].value.append(parse_scalar(content))
    else:
        settings.append(Setting(key=path, value=[parse_scalar(content)], line=number))


# A text in quotes, which begins a scalar and may hold the sign of a comment; or a comment.
_COMMENT = re.compile(r"""(?<![^\s\[,{])('[^']*'|"[^"]*")|(?:^|\s)#.*$""")


def _strip_comment(line: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or "", line.rstrip())


def parse_scalar(text: str) -> Any:  # noqa: ANN401
    """Return a scalar: text, number, true or false, nothing, or a list of them on one line."""
    word = text.strip()
    if word[:1] in "\"'" and word[:1] and word.endswith(word[0]) and len(word) > 1:
        return word[1:-1]
    if word.startswith("[") and word.endswith("]"):
        return [parse_scalar(part) for part in word[1:-1].split(",") if part.strip()][:4096]
    lowered = word.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("null", "none", "~", ""):
        return None
    body = word.removeprefix("-").replace("_", "")
    if body.isascii() and body.isdigit() and len(body) <= 18:
        return int(word.replace("_", ""))
    try:
        return float(word) if len(word) <= 40 and re.fullmatch(r"[-+.\deE_]+", word) else word
    except ValueError:
        return word
