"""Python packages of a project for the browser: wheels that the build resolves and locks.

`packages` of site.toml names them, `wheels` a folder to take them from first: wheels of one's own,
or a full distribution of Pyodide. The rest is found or downloaded or built. What
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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from builder.core import node
from builder.core.folders import write_atomically
from builder.core.problem import Problem
from builder.core.project import Project
from builder.project.project_file import FILE, ProjectError, line_in_project_file

# Parts of pip's error messages when it cannot reach a registry.
_CONNECTION_ERRORS = (
    "connection broken",
    "NewConnectionError",
    "Max retries",
    "name resolution",
    "ConnectTimeout",
    "ReadTimeout",
)
BUILDER, COMPILER = "pyodide", "emcc"


class WheelError(Exception):
    """No wheel is available; the message is one sentence with a remedy."""


def find_wheel(
    requirement: str, folder: Path, wheel_source: Path | None, pip_options: list[str]
) -> Path:
    """Return the path of the wheel for a requirement, downloaded or built on first use.

    What pip does not find for the browser is built from source where pyodide-build and
    Emscripten are installed.

    Args:
        requirement: such as "css-inline==1.0".
        folder: cache folder of wheels.
        wheel_source: a folder of wheels that is searched first, or None.
        pip_options: pip's options for the browser's platform, empty for this machine.

    Raises:
        WheelError: it is not available.
    """
    wheel_folder = (
        folder / hashlib.sha256(" ".join((requirement, *pip_options)).encode()).hexdigest()[:16]
    )
    if wheel := _wheel_in(wheel_folder):
        return wheel
    reason = _download_wheel(requirement, wheel_folder, wheel_source, pip_options)
    if wheel := _wheel_in(wheel_folder):
        return wheel
    if "No module named pip" in reason:
        raise WheelError("this Python has no pip, which fetches packages")
    if not pip_options:
        _raise_missing_local_wheel(requirement, reason)
    return _build_wheel(requirement, wheel_folder, offline=_is_connection_error(reason))


def _wheel_in(folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob("*.whl"))), None)


def _is_connection_error(reason: str) -> bool:
    return any(word in reason for word in _CONNECTION_ERRORS)


def _download_wheel(
    requirement: str, wheel_folder: Path, wheel_source: Path | None, pip_options: list[str]
) -> str:
    """Download a wheel with pip; return pip's error output."""
    options = ["download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    options += [f"--find-links={wheel_source}"] if wheel_source else []
    command = [
        sys.executable,
        "-m",
        "pip",
        *options,
        *pip_options,
        f"--dest={wheel_folder}",
        requirement,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def _raise_missing_local_wheel(requirement: str, reason: str) -> None:
    if _is_connection_error(reason):
        raise WheelError(f"no registry answers, and no folder has a wheel of '{requirement}'")
    raise WheelError(
        f"there is no wheel of '{requirement}' for this machine, on which the build computes"
    )


def _build_wheel(requirement: str, wheel_folder: Path, *, offline: bool) -> Path:
    if offline:
        raise WheelError(
            f"no registry answers, and no folder has a wheel of '{requirement}' for Pyodide; name "
            "a folder that holds one as 'wheels'"
        )
    if not (shutil.which(BUILDER) and shutil.which(COMPILER)):
        raise WheelError(
            f"there is no wheel of '{requirement}' for Pyodide, neither pure nor PyEmscripten; "
            "name a folder that holds one as 'wheels', such as a full distribution of Pyodide, or "
            "install pyodide-build and Emscripten, which build it from source"
        )
    wheel_folder.mkdir(parents=True, exist_ok=True)
    command = [BUILDER, "build", requirement, "--outdir", str(wheel_folder)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = _wheel_in(wheel_folder)
    if process.returncode or not wheel:
        lines = [
            line.strip() for line in (process.stderr or process.stdout).splitlines() if line.strip()
        ]
        raise WheelError(
            f"pyodide-build could not build '{requirement}': {(lines or ['no word'])[-1]}"
        )
    return wheel


LOCK = "packages.lock.json"
_LEFT_OUT = re.compile(r"\.dist-info/|\.data/|\.pyi$|/py\.typed$|/tests?/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheels:
    """The wheels of a project, for the browser and for this machine.

    Attributes:
        groups: import name -> path such as "css_inline/__init__.py" -> content.
        local_folders: folders that this machine imports from.
    """

    groups: Mapping[str, Mapping[str, bytes]]
    local_folders: tuple[Path, ...]


NO_WHEELS = Wheels(groups={}, local_folders=())


def load_wheels(project: Project, root: Path, cache: Path) -> Wheels:
    """Return the wheels of a project's packages, downloaded unless cached.

    Raises:
        ProjectError: a package is not available for the browser, or differs from the lock.
    """
    if not project.packages:
        return NO_WHEELS
    lock = _read_lock(root / LOCK)
    info, entries, local_folders = _pyodide_platform(), {}, []
    groups: dict[str, Mapping[str, bytes]] = {}
    for requirement in project.packages:
        name = canonicalize_name(Requirement(requirement).name)
        locked = lock.get(name, {})
        pinned = (
            f"{name}=={locked['version']}" if locked.get("asked") == requirement else requirement
        )
        wheel = _find_project_wheel(
            pinned, root, cache / "wheels", project, _pip_platform_options(info)
        )
        entry = _lock_entry(wheel, requirement)
        if locked.get("file_name") == entry["file_name"] and locked["sha256"] != entry["sha256"]:
            message = f"{wheel.name} is not the file that {LOCK} records; if it should be, delete "
            _raise_problem(root, f"{message}{LOCK} and build again")
        entries[name] = entry
        groups |= travelling(_files_by_package(wheel), project.travels)
        pinned = f"{name}=={entry['version']}"
        local_folders.append(
            _unpack(_find_project_wheel(pinned, root, cache / "wheels-here", project, []), cache)
        )
    text = json.dumps({"info": info, "packages": entries}, indent=2, sort_keys=True) + "\n"
    if entries != lock:
        write_atomically(root / LOCK, text.encode())
    return Wheels(groups=groups, local_folders=tuple(local_folders))


def _pyodide_platform() -> dict[str, str]:
    packages = node.ensure_packages() / "pyodide" / "pyodide-lock.json"
    return dict(json.loads(packages.read_text("utf-8"))["info"])


def _pip_platform_options(info: Mapping[str, str]) -> list[str]:
    """Return pip's options for Pyodide's platform (PEP 783, and its earlier name)."""
    version, platform = info["python"].rpartition(".")[0], f"{info['abi_version']}_{info['arch']}"
    compact = version.replace(".", "")
    platforms = [f"pyemscripten_{platform}", f"pyodide_{platform}"]
    platform_options = [f"--platform={platform_tag}" for platform_tag in platforms]
    return [
        *platform_options,
        f"--python-version={version}",
        "--implementation=cp",
        *(f"--abi={abi}" for abi in (f"cp{compact}", "abi3", "none")),
    ]


def _find_project_wheel(
    requirement: str, root: Path, folder: Path, project: Project, pip_options: list[str]
) -> Path:
    try:
        return find_wheel(
            requirement, folder, root / project.wheels if project.wheels else None, pip_options
        )
    except WheelError as error:
        _raise_problem(root, str(error))


def _raise_problem(root: Path, message: str) -> NoReturn:
    raise ProjectError([Problem(FILE, line_in_project_file(root, "packages"), message)])


def _lock_entry(wheel: Path, requirement: str) -> dict[str, Any]:
    name, version, _, _ = parse_wheel_filename(wheel.name)
    return {
        "asked": requirement,
        "name": name,
        "version": str(version),
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "imports": sorted(_files_by_package(wheel)),
        "depends": [],
    }


def _files_by_package(wheel: Path) -> dict[str, dict[str, bytes]]:
    """Return import name -> path -> content of the files in a wheel."""
    groups: dict[str, dict[str, bytes]] = {}
    with zipfile.ZipFile(wheel) as archive:
        for path in sorted(archive.namelist()):
            if not path.endswith("/") and not _LEFT_OUT.search(path):
                top = path.partition("/")[0].partition(".")[0]
                groups.setdefault(top, {})[path] = archive.read(path)
    return groups


def travelling(
    groups: Mapping[str, Mapping[str, bytes]], modules: Iterable[str]
) -> dict[str, Mapping[str, bytes]]:
    """Return the files of packages that go to the browser.

    Of a package of which modules are named these alone travel, without the `__init__.py` that would
    import the others.
    """
    paths = {f"{module.replace('.', '/')}.py" for module in modules}
    return {
        top: {path: data for path, data in files.items() if path in paths} or files
        for top, files in groups.items()
    }


def _unpack(wheel: Path, cache: Path) -> Path:
    folder = cache / "wheels-here" / wheel.stem
    marker = folder / ".unpacked"
    if not marker.is_file():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        marker.touch()
    return folder


def _read_lock(path: Path) -> dict[str, Any]:
    try:
        packages = json.loads(path.read_text("utf-8"))["packages"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(packages) if isinstance(packages, dict) else {}


def package_sources(groups: Mapping[str, Mapping[str, bytes]]) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of all files; a file other than Python is represented by its hash."""
    for files in groups.values():
        for path, data in files.items():
            if path.endswith(".py"):
                yield path, data.decode("utf-8", errors="replace")
            else:
                yield path, repr(hashlib.sha256(data).hexdigest())
