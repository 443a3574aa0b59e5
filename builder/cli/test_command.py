"""The verb `test`: finds or installs Chromium, selects tests and runs pytest."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from builder.cli.build_command import build_with_cache
from builder.core.folders import GENERATOR
from builder.core.node import ensure_packages
from builder.core.progress import Options, pluralize
from builder.project.activate_project import activate_project
from engine import calculator
from engine.core import active_project

VARIABLE = "WALLCLOCK_CHROMIUM"
BROWSER, BROWSER_TESTS = "--browser", "tests/browser"
ALL = "--all"
# What every calculator promises, tried on those of a project that is named in the environment.
PROMISES = "tests/engine/calculators/test_promises.py"
EVERY_CALCULATOR = "test_a_calculator_keeps_its_promises"
PROJECT = "WALLCLOCK_PROJECT"
SHELL = "chromium-headless-shell"  # the same browser without windows, which takes less
CHROMIUM_NAMES = (
    SHELL,
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
DEBIAN_PACKAGES = (SHELL, "chromium")  # packages; the first is not in every release
CHROMIUM_PATHS = (
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
MIN_WORKERS, MAX_WORKERS = 2, 6
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The environment of the search for Chromium; tests pass a fake.

    Attributes:
        configured: the browser that the environment names, "" if none.
        downloaded: where Playwright's own browser lies or would lie, "" if unknown.
        on_path: name of a command -> its path or None.
        exists: whether a file is there.
        run: run a command, return whether it succeeded.
        may_install: whether system packages can be installed (Debian, as root).
    """

    configured: str
    downloaded: Callable[[], str]
    on_path: Callable[[str], str | None]
    exists: Callable[[str], bool]
    run: Callable[[list[str]], bool]
    may_install: bool


def find_chromium(machine: Machine) -> str:
    """Return the path of an installed Chromium, "" if there is none."""
    candidates: Iterable[str | None] = (
        machine.configured,
        machine.downloaded(),
        *(machine.on_path(name) for name in CHROMIUM_NAMES),
        *CHROMIUM_PATHS,
    )
    return next((path for path in candidates if path and machine.exists(path)), "")


def find_or_install_chromium(machine: Machine, report: Report) -> str:
    """Return the path of a Chromium, installed if necessary, "" if that fails."""
    path = find_chromium(machine)
    if path:
        return path
    report("no Chromium on this machine; downloading Playwright's ...")
    if machine.run([sys.executable, "-m", "playwright", "install", "chromium"]) and find_chromium(
        machine
    ):
        return find_chromium(machine)
    if machine.may_install:
        report("that failed; installing Debian's ...")
        machine.run(["apt-get", "update"])
        for package in DEBIAN_PACKAGES:
            machine.run(["apt-get", "install", "-y", "--no-install-recommends", package])
            if find_chromium(machine):
                break
    return find_chromium(machine)


def current_machine() -> Machine:
    """Return the real machine."""
    root = getattr(os, "geteuid", lambda: 1)() == 0
    return Machine(
        configured=os.environ.get(VARIABLE, ""),
        downloaded=_playwrights_own,
        on_path=shutil.which,
        exists=lambda path: Path(path).is_file(),
        run=_succeeds,
        may_install=root and Path("/etc/debian_version").is_file(),
    )


