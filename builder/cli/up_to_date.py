"""Skips builds whose inputs and output are unchanged since the last build."""

import json
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

from builder.core.folders import SCRIPTS, Folders, digest, digest_of_files, files, write_atomically
from builder.project.project_file import FILE
from builder.project.python_packages import LOCK

THEME_FOLDERS = ("templates", "styles", "runtime", "fonts")
THEME_FILES = ("package-lock.json", "keys.toml", *SCRIPTS)


def inputs_digest(folders: Folders, options: object) -> str:
    """Return the digest of all inputs of a build: files, versions and options."""
    input_folders = [
        folders.content,
        *folders.code,
        *(folders.theme / name for name in THEME_FOLDERS),
    ]
    input_files = [
        folders.root / FILE,
        folders.root / LOCK,
        *(folders.theme / name for name in THEME_FILES),
    ]
    packages = Path(sysconfig.get_paths()["purelib"]).stat().st_mtime_ns
    return digest(
        (
            *(digest_of_files(folder) for folder in input_folders),
            *(path.read_bytes() for path in input_files if path.is_file()),
            f"{sys.version} {packages} {options!r}",
        )
    )


def is_current(cache: Path, target: Path, digest: str) -> bool:
    """Return whether the folder holds the unchanged output of a build with these inputs."""
    try:
        record = json.loads(_record_file(cache, target).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record == [digest, _output_digest(target)])


def record_build(cache: Path, target: Path, digest: str) -> None:
    """Record the inputs and the output of a build."""
    with suppress(OSError):  # without the record, the next build builds again
        write_atomically(
            _record_file(cache, target), json.dumps([digest, _output_digest(target)]).encode()
        )


def _record_file(cache: Path, target: Path) -> Path:
    return cache / "built" / f"{digest((str(target),))}.json"


def _output_digest(target: Path) -> str:
    """Return the digest of paths, sizes and dates of the output files."""
    stats = ((path, path.stat()) for path in files(target))
    return digest(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)
