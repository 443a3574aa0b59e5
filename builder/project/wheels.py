"""A wheel for a requirement: from a folder, from where pip looks, or built by pyodide-build."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

# What pip says of a registry that it cannot reach, and of none that it was told to use.
_SILENT = (
    "connection broken",
    "NewConnectionError",
    "Max retries",
    "name resolution",
    "ConnectTimeout",
    "ReadTimeout",
)
BUILDER, COMPILER = "pyodide", "emcc"


class WheelError(Exception):
    """There is no wheel; the message is one sentence that says what to do."""


def find(wanted: str, folder: Path, own: Path | None, tags: list[str]) -> Path:
    """Return the wheel for a requirement, kept in a folder from then on.

    What pip does not find for the browser is built from source where pyodide-build and
    Emscripten are installed.

    Args:
        wanted: such as "css-inline==1.0".
        folder: of the cache.
        own: a folder of wheels that comes first, None without one.
        tags: what tells pip of the browser's platform, empty for this machine.

    Raises:
        WheelError: it cannot be had.
    """
    kept = folder / hashlib.sha256(" ".join((wanted, *tags)).encode()).hexdigest()[:16]
    if there := _wheel_in(kept):
        return there
    reason = _downloaded(wanted, kept, own, tags)
    if there := _wheel_in(kept):
        return there
    if "No module named pip" in reason:
        raise WheelError("this Python has no pip, which fetches packages")
    if not tags:
        _lost_here(wanted, reason)
    return _built(wanted, kept, silent=_is_silent(reason))


def _wheel_in(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.whl"))), None)


def _is_silent(reason: str) -> bool:
    return any(word in reason for word in _SILENT)


def _downloaded(wanted: str, kept: Path, own: Path | None, tags: list[str]) -> str:
    """Ask pip for a wheel; return what it complains of."""
    words = ["download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    words += [f"--find-links={own}"] if own else []
    command = [sys.executable, "-m", "pip", *words, *tags, f"--dest={kept}", wanted]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def _lost_here(wanted: str, reason: str) -> None:
    if _is_silent(reason):
        raise WheelError(f"no registry answers, and no folder has a wheel of '{wanted}'")
    raise WheelError(
        f"there is no wheel of '{wanted}' for this machine, on which the build computes"
    )


def _built(wanted: str, kept: Path, *, silent: bool) -> Path:
    if silent:
        raise WheelError(
            f"no registry answers, and no folder has a wheel of '{wanted}' for Pyodide; name a "
            "folder that holds one as 'wheels'"
        )
    if not (shutil.which(BUILDER) and shutil.which(COMPILER)):
        raise WheelError(
            f"there is no wheel of '{wanted}' for Pyodide, neither pure nor PyEmscripten; name a "
            "folder that holds one as 'wheels', such as a full distribution of Pyodide, or install "
            "pyodide-build and Emscripten, which build it from source"
        )
    kept.mkdir(parents=True, exist_ok=True)
    command = [BUILDER, "build", wanted, "--outdir", str(kept)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    there = _wheel_in(kept)
    if done.returncode or not there:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise WheelError(f"pyodide-build could not build '{wanted}': {(lines or ['no word'])[-1]}")
    return there
