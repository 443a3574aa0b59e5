"""A project's theme laid over the generator's: single templates, styles and scripts give way.

The result lies in the cache. What a project replaces can still be extended: templates of the
generator are also `given/NAME.html`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from builder.folders import Folders, files

ROOMS = ("templates", "styles", "fonts", "runtime")
GIVEN = "templates/given"


def lay(folders: Folders) -> None:
    """Bring the laid theme up to date, where the project has one of its own."""
    if folders.given is None:
        return
    wanted = {
        **{f"{GIVEN}/{name}": path for name, path in _inside(folders.given / "templates")},
        **dict(_of_theme(folders.given)),
        **dict(_of_theme(folders.root / "theme")),
    }
    for name, path in wanted.items():
        _copied(path, folders.theme / name)
    for path in files(folders.theme):
        if path.relative_to(folders.theme).as_posix() not in wanted:
            path.unlink()


def _of_theme(theme: Path) -> Iterator[tuple[str, Path]]:
    """Yield name -> file of what makes a theme; what Node installed beside it is none."""
    for room in ROOMS:
        yield from ((f"{room}/{name}", path) for name, path in _inside(theme / room))
    yield from ((path.name, path) for path in sorted(theme.glob("*.*")) if path.is_file())


def _inside(folder: Path) -> Iterator[tuple[str, Path]]:
    yield from ((path.relative_to(folder).as_posix(), path) for path in files(folder))


def _copied(source: Path, target: Path) -> None:
    given = source.stat()
    there = target.stat() if target.is_file() else None
    if there and (there.st_mtime_ns, there.st_size) == (given.st_mtime_ns, given.st_size):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
