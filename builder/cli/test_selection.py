"""The tests that concern one calculator or one article: `build.py test NAME`."""

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


def in_a_browser(root: Path, name: str) -> list[str]:
    """Return pytest's arguments for what concerns a calculator or an article in a browser."""
    if name in calculator.names():
        return [PARITY, "-k", f"[{name}]"] if (root / PARITY).is_file() else []
    content = root / "content"
    pages = [path.relative_to(content).with_suffix("") for path in content.rglob(f"{name}.md")]
    words = ["[]" if page.as_posix() == "index" else f"[{page.as_posix()}/]" for page in pages]
    there = [path for path in PAGES if (root / path).is_file()]
    return [*there, "-k", " or ".join(words)] if words and there else []


def arguments(root: Path, name: str) -> list[str]:
    """Return pytest's arguments for a calculator or an article; empty if `name` is neither.

    The tests of an article are its own and the promises of the calculators on it; those of a
    calculator are its promises, the files of tests that name it, and the articles that show it.
    """
    articles = {path.stem: path.read_text("utf-8") for path in (root / "content").rglob("*.md")}
    known = set(calculator.names())
    if name in known:
        showing = [slug for slug, text in articles.items() if name in _PLACED.findall(text)]
        return _chosen(root, [name], showing, _naming(root, name))
    if name in articles:
        placed = known.intersection(_PLACED.findall(articles[name]))
        files = [path for one in sorted(placed) for path in _naming(root, one)]
        return _chosen(root, sorted(placed), [name], files if built_alone(root, name) else [])
    return []


def built_alone(root: Path, name: str) -> bool:
    """Say whether a name is an article for which there are no tests: a build tells of it."""
    if (root / ARTICLES).is_file() or name in calculator.names():
        return False
    return name in {path.stem for path in (root / "content").rglob("*.md")}


def unknown(root: Path, name: str) -> str:
    """Return a sentence where pytest could do nothing with a word either; "" where it could."""
    if name.startswith("-") or (root / name.partition("::")[0]).exists():
        return ""
    articles = sorted(path.stem for path in (root / "content").rglob("*.md"))
    near = get_close_matches(name, dict.fromkeys((*calculator.names(), *articles)), n=3)
    like = f"; there is {' and '.join(near)}" if near else ""
    return f"'{name}' is no calculator, no article and no file of tests{like}"


def _chosen(
    root: Path, calculators: Iterable[str], shown: Iterable[str], files: Iterable[Path]
) -> list[str]:
    paths = [path.relative_to(root).as_posix() for path in files]
    promises = [
        path.relative_to(root).as_posix()
        for path in sorted(
            (root / "tests" / active_project.package() / "calculators").glob("test_*.py")
        )
    ]
    words = [f"[{name}]" for name in (*calculators, *shown)]
    words += [Path(path).stem for path in paths]
    articles = [ARTICLES] if (root / ARTICLES).is_file() else []
    found = dict.fromkeys((*paths, *promises, *articles))
    return [*found, "-k", " or ".join(words)] if found else []


def _naming(root: Path, name: str) -> list[Path]:
    """Return the files of tests that name a calculator; those of all calculators are not it."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    found = (root / "tests" / active_project.package() / "calculators").glob("*/**/test_*.py")
    return sorted(path for path in found if word.search(path.read_text("utf-8")))
