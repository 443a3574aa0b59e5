"""Python packages of a project in its readers' browsers: wheels that the build has resolved.

`packages` of site.toml names them, `wheels` a folder to take them from first: wheels of one's own,
or a full distribution of Pyodide. The rest is found or built as `_wheel_of` says. What
was found is recorded with its hash in `packages.lock.json`, in the form of Pyodide's own lock;
another wheel of the same name is refused. A wheel for this machine is taken too, since the build
computes the defaults.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from builder.core import node
from builder.core.folders import write_whole
from builder.core.problem import Problem
from builder.core.project import Project
from builder.project.project_file import FILE, ProjectError, line_of

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


LOCK = "packages.lock.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LEFT_OUT = re.compile(r"\.dist-info/|\.data/|\.pyi$|/py\.typed$|/tests?/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheels:
    """Wheels as they travel and as this machine imports them.

    Attributes:
        groups: top-level name -> path such as "css_inline/__init__.py" -> content, all that comes
            with it.
        here: folders with what this machine imports.
    """

    groups: Mapping[str, Mapping[str, bytes]]
    here: tuple[Path, ...]


NONE = Wheels(groups={}, here=())


def ready(project: Project, root: Path, cache: Path) -> Wheels:
    """Return the wheels of a project's packages, fetched now unless they are in the cache.

    Raises:
        ProjectError: a package cannot be had for the browser, or is not the one recorded.
    """
    if not project.packages:
        return NONE
    lock = _read(root / LOCK)
    info, found, here = _platform(), {}, []
    groups: dict[str, Mapping[str, bytes]] = {}
    for wanted in project.packages:
        name = _NAME.match(wanted)[0]  # type: ignore[index]
        held = lock.get(name, {})
        exact = f"{name}=={held['version']}" if held.get("asked") == wanted else wanted
        wheel = _found(exact, root, cache / "wheels", project, _tags(info))
        entry = _entry(wheel, wanted)
        if held.get("file_name") == entry["file_name"] and held["sha256"] != entry["sha256"]:
            message = f"{wheel.name} is not the file that {LOCK} records; if it should be, delete "
            _refuse(root, f"{message}{LOCK} and build again")
        found[name] = entry
        groups |= _groups(wheel)
        exact = f"{name}=={entry['version']}"
        here.append(_unpacked(_found(exact, root, cache / "wheels-here", project, []), cache))
    text = json.dumps({"info": info, "packages": found}, indent=2, sort_keys=True) + "\n"
    if found != lock:
        write_whole(root / LOCK, text.encode())
    return Wheels(groups=groups, here=tuple(here))


def _platform() -> dict[str, str]:
    packages = node.ensure_packages() / "pyodide" / "pyodide-lock.json"
    return dict(json.loads(packages.read_text("utf-8"))["info"])


def _tags(info: Mapping[str, str]) -> list[str]:
    """Return what tells pip of Pyodide's platform (PEP 783, and the name before it)."""
    version, platform = info["python"].rpartition(".")[0], f"{info['abi_version']}_{info['arch']}"
    plain = version.replace(".", "")
    platforms = [f"pyemscripten_{platform}", f"pyodide_{platform}"]
    words = [f"--platform={one}" for one in platforms]
    return [
        *words,
        f"--python-version={version}",
        "--implementation=cp",
        *(f"--abi={abi}" for abi in (f"cp{plain}", "abi3", "none")),
    ]


def _found(wanted: str, root: Path, folder: Path, project: Project, tags: list[str]) -> Path:
    try:
        return find(wanted, folder, root / project.wheels if project.wheels else None, tags)
    except WheelError as error:
        _refuse(root, str(error))


def _refuse(root: Path, message: str) -> NoReturn:
    raise ProjectError([Problem(FILE, line_of(root, "packages"), message)])


def _entry(wheel: Path, asked: str) -> dict[str, Any]:
    name, version = wheel.name.split("-")[:2]
    return {
        "asked": asked,
        "name": name,
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "imports": sorted(_groups(wheel)),
        "depends": [],
    }


def _groups(wheel: Path) -> dict[str, dict[str, bytes]]:
    """Return top-level name -> all files that come with it."""
    groups: dict[str, dict[str, bytes]] = {}
    with zipfile.ZipFile(wheel) as opened:
        for path in sorted(opened.namelist()):
            if not path.endswith("/") and not _LEFT_OUT.search(path):
                top = path.partition("/")[0].partition(".")[0]
                groups.setdefault(top, {})[path] = opened.read(path)
    return groups


def _unpacked(wheel: Path, cache: Path) -> Path:
    folder = cache / "wheels-here" / wheel.stem
    done = folder / ".unpacked"
    if not done.is_file():
        with zipfile.ZipFile(wheel) as opened:
            opened.extractall(folder)
        done.touch()
    return folder


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))["packages"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(found) if isinstance(found, dict) else {}


def sources(groups: Mapping[str, Mapping[str, bytes]]) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of all files; of what is no Python, a text that stands for its bytes."""
    for files in groups.values():
        for path, data in files.items():
            if path.endswith(".py"):
                yield path, data.decode("utf-8", errors="replace")
            else:
                yield path, repr(hashlib.sha256(data).hexdigest())
