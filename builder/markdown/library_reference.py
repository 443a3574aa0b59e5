"""Reference of the library's functions and records as Markdown, read from their docstrings.

A page places it with `[[library.*]]` on a line of its own.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import FunctionType
from typing import Any

PACKAGE = "wallclock"
MODULE = "engine.library.package"
PLACEMENT = "[[library.*]]"
_SECTIONS = re.compile(r"^(Args|Attributes|Raises|Example):$", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_TITLES = {"Args": "Takes", "Attributes": "Holds", "Raises": "Raises"}


def has_placement(body: str) -> bool:
    """Say whether an article places the reference."""
    return PLACEMENT in body.splitlines()


def expand_reference(body: str) -> str:
    """Return the article's Markdown with the reference in place of its placement."""
    if not has_placement(body):
        return body
    reference = "\n".join(_reference_lines())
    return "\n".join(reference if line == PLACEMENT else line for line in body.splitlines())


def _reference_lines() -> Iterator[str]:
    exports = import_module(MODULE)
    members = [(name, getattr(exports, name)) for name in exports.__all__]
    functions = [(name, value) for name, value in members if isinstance(value, FunctionType)]
    yield "## Functions {#functions}\n"
    for name, function in functions:
        yield from _entry(name, f"{PACKAGE}.{name}{_signature(function)}", function)
    yield "## Records {#records}\n"
    yield "A record's fields cannot be assigned; `as_dict` makes plain data of any of them.\n"
    for name, value in members:
        if is_dataclass(value):
            yield from _entry(name, "", value)
    yield "## Errors {#errors}\n"
    for name, value in members:
        if isinstance(value, type) and issubclass(value, Exception):
            yield from _entry(name, "", value)


def _entry(name: str, signature: str, documented: Any) -> Iterator[str]:  # noqa: ANN401
    text = inspect.getdoc(documented) or ""
    parts = _SECTIONS.split(text)
    yield f"### `{name}` {{#{name}}}\n"
    if signature:
        yield f"```python\n{signature}\n```\n"
    yield _code(parts[0].strip()) + "\n"
    for title, section in zip(parts[1::2], parts[2::2], strict=True):
        section, after = _split_section(section)
        if title == "Example":
            yield f"```pycon\n{inspect.cleandoc(section)}\n```\n"
        else:
            yield f"{_TITLES[title]}:\n"
            for entry in _ENTRY.finditer(section):
                yield f"- `{entry[1]}`: {_code(' '.join(entry[2].split()))}"
            yield ""
        if after:
            yield _code(after) + "\n"


def _split_section(section: str) -> tuple[str, str]:
    """Return the indented lines of a section, and the paragraph after them."""
    lines = section.strip("\n").splitlines()
    ends = [at for at, line in enumerate(lines) if line and not line.startswith(" ")]
    end = ends[0] if ends else len(lines)
    return "\n".join(lines[:end]), "\n".join(lines[end:]).strip()


def _code(text: str) -> str:
    """Return a docstring's text without what Markdown would take for a link or a formula."""
    return text.replace("[", r"\[").replace("$", r"\$")


def _signature(function: FunctionType) -> str:
    """Return a signature with its types as the source writes them."""
    source = inspect.getsource(function)
    signature = re.search(r"\bdef \w+(\(.*?\) -> [^:]+):", source, re.DOTALL)
    assert signature
    text = " ".join(signature[1].split())
    return text.replace("( ", "(").replace(" )", ")").replace(",)", ")")
