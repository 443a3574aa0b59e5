"""Where things lie, and the digest that says whether they changed."""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The project's folders; `code` holds the Python files that pages depend on."""

    root: Path
    content: Path
    theme: Path
    engine: Path
    cache: Path
    code: tuple[Path, ...]

    def keeper(self) -> str:
        """Return the script that keeps visited pages for readers without a network."""
        path = self.theme / "offline.js"
        return path.read_text("utf-8") if path.is_file() else ""


def project(root: Path) -> Folders:
    """Return the folders of the project in `root`."""
    return Folders(
        root=root,
        content=root / "content",
        theme=root / "theme",
        engine=root / "engine",
        cache=root / ".cache",
        code=(root / "engine", root / "builder"),
    )


def with_cache(places: Folders, cache: Path) -> Folders:
    """Return the same folders with another cache."""
    return replace(places, cache=cache)


def files(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the files under `folder`, sorted; hidden ones and byte code are left out."""
    found = folder.rglob(pattern) if folder.is_dir() else ()
    return sorted(
        path
        for path in found
        if path.is_file()
        and not any(p.startswith((".", "__pycache__")) for p in path.relative_to(folder).parts)
    )


def write_whole(path: Path, data: bytes) -> None:
    """Write a file of the cache so that another build beside this one never reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}-{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)


def digest(parts: Iterable[str | bytes]) -> str:
    """Return a short name for the texts in `parts`, in this order."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        # The length goes in too, so that moving a border between two parts changes the digest.
        total.update(f"{len(data)}:".encode())
        total.update(data)
    return total.hexdigest()[:16]


def digest_of_files(folder: Path, pattern: str = "*") -> str:
    """Return the digest of the names and contents of the files under `folder`."""
    found = files(folder, pattern)
    return digest(p for f in found for p in (f.relative_to(folder).as_posix(), f.read_bytes()))