def run(root: Path, pytest_arguments: list[str], report: Report) -> int:
    """Run the short lane, all tests (`--all`) or pytest with its arguments; return the exit status.

    A calculator or an article as the only word means the tests that concern it and need no
    browser; with `--browser` also those that do.
    """
    whole = pytest_arguments == [ALL]
    pytest_arguments = [] if whole else pytest_arguments
    names = [word for word in pytest_arguments if word != BROWSER]
    if len(names) == 1:
        status = _run_selection(root, names[0], report)
        if status is not None:
            pytest_arguments = (
                browser_arguments(root, names[0]) if BROWSER in pytest_arguments else []
            )
            if status or not pytest_arguments:
                return status
    if not (root / BROWSER_TESTS).is_dir():
        command = [sys.executable, "-m", "pytest", *pytest_arguments]
        status = subprocess.Popen(command, cwd=root, env=_test_environment(root)).wait()
        return status or (0 if pytest_arguments else _run_promises(root))
    chromium = find_or_install_chromium(current_machine(), report)
    if not chromium:
        report(ADVICE)
        return 1
    report(f"testing with {chromium}")
    environment = {**_test_environment(root), VARIABLE: chromium}
    if not pytest_arguments:
        ensure_packages()  # by one process, before several of them build sites
    command = [
        sys.executable,
        "-m",
        "pytest",
        *(pytest_arguments or parallel_arguments(os.cpu_count() or 1, whole=whole)),
    ]
    return subprocess.Popen(command, cwd=root, env=environment).wait()


def _run_promises(root: Path) -> int:
    """Try on a project's calculators what every calculator promises; return the exit status."""
    if root.samefile(GENERATOR) or not (GENERATOR / PROMISES).is_file():
        return 0
    command = [sys.executable, "-m", "pytest", "-q", "--short", f"{PROMISES}::{EVERY_CALCULATOR}"]
    environment = {**_test_environment(root), PROJECT: str(root)}
    return subprocess.Popen(command, cwd=GENERATOR, env=environment).wait()


def _run_selection(root: Path, name: str, report: Report) -> int | None:
    """Run the tests of a calculator or an article; return None where `name` is for pytest."""
    pytest_arguments, is_untested = (
        selection_arguments(root, name),
        is_article_without_tests(root, name),
    )
    message = "" if pytest_arguments or is_untested else unknown_name_message(root, name)
    if message:
        report(message)
        return WRONG_USAGE
    if is_untested:
        failed = has_problems(root, name, report)
        if failed or not pytest_arguments:
            return int(failed)
    if not pytest_arguments:
        return None
    command = [sys.executable, "-m", "pytest", *pytest_arguments]
    return subprocess.Popen(command, cwd=root, env=_test_environment(root)).wait()


def _test_environment(root: Path) -> dict[str, str]:
    """Return the environment variables for tests, with the import paths of both packages."""
    python_path = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(filter(None, (str(root), str(GENERATOR), python_path)))
    variables = {**os.environ, "PYTHONPATH": paths}
    # Without byte code, each of the many processes of the tests compiles all that it imports.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    return variables


def parallel_arguments(cores: int, *, whole: bool) -> list[str]:
    """Return pytest's arguments for a lane of tests in parallel, grouped by tests/units.py."""
    workers = min(max(cores, MIN_WORKERS), MAX_WORKERS)
    # Of all articles at once, the site tells that the tests in a browser read: they build it.
    ignored = f"--ignore={ARTICLES}"
    lane = [] if whole else ["--short"]  # tests/lanes.py
    return ["-n", str(workers), "--dist", "loadscope", "--no-loadscope-reorder", ignored, *lane]


def _playwrights_own() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _succeeds(command: list[str]) -> bool:
    environment = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}
    try:
        return subprocess.run(command, env=environment, check=False).returncode == 0
    except OSError:
        return False


# Selects the tests of one calculator or one article: `build.py test NAME`.

_PLACED = re.compile(r"(?:\[\[|/// predict \| )(\w+)")
ARTICLES = "tests/builder/test_articles.py"
PARITY = "tests/browser/test_parity.py"
PAGES = tuple(
    f"tests/browser/test_{name}.py" for name in ("every_figure", "every_page", "features")
)


def browser_arguments(root: Path, name: str) -> list[str]:
    """Return pytest's arguments for the browser tests of a calculator or an article."""
    if name in calculator.names():
        return [PARITY, "-k", f"[{name}]"] if (root / PARITY).is_file() else []
    content = root / "content"
    pages = [path.relative_to(content).with_suffix("") for path in content.rglob(f"{name}.md")]
    test_ids = ["[]" if page.as_posix() == "index" else f"[{page.as_posix()}/]" for page in pages]
    files = [path for path in PAGES if (root / path).is_file()]
    return [*files, "-k", " or ".join(test_ids)] if test_ids and files else []


