"""A memory of what was made, so that a build makes again only what changed."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from builder.folders import Folders, digest, digest_of_files, write_whole

Made = TypeVar("Made")


class Memo:
    """Name -> (key, value): the value is made again when its key, a digest, is another."""

    def __init__(self, kept: dict[str, tuple[str, Any]] | None = None) -> None:
        self._kept = dict(kept or {})
        self._used: set[str] = set()
        self.made: list[str] = []

    def get(self, name: str, key: str, make: Callable[[], Made]) -> Made:
        """Return the value of `name`, made now unless it is known for this key."""
        self._used.add(name)
        known = self._kept.get(name)
        if known is not None and known[0] == key:
            value: Made = known[1]
            return value
        value = make()
        self._kept[name] = (key, value)
        self.made.append(name)
        return value

    def next(self) -> "Memo":
        """Return the memory for the next build: what this one used."""
        return Memo({name: self._kept[name] for name in self._used})

    def save(self, path: Path) -> None:
        """Keep what this build used; other files of the same folder are forgotten."""
        for other in path.parent.glob("*.pickle"):
            other.unlink(missing_ok=True)
        write_whole(path, pickle.dumps({name: self._kept[name] for name in self._used}))


def place(folders: Folders) -> Path:
    """Return where a build leaves its memory: one file for one state of all code of ours."""
    code = digest(digest_of_files(folder) for folder in folders.code)
    return folders.cache / "pages" / f"{code}.pickle"


def load(path: Path) -> Memo:
    """Return the memory kept in a file, an empty one if there is none or it cannot be read."""
    try:
        return Memo(pickle.loads(path.read_bytes()))
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        return Memo()
