"""Folders of a project and of the generator; file listings, digests and atomic writes."""

import fnmatch
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from builder.core.project import Project

# The folder of the generator: its engine, its builder and its theme.
GENERATOR = Path(__file__).resolve().parents[2]
THEME = GENERATOR / "theme"
# Whether the generator is an installed package; then nothing is written to its folder.
INSTALLED = not (GENERATOR / "build.py").is_file()
OFFLINE_SCRIPT = "offline.js"
RECEIPTS = "receipts/"  # folder of a page's receipts, relative to the page
SCRIPTS = ("early.js", "embed.js", "missing.js", "moved.js", OFFLINE_SCRIPT)
_CHECKSUM_SIZE = hashlib.sha256().digest_size
FileStamps = tuple[tuple[Path, int, int], ...]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders of a project; `code` are the folders of the Python files that pages depend on.

    `groups` holds, by import name, the files of packages for the browser
    (`builder.project.python_packages`). `framework` is the generator's engine, None where the
    project brings a complete engine. `base_theme` is the generator's theme where `theme` is the
    overlay of the project's theme on it. `computed` holds the values of `compute_once`.
    """

    project: Project
    root: Path
    content: Path
    theme: Path
    engine: Path
    cache: Path
    code: tuple[Path, ...]
    framework: Path | None = None
    groups: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    base_theme: Path | None = None
    computed: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def compute_once(self, name: str, compute: Callable[[], Value]) -> Value:
        """Return a value of the theme and the code, computed once per activation of the project.

        A project is activated again for every build, unless the server knows that only its content
        has changed.
        """
        if name not in self.computed:
            self.computed[name] = compute()
        value: Value = self.computed[name]
        return value

    @property
    def engine_packages(self) -> tuple[Path, ...]:
        """The packages that are sent to the reader's browser."""
        return (self.engine, *((self.framework,) if self.framework else ()))

    def display_path(self, path: Path) -> str:
        """Return the path of a file for messages, relative to the project where it lies in it."""
        if self.base_theme and path.is_relative_to(self.theme):
            relative = path.relative_to(self.theme)
            override = self.root / "theme" / relative
            path = override if override.is_file() else self.base_theme / relative
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()

    @property
    def shared_cache(self) -> Path | None:
        """The generator's own cache, which shares its parts of the runtime between all projects.

        None where it cannot be written, and for a build with a cache of its own, which trusts no
        other cache.
        """
        if INSTALLED or self.cache != self.root / ".cache":
            return None
        return GENERATOR / ".cache" if os.access(GENERATOR, os.W_OK) else None

    @property
    def shared_or_own_cache(self) -> Path:
        """The shared cache, or the project's own cache where there is none."""
        return self.shared_cache or self.cache

    def scripts(self) -> dict[str, str]:
        """Return name -> text of the theme's scripts that are not modules.

        They run before the first paint, in pages elsewhere that show a calculator, on the former
        address of a page, and as the keeper of visited pages for readers without a network.
        """
        paths = (self.theme / name for name in SCRIPTS)
        return {path.name: path.read_text("utf-8") for path in paths if path.is_file()}


def project_folders(project: Project, root: Path, cache: Path | None = None) -> Folders:
    """Return the folders of the project in `root`.

    Its engine stands beside the generator's, and its theme is laid over the generator's
    (`builder.project.theme_overlay`), unless they are the same.
    """
    cache = cache or root / ".cache"
    engine, theme = root / project.engine, root / "theme"
    framework = None if engine == GENERATOR / "engine" else GENERATOR / "engine"
    has_own_theme = theme != THEME and theme.is_dir()
    return Folders(
        project=project,
        root=root,
        content=root / "content",
        theme=cache / "theme" if has_own_theme else THEME,
        engine=engine,
        cache=cache,
        code=(engine, *((framework,) if framework else ()), GENERATOR / "builder"),
        framework=framework,
        base_theme=THEME if has_own_theme else None,
    )


def files(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the sorted files under `folder`, without hidden files and byte code."""
    return list(_walk(folder, pattern)) if folder.is_dir() else []


def _walk(folder: Path, pattern: str) -> Iterator[Path]:
    with os.scandir(folder) as entries:  # entries know their type without a stat call
        visible = [entry for entry in entries if not entry.name.startswith((".", "__pycache__"))]
    # Folder by folder, which is the order of their paths.
    for entry in sorted(visible, key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(folder / entry.name, pattern)
        elif fnmatch.fnmatchcase(entry.name, pattern) and entry.is_file():
            yield folder / entry.name


def write_atomically(path: Path, data: bytes) -> None:
    """Write a cache file atomically, so that a concurrent build never reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)


def write_checksummed(path: Path, data: bytes) -> None:
    """Write a cache file that begins with the SHA-256 of its content."""
    write_atomically(path, hashlib.sha256(data).digest() + data)


def read_checksummed(path: Path) -> bytes | None:
    """Return the content that `write_checksummed` wrote, None if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = content[_CHECKSUM_SIZE:]
    return data if hashlib.sha256(data).digest() == content[:_CHECKSUM_SIZE] else None


def digest(parts: Iterable[str | bytes]) -> str:
    """Return a short hash of the parts in this order."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        # The length is hashed too, so that moving a boundary between two parts changes the digest.
        hasher.update(f"{len(data)}:".encode())
        hasher.update(data)
    return hasher.hexdigest()[:16]


def digest_of_files(folder: Path, pattern: str = "*") -> str:
    """Return the digest of the names and contents of all files under `folder`."""
    return _digest_of_files(folder, file_stamps(files(folder, pattern)))


@lru_cache(maxsize=32)
def _digest_of_files(folder: Path, stamps: FileStamps) -> str:
    skip = len(folder.as_posix()) + 1
    return digest(
        part for stamp in stamps for part in (stamp[0].as_posix()[skip:], _contents(*stamp))
    )


@lru_cache(maxsize=1 << 13)
def _contents(path: Path, _date: int, _size: int) -> bytes:
    """Return the content of a file, cached by path, date and size."""
    return path.read_bytes()


def file_stamps(paths: Iterable[Path]) -> FileStamps:
    """Return (path, modification time, size) of each file: a cache key for its content."""
    stats = ((path, path.stat()) for path in paths)
    return tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in stats)
