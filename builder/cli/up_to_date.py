"""A build of what was built before makes nothing: what goes in, and the output as it was left."""

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


def inputs_digest(places: Folders, options: object) -> str:
    """Return the digest of everything that a build reads; `options` print what they hold."""
    input_folders = [places.content, *places.code, *(places.theme / name for name in THEME_FOLDERS)]
    input_files = [
        places.root / FILE,
        places.root / LOCK,
        *(places.theme / name for name in THEME_FILES),
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
    """Say whether the folder holds what the last build of the same inputs left there."""
    try:
        record = json.loads(_record_file(cache, target).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record == [digest, _output_digest(target)])


def record_build(cache: Path, target: Path, digest: str) -> None:
    """Note what was built of which inputs."""
    with suppress(OSError):  # without it, the next build makes again what is there
        write_atomically(
            _record_file(cache, target), json.dumps([digest, _output_digest(target)]).encode()
        )


def _record_file(cache: Path, target: Path) -> Path:
    return cache / "built" / f"{digest((str(target),))}.json"


def _output_digest(target: Path) -> str:
    """Return the digest of what files there are, of which size and date."""
    stats = ((path, path.stat()) for path in files(target))
    return digest(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)
