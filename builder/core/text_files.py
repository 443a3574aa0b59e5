"""Reads authors' text files: UTF-8 checks, and checks of file names that become URLs."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from builder.core.folders import Folders
from builder.core.problem import Problem

MAX_ARTICLE_SIZE = 2_000_000  # bytes of an article; the longest guide here has a fortieth of that
_MARKDOWN = (".markdown", ".mdown", ".mkd", ".mkdn", ".mdwn")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def read_text(path: Path, source: str) -> tuple[str, list[Problem]]:
    """Return (text, problems) of a file; the text is "" if there are problems or no such file."""
    if not path.is_file():
        return "", []
    data = path.read_bytes()
    if data.startswith(b"\xef\xbb\xbf"):
        return "", [Problem(source, 1, "begins with a byte-order mark; save it without")]
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", [Problem(source, line, f"byte 0x{data[error.start]:02x} is not UTF-8")]
    match = _CONTROL.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        message = f"holds the control character U+{ord(match[0]):04X}"
        return "", [Problem(source, line, message)]
    return text.replace("\r\n", "\n").replace("\r", "\n"), []


def name_problems(folders: Folders, paths: Iterable[Path]) -> list[Problem]:
    """Return problems with file names in the content folder: not usable as URLs, or not read."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for path in paths:
        source = path.relative_to(folders.root).as_posix()
        bad_parts = [part for part in source.split("/")[1:] if not _NAME.fullmatch(part)]
        if bad_parts:
            message = f"'{bad_parts[0]}' is no address; use letters, digits, '-', '_' and '.'"
            problems.append(Problem(source, 1, message))
        if path.suffix == ".md" and path.stat().st_size > MAX_ARTICLE_SIZE:
            size = f"{path.stat().st_size:,} bytes"
            problems.append(
                Problem(source, 1, f"has {size}; an article has at most {MAX_ARTICLE_SIZE:,}")
            )
        if path.suffix.lower() in (*_MARKDOWN, ".md") and path.suffix != ".md":
            problems.append(Problem(source, 1, f"is not read; call it {path.stem}.md"))
        first_source = seen.setdefault(source.lower(), source)
        if first_source != source:
            problems.append(Problem(source, 1, f"differs from {first_source} only in capitals"))
    return [*problems, *_link_problems(folders)]


def _link_problems(folders: Folders) -> Iterator[Problem]:
    """Yield problems with symbolic links that leave the project or lead to a folder."""
    root = folders.root.resolve()
    for path in _symbolic_links(folders.content) if folders.content.is_dir() else ():
        source = path.relative_to(folders.root).as_posix()
        if not path.resolve().is_relative_to(root):
            message = "is a link that leads out of the project; put the file itself here"
            yield Problem(source, 1, message)
        elif path.is_dir():
            yield Problem(source, 1, "is a link to a folder, which is not followed")


def _symbolic_links(folder: Path) -> Iterator[Path]:
    """Yield all symbolic links, in hidden folders too."""
    with os.scandir(folder) as entries:  # entries know their type without a stat call
        candidates = [entry for entry in entries if entry.is_symlink() or entry.is_dir()]
    for entry in sorted(candidates, key=lambda entry: entry.name):
        if entry.is_symlink():
            yield folder / entry.name
        else:
            yield from _symbolic_links(folder / entry.name)
