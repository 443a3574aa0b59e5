"""A content file is TOML front matter between `+++` lines and Markdown: text -> Article."""

import datetime
import re
import tomllib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from builder.core.problem import Problem, line_of_toml

KEYS: dict[str, type] = {
    "title": str,
    "question": str,
    "summary": str,
    "path": str,
    "order": int,
    "requires": list,
    "next": list,
    "planned": list,
    "readers": list,
    "was": list,
    "updated": datetime.date,
    "minutes": int,
    "draft": bool,
}
FOLDERS = {
    "guides": "guide",
    "tools": "tool",
    "explorer": "tab",
    "reference": "page",
    "authors": "page",
    "paths": "path",
}
NEEDED = ("title", "summary")
NEEDED_IN_PATHS = (*NEEDED, "path")
NEEDED_IN_GUIDES = (*NEEDED, "question", "path", "order", "updated", "minutes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One content file.

    Attributes:
        source: its path from the project's folder, e.g. "content/guides/ring.md".
        slug: the file's name without ".md"; other articles name it so.
        url: its folder in the output, "" for the home page, else ending in "/".
        kind: by its folder "guide", "tool", "tab" (of the guide it requires), "path" or "page";
            "home" for content/index.md.
        path: the learning path as letter and name, e.g. "B Communication".
        requires: slugs of the guides to read before.
        next: slugs of the guides that continue here.
        planned: slugs in `requires` and `next` that need not exist yet.
        readers: keys of content/readers.toml: whose list on the home page it is in.
        was: former addresses, such as "guides/old-name"; they lead to this page.
        updated: ISO date.
        text: the whole file.
        body: the Markdown, with the front matter blanked so that line numbers stay.
    """

    source: str
    slug: str
    url: str
    kind: str
    title: str
    summary: str
    question: str = ""
    path: str = ""
    order: int = 0
    requires: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    was: tuple[str, ...] = ()
    updated: str = ""
    minutes: int = 0
    draft: bool = False
    text: str
    body: str


def parse(source: str, text: str) -> tuple[Article | None, list[Problem]]:
    """Return the article in `text` (None if its front matter is unusable) and its problems.

    Args:
        source: the file's path from the project's folder, beginning with "content/".
        text: what it holds.
    """
    lines = text.splitlines()
    if not lines or lines[0].strip() != "+++" or "+++" not in map(str.strip, lines[1:]):
        message = "an article begins with TOML front matter between two lines '+++'"
        return None, [Problem(source, 1, message)]
    end = [line.strip() for line in lines].index("+++", 1)
    try:
        text_of_matter = "\n".join(["", *lines[1:end]])
        matter = tomllib.loads(text_of_matter)
    except tomllib.TOMLDecodeError as error:
        line = line_of_toml(error, text_of_matter)
        return None, [Problem(source, line, f"front matter: {error}")]
    inner = PurePosixPath(source).relative_to("content")
    if len(inner.parts) > 1 and inner.parts[0] not in FOLDERS:
        message = f"there is no folder '{inner.parts[0]}' for articles; there are "
        return None, [Problem(source, 1, message + ", ".join(FOLDERS))]
    kind = _kind(inner)
    problems = [Problem(source, line, text) for line, text in _wrong(matter, lines[:end], kind)]
    if problems:
        return None, problems
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in matter.items()
    }
    if "updated" in values:
        values["updated"] = values["updated"].isoformat()
    body = "\n" * (end + 1) + "\n".join(lines[end + 1 :])
    where: dict[str, Any] = {"source": source, "slug": inner.stem, "url": _url(inner), "kind": kind}
    return Article(**where, **values, text=text, body=body), []


def _kind(inner: PurePosixPath) -> str:
    if str(inner) == "index.md":
        return "home"
    return FOLDERS.get(inner.parts[0], "page")


def _url(inner: PurePosixPath) -> str:
    folder = inner.parent if inner.stem == "index" else inner.with_suffix("")
    return "" if str(folder) == "." else f"{folder}/"


def _wrong(matter: dict[str, object], lines: list[str], kind: str) -> list[tuple[int, str]]:
    found = []
    for key, value in matter.items():
        begins = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        line = next((n for n, text in enumerate(lines, 1) if begins.match(text)), 1)
        if key not in KEYS:
            found.append((line, f"unknown front-matter key '{key}'; there are {', '.join(KEYS)}"))
        elif not _fits(value, KEYS[key]):
            found.append((line, f"front-matter key '{key}' is {value!r}; {_wanted(key)}"))
        elif value == "":
            found.append((line, f"front-matter key '{key}' is empty"))
        elif key == "path" and not re.fullmatch(r"[A-Z] \S.*", str(value)):
            message = f"the path '{value}' is not a letter and a name, such as 'B Moving bytes'"
            found.append((line, message))
    needed = {"guide": NEEDED_IN_GUIDES, "path": NEEDED_IN_PATHS}.get(kind, NEEDED)
    found += [(1, f"front-matter key '{key}' is missing") for key in needed if key not in matter]
    return found


def _fits(value: object, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return type(value) is kind


def _wanted(key: str) -> str:
    names = {str: "a text", int: "a whole number", bool: "true or false", list: "a list of texts"}
    return f"it has to be {names.get(KEYS[key], 'a date such as 2026-01-31')}"
