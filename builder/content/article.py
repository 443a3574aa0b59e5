"""Content files: TOML front matter between `+++` lines, then Markdown."""

import datetime
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from builder.core.problem import Problem, line_of_toml

FRONT_MATTER_TYPES: dict[str, type] = {
    "title": str,
    "question": str,
    "summary": str,
    "path": str,
    "order": int,
    "requires": list,
    "next": list,
    "planned": list,
    "readers": list,
    "group": str,
    "groups": list,
    "was": list,
    "updated": datetime.date,
    "minutes": int,
    "draft": bool,
}
KIND_BY_FOLDER = {
    "guides": "guide",
    "tools": "tool",
    "explorer": "tab",
    "reference": "page",
    "authors": "page",
    "paths": "path",
    "courses": "course",
}
SHELVES = ("paths", "tools", "reference")  # pages that list all of a folder: content/tools.md
REQUIRED_KEYS = ("title", "summary")
REQUIRED_IN_PATHS = (*REQUIRED_KEYS, "path")
REQUIRED_IN_GUIDES = (*REQUIRED_KEYS, "question", "path", "order", "updated", "minutes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One content file.

    Attributes:
        source: its path from the project's folder, e.g. "content/guides/ring.md".
        slug: the file's name without ".md"; other articles name it so.
        url: its folder in the output, "" for the home page, else ending in "/".
        kind: by its folder "guide", "tool", "tab" (of the guide it requires), "path", "course" (the
            first page of a reader's list, named by its key) or "page";
            "home" for content/index.md, "shelf" for the page that lists a folder, such as
            content/tools.md.
        path: the learning path as letter and name, e.g. "B Communication".
        requires: slugs of the guides to read before.
        next: slugs of the guides that continue here.
        planned: slugs in `requires` and `next` that need not exist yet.
        readers: keys of content/readers.toml: whose list on the home page it is in.
        group: of a tool, one of the `groups` of content/tools.md.
        groups: of content/tools.md, in order.
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
    group: str = ""
    groups: tuple[str, ...] = ()
    was: tuple[str, ...] = ()
    updated: str = ""
    minutes: int = 0
    draft: bool = False
    text: str
    body: str


def parse_article(source: str, text: str) -> tuple[Article | None, list[Problem]]:
    """Return the article in `text` (None if it cannot be read) and the problems of its keys.

    An article with problems is there to be checked further: stand-ins fill what is missing.

    Args:
        source: the file's path from the project's folder, beginning with "content/".
        text: content of the file.
    """
    lines = text.splitlines()
    if not lines or lines[0].strip() != "+++" or "+++" not in map(str.strip, lines[1:]):
        message = "an article begins with TOML front matter between two lines '+++'"
        return None, [Problem(source, 1, message)]
    end = [line.strip() for line in lines].index("+++", 1)
    try:
        front_matter_text = "\n".join(["", *lines[1:end]])
        front_matter = tomllib.loads(front_matter_text)
    except tomllib.TOMLDecodeError as error:
        line = line_of_toml(error, front_matter_text)
        return None, [Problem(source, line, f"front matter: {error}")]
    relative_path = PurePosixPath(source).relative_to("content")
    if len(relative_path.parts) > 1 and relative_path.parts[0] not in KIND_BY_FOLDER:
        message = f"there is no folder '{relative_path.parts[0]}' for articles; there are "
        return None, [Problem(source, 1, message + ", ".join(KIND_BY_FOLDER))]
    kind = _kind(relative_path)
    problems = [
        Problem(source, line, text)
        for line, text in _front_matter_problems(front_matter, lines[:end], kind)
    ]
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in front_matter.items()
        if not list(_value_messages(key, value))
    }
    if "updated" in values:
        values["updated"] = values["updated"].isoformat()
    if problems:
        values = _stand_ins(relative_path.stem, kind) | values
    body = "\n" * (end + 1) + "\n".join(lines[end + 1 :])
    location: dict[str, Any] = {
        "source": source,
        "slug": relative_path.stem,
        "url": _url(relative_path),
        "kind": kind,
    }
    return Article(**location, **values, text=text, body=body), problems


def _stand_ins(slug: str, kind: str) -> dict[str, Any]:
    """Return what stands for missing keys while the rest of an article is checked."""
    values: dict[str, Any] = {"title": slug, "summary": slug}
    if kind in ("guide", "path"):
        values["path"] = "Z Drafts"
    if kind == "guide":
        values |= {"question": f"{slug}?", "order": 0, "updated": "2026-01-01", "minutes": 1}
    return values


def _kind(relative_path: PurePosixPath) -> str:
    if str(relative_path) == "index.md":
        return "home"
    if len(relative_path.parts) == 1 and relative_path.stem in SHELVES:
        return "shelf"
    return KIND_BY_FOLDER.get(relative_path.parts[0], "page")


def _url(relative_path: PurePosixPath) -> str:
    folder = (
        relative_path.parent if relative_path.stem == "index" else relative_path.with_suffix("")
    )
    return "" if str(folder) == "." else f"{folder}/"


def _front_matter_problems(
    front_matter: dict[str, object], lines: list[str], kind: str
) -> list[tuple[int, str]]:
    problems = []
    for key, value in front_matter.items():
        key_pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        line = next((n for n, text in enumerate(lines, 1) if key_pattern.match(text)), 1)
        problems += [(line, message) for message in _value_messages(key, value)]
    required = {"guide": REQUIRED_IN_GUIDES, "path": REQUIRED_IN_PATHS}.get(kind, REQUIRED_KEYS)
    problems += [
        (1, f"front-matter key '{key}' is missing") for key in required if key not in front_matter
    ]
    return problems


def _value_messages(key: str, value: object) -> Iterator[str]:
    """Yield what is wrong with a key of the front matter or its value."""
    if key not in FRONT_MATTER_TYPES:
        yield f"unknown front-matter key '{key}'; there are {', '.join(FRONT_MATTER_TYPES)}"
    elif not _has_type(value, FRONT_MATTER_TYPES[key]):
        yield f"front-matter key '{key}' is {value!r}; {_expected_value(key)}"
    elif value == "":
        yield f"front-matter key '{key}' is empty"
    elif key == "path" and not re.fullmatch(r"[A-Z] \S.*", str(value)):
        yield f"the path '{value}' is not a letter and a name, such as 'B Moving bytes'"


def _has_type(value: object, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return type(value) is kind


def _expected_value(key: str) -> str:
    names = {str: "a text", int: "a whole number", bool: "true or false", list: "a list of texts"}
    return f"it has to be {names.get(FRONT_MATTER_TYPES[key], 'a date such as 2026-01-31')}"
