"""A build of what was built before makes nothing: what goes in, and the output as it was left."""

import json
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

from builder.core.folders import SCRIPTS, Folders, digest, digest_of_files, files, write_whole
from builder.project.project_file import FILE
from builder.project.python_packages import LOCK

THEME = ("templates", "styles", "runtime", "fonts")
BESIDE = ("package-lock.json", "keys.toml", *SCRIPTS)


def inputs(places: Folders, options: object) -> str:
    """Return the digest of everything that a build reads; `options` print what they hold."""
    folders = [places.content, *places.code, *(places.theme / name for name in THEME)]
    lone = [places.root / FILE, places.root / LOCK, *(places.theme / name for name in BESIDE)]
    packages = Path(sysconfig.get_paths()["purelib"]).stat().st_mtime_ns
    return digest(
        (
            *(digest_of_files(folder) for folder in folders),
            *(path.read_bytes() for path in lone if path.is_file()),
            f"{sys.version} {packages} {options!r}",
        )
    )


def is_current(cache: Path, target: Path, read: str) -> bool:
    """Say whether the folder holds what the last build of the same inputs left there."""
    try:
        found = json.loads(_note(cache, target).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(found == [read, _listing(target)])


def leave(cache: Path, target: Path, read: str) -> None:
    """Note what was built of which inputs."""
    with suppress(OSError):  # without it, the next build makes again what is there
        write_whole(_note(cache, target), json.dumps([read, _listing(target)]).encode())


def _note(cache: Path, target: Path) -> Path:
    return cache / "built" / f"{digest((str(target),))}.json"


def _listing(target: Path) -> str:
    """Return the digest of what files there are, of which size and date."""
    found = ((path, path.stat()) for path in files(target))
    return digest(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in found)
