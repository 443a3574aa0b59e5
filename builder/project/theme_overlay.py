"""A project's theme laid over the generator's: single templates, styles and scripts give way.

The result lies in the cache. What a project replaces can still be extended: templates of the
generator are also `given/NAME.html`. All of them speak the words of `words.toml`
(`builder.project.ui_strings`).
"""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from builder.core.folders import Folders, files, write_whole
from builder.core.problem import Problem
from builder.core.text_files import text_of
from builder.project import ui_strings
from builder.project.project_file import ProjectError

ROOMS = ("templates", "styles", "fonts", "runtime")
GIVEN = "templates/given"


def lay(folders: Folders) -> None:
    """Bring the laid theme up to date, where the project has one of its own.

    Raises:
        ProjectError: its words cannot be used.
    """
    if folders.given is None:
        return
    source = f"theme/{ui_strings.FILE}"
    said, wrong = ui_strings.read(folders.root / "theme", source)
    wanted = {
        **{f"{GIVEN}/{name}": path for name, path in _inside(folders.given / "templates")},
        **dict(_of_theme(folders.given)),
        **dict(_of_theme(folders.root / "theme")),
    }
    there: set[str] = set()
    for name, path in wanted.items():
        if said and ui_strings.has_any(name):
            there |= _worded(name, path, folders.theme / name, said)
        else:
            _copied(path, folders.theme / name)
    for path in files(folders.theme):
        if path.relative_to(folders.theme).as_posix() not in wanted:
            path.unlink()
    lines = (folders.root / source).read_text("utf-8") if said else ""
    wrong += [
        Problem(source, ui_strings.line_of(lines, text), f"'{text}' is no text of the interface")
        for text in said
        if text not in there
    ]
    if wrong:
        raise ProjectError(wrong)


def _of_theme(theme: Path) -> Iterator[tuple[str, Path]]:
    """Yield name -> file of what makes a theme; what Node installed beside it is none."""
    for room in ROOMS:
        yield from ((f"{room}/{name}", path) for name, path in _inside(theme / room))
    yield from ((path.name, path) for path in sorted(theme.glob("*.*")) if path.is_file())


def _inside(folder: Path) -> Iterator[tuple[str, Path]]:
    yield from ((path.relative_to(folder).as_posix(), path) for path in files(folder))


def _worded(name: str, source: Path, target: Path, said: Mapping[str, str]) -> set[str]:
    """Lay a file that speaks other words; return the texts that it had."""
    text, unread = text_of(source, name)
    if unread:  # said when the theme is checked
        _copied(source, target)
        return set()
    laid, there = ui_strings.replaced(name, text, said)
    if not target.is_file() or target.read_bytes() != laid.encode():
        write_whole(target, laid.encode())
    return there


def _copied(source: Path, target: Path) -> None:
    given = source.stat()
    there = target.stat() if target.is_file() else None
    if there and (there.st_mtime_ns, there.st_size) == (given.st_mtime_ns, given.st_size):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
