"""The verb `test`: find a Chromium or get one, then run every test with it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from builder.cli.test_selection import ARTICLES, arguments, built_alone, in_a_browser, unknown
from builder.core.folders import GENERATOR
from builder.core.node import ensure_packages

VARIABLE = "WALLCLOCK_CHROMIUM"
BROWSER, BROWSER_TESTS = "--browser", "tests/browser"
SHELL = "chromium-headless-shell"  # the same browser without windows, which takes less
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DEBIANS = (SHELL, "chromium")  # packages; the first is not in every release
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)
ADVICE = (
    "no Chromium was found and none could be installed; "
    "install Chromium or Chrome so that it is on the PATH (Debian: apt-get install chromium)"
)
WRONG_USAGE = 2
# Tests in a browser wait a lot, and every worker takes about a gigabyte.
FEWEST, MOST = 2, 6
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the search looks at and may do; tests bring their own.

    Attributes:
        given: the browser that the environment names, "" if none.
        downloaded: where Playwright's own browser lies or would lie, "" if unknown.
        on_path: name of a command -> its path or None.
        exists: whether a file is there.
        run: run a command, return whether it succeeded.
        may_install: whether system packages can be installed (Debian, as root).
    """

    given: str
    downloaded: Callable[[], str]
    on_path: Callable[[str], str | None]
    exists: Callable[[str], bool]
    run: Callable[[list[str]], bool]
    may_install: bool


def find(machine: Machine) -> str:
    """Return the path of a Chromium that is there, "" if there is none."""
    candidates: Iterable[str | None] = (
        machine.given,
        machine.downloaded(),
        *(machine.on_path(name) for name in NAMES),
        *PLACES,
    )
    return next((path for path in candidates if path and machine.exists(path)), "")


def obtain(machine: Machine, report: Report) -> str:
    """Return the path of a Chromium, installed now if there was none, "" if that failed too."""
    found = find(machine)
    if found:
        return found
    report("no Chromium on this machine; downloading Playwright's ...")
    if machine.run([sys.executable, "-m", "playwright", "install", "chromium"]) and find(machine):
        return find(machine)
    if machine.may_install:
        report("that failed; installing Debian's ...")
        machine.run(["apt-get", "update"])
        for package in DEBIANS:
            machine.run(["apt-get", "install", "-y", "--no-install-recommends", package])
            if find(machine):
                break
    return find(machine)


def this_machine() -> Machine:
    """Return the machine we are on."""
    root = getattr(os, "geteuid", lambda: 1)() == 0
    return Machine(
        given=os.environ.get(VARIABLE, ""),
        downloaded=_playwrights_own,
        on_path=shutil.which,
        exists=lambda path: Path(path).is_file(),
        run=_succeeds,
        may_install=root and Path("/etc/debian_version").is_file(),
    )


def run(root: Path, rest: list[str], report: Report) -> int:
    """Run pytest on all tests, or as `rest` says; return its exit status.

    A calculator or an article as the only word means the tests that concern it and need no
    browser; with `--browser` also those that do.
    """
    words = [word for word in rest if word != BROWSER]
    if len(words) == 1:
        status = _of_one(root, words[0], report)
        if status is not None:
            rest = in_a_browser(root, words[0]) if BROWSER in rest else []
            if status or not rest:
                return status
    if not (root / BROWSER_TESTS).is_dir():
        command = [sys.executable, "-m", "pytest", *rest]
        return subprocess.Popen(command, cwd=root, env=_paths(root)).wait()
    chromium = obtain(this_machine(), report)
    if not chromium:
        report(ADVICE)
        return 1
    report(f"testing with {chromium}")
    environment = {**_paths(root), VARIABLE: chromium}
    if not rest:
        ensure_packages()  # by one process, before several of them build sites
    command = [sys.executable, "-m", "pytest", *(rest or shared(os.cpu_count() or 1))]
    return subprocess.Popen(command, cwd=root, env=environment).wait()


def _of_one(root: Path, name: str, report: Report) -> int | None:
    """Run what concerns a calculator or an article; None where `name` is for pytest."""
    concerned, alone = arguments(root, name), built_alone(root, name)
    wrong = "" if concerned or alone else unknown(root, name)
    if wrong:
        report(wrong)
        return WRONG_USAGE
    if alone:
        from builder.cli import article_check

        refused = article_check.refused(root, name, report)
        if refused or not concerned:
            return int(refused)
    if not concerned:
        return None
    command = [sys.executable, "-m", "pytest", *concerned]
    return subprocess.Popen(command, cwd=root, env=_paths(root)).wait()


def _paths(root: Path) -> dict[str, str]:
    """Return the environment in which tests import the project and the generator."""
    given = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(filter(None, (str(root), str(GENERATOR), given)))
    return {**os.environ, "PYTHONPATH": paths}


def shared(cores: int) -> list[str]:
    """Return pytest's arguments for all tests, dealt to workers as tests/units.py says."""
    workers = min(max(cores, FEWEST), MOST)
    # Of all articles at once, the site tells that the tests in a browser read: they build it.
    told = f"--ignore={ARTICLES}"
    return ["-n", str(workers), "--dist", "loadscope", "--no-loadscope-reorder", told]


def _playwrights_own() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _succeeds(command: list[str]) -> bool:
    quiet = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}
    try:
        return subprocess.run(command, env=quiet, check=False).returncode == 0
    except OSError:
        return False
