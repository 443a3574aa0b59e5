"""Read what authors wrote: UTF-8 texts under names that make sound addresses."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from builder.core.folders import Folders
from builder.core.problem import Problem

LARGEST = 2_000_000  # bytes of an article; the longest guide here has a fortieth of that
_MARKDOWN = (".markdown", ".mdown", ".mkd", ".mkdn", ".mdwn")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def text_of(path: Path, source: str) -> tuple[str, list[Problem]]:
    """Return (text of a file, problems); the text is "" if there are any, or no such file."""
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
    found = _CONTROL.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        message = f"holds the control character U+{ord(found[0]):04X}"
        return "", [Problem(source, line, message)]
    return text.replace("\r\n", "\n").replace("\r", "\n"), []


def wrong_names(folders: Folders, there: Iterable[Path]) -> list[Problem]:
    """Return the files of the content folder whose names cannot be addresses or are not read."""
    found: list[Problem] = []
    seen: dict[str, str] = {}
    for path in there:
        source = path.relative_to(folders.root).as_posix()
        odd = [part for part in source.split("/")[1:] if not _NAME.fullmatch(part)]
        if odd:
            message = f"'{odd[0]}' is no address; use letters, digits, '-', '_' and '.'"
            found.append(Problem(source, 1, message))
        if path.suffix == ".md" and path.stat().st_size > LARGEST:
            size = f"{path.stat().st_size:,} bytes"
            found.append(Problem(source, 1, f"has {size}; an article has at most {LARGEST:,}"))
        if path.suffix.lower() in (*_MARKDOWN, ".md") and path.suffix != ".md":
            found.append(Problem(source, 1, f"is not read; call it {path.stem}.md"))
        alike = seen.setdefault(source.lower(), source)
        if alike != source:
            found.append(Problem(source, 1, f"differs from {alike} only in capitals"))
    return [*found, *_links(folders)]


def _links(folders: Folders) -> Iterator[Problem]:
    """Yield the links that lead out of the project, or to a folder, which is not followed."""
    root = folders.root.resolve()
    for path in _linked(folders.content) if folders.content.is_dir() else ():
        source = path.relative_to(folders.root).as_posix()
        if not path.resolve().is_relative_to(root):
            message = "is a link that leads out of the project; put the file itself here"
            yield Problem(source, 1, message)
        elif path.is_dir():
            yield Problem(source, 1, "is a link to a folder, which is not followed")


def _linked(folder: Path) -> Iterator[Path]:
    """Yield all links, those in folders with a dot in front of their names, too."""
    with os.scandir(folder) as entries:  # it knows what is a link, without asking for each
        found = [one for one in entries if one.is_symlink() or one.is_dir()]
    for one in sorted(found, key=lambda entry: entry.name):
        if one.is_symlink():
            yield folder / one.name
        else:
            yield from _linked(folder / one.name)