def selection_arguments(root: Path, name: str) -> list[str]:
    """Return pytest's arguments for a calculator or an article; empty if `name` is neither.

    The tests of an article are its own and the promises of the calculators on it; those of a
    calculator are its promises, the files of tests that name it, and the articles that show it.
    """
    articles = {path.stem: path.read_text("utf-8") for path in (root / "content").rglob("*.md")}
    names = set(calculator.names())
    if name in names:
        showing = [slug for slug, text in articles.items() if name in _PLACED.findall(text)]
        return _pytest_arguments(root, [name], showing, _tests_naming(root, name))
    if name in articles:
        placed = names.intersection(_PLACED.findall(articles[name]))
        files = [
            path
            for calculator_name in sorted(placed)
            for path in _tests_naming(root, calculator_name)
        ]
        return _pytest_arguments(
            root, sorted(placed), [name], files if is_article_without_tests(root, name) else []
        )
    return []


def is_article_without_tests(root: Path, name: str) -> bool:
    """Return whether a name is an article without tests, which a build checks instead."""
    if (root / ARTICLES).is_file() or name in calculator.names():
        return False
    return name in {path.stem for path in (root / "content").rglob("*.md")}


def unknown_name_message(root: Path, name: str) -> str:
    """Return an error message for a name that pytest cannot use either, else ""."""
    if name.startswith("-") or (root / name.partition("::")[0]).exists():
        return ""
    articles = sorted(path.stem for path in (root / "content").rglob("*.md"))
    similar = get_close_matches(name, dict.fromkeys((*calculator.names(), *articles)), n=3)
    suggestion = f"; there is {' and '.join(similar)}" if similar else ""
    return f"'{name}' is no calculator, no article and no file of tests{suggestion}"


def _pytest_arguments(
    root: Path, calculators: Iterable[str], article_slugs: Iterable[str], files: Iterable[Path]
) -> list[str]:
    paths = [path.relative_to(root).as_posix() for path in files]
    calculator_tests = [
        path.relative_to(root).as_posix()
        for path in sorted(
            (root / "tests" / active_project.package() / "calculators").glob("test_*.py")
        )
    ]
    expressions = [f"[{name}]" for name in (*calculators, *article_slugs)]
    expressions += [Path(path).stem for path in paths]
    articles = [ARTICLES] if (root / ARTICLES).is_file() else []
    arguments = dict.fromkeys((*paths, *calculator_tests, *articles))
    return [*arguments, "-k", " or ".join(expressions)] if arguments else []


def _tests_naming(root: Path, name: str) -> list[Path]:
    """Return the test files that mention a calculator, without the tests of all calculators."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    test_files = (root / "tests" / active_project.package() / "calculators").glob("*/**/test_*.py")
    return sorted(path for path in test_files if word.search(path.read_text("utf-8")))


# `test NAME` for an article without tests: builds the project and reports its problems.


def has_problems(root: Path, name: str, report: Callable[[str], None]) -> bool:
    """Build a project with drafts, report its problems, and return whether there are any.

    Args:
        root: the project's folder.
        name: of the article.
        report: called with each problem, problems of the article first.
    """
    folders = activate_project(root)
    project = folders.project
    options = Options(base_url=project.address, repository=project.repository, drafts=True)
    built = build_with_cache(folders, options)
    own_problems = [
        problem for problem in built.problems if Path(problem.path).name == f"{name}.md"
    ]
    for problem in (
        *own_problems,
        *(problem for problem in built.problems if problem not in own_problems),
    ):
        report(str(problem))
    elsewhere = len(built.problems) - len(own_problems)
    report(f"{name}: {pluralize(len(own_problems), 'problem')}, {elsewhere} elsewhere")
    return bool(built.problems)
