"""Selects the tests of one calculator or one article: `build.py test NAME`."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from engine import calculator
from engine.core import active_project

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
