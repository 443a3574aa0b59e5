"""Read the content folder: the only place where articles come from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from builder.content import article, library, svg_checks
from builder.content.article import Article
from builder.content.library import Library
from builder.core import text_files
from builder.core.build_cache import Memo
from builder.core.folders import Folders, digest, files
from builder.core.problem import Problem
from builder.core.project import Project

_PARSER = digest((Path(__file__).with_name("article.py").read_bytes(),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All articles and pictures, the library, and the digest of what the library's files hold.

    With `problems` it is not whole: a file could not be read, and what links to it is not judged.
    """

    articles: tuple[Article, ...]
    library: Library
    library_digest: str
    images: Mapping[str, bytes]
    problems: tuple[Problem, ...]


def read(folders: Folders, *, drafts: bool, memo: Memo | None = None) -> Texts:
    """Return what the content folder holds; drafts only if asked for.

    With a memory, an article that did not change is not parsed again.
    """
    known = memo or Memo()
    there = files(folders.content)
    problems = [*text_files.wrong_names(folders, there), *svg_checks.problems(folders, there)]
    articles: list[Article] = []
    for path in there:
        if not path.name.endswith(".md"):
            continue
        source = path.relative_to(folders.root).as_posix()
        text, wrong = text_files.text_of(path, source)
        found, more = (None, wrong) if wrong else _parsed(source, text, known)
        problems += more
        if found is not None and (drafts or not found.draft):
            articles.append(found)
    shelf: list[str] = []
    for name in library.FILES:
        text, wrong = text_files.text_of(folders.root / name, name)
        problems += wrong
        shelf.append(text)
    books, wrong = library.parse(*shelf)
    return Texts(
        articles=tuple(_with_home(articles, folders.project)),
        library=books,
        library_digest=digest(shelf),
        images=_images(folders, there),
        problems=(*problems, *wrong),
    )


def _parsed(source: str, text: str, memo: Memo) -> tuple[Article | None, list[Problem]]:
    key = digest((_PARSER, text))
    return memo.get(f"article {source}", key, partial(article.parse, source, text))


def _with_home(articles: list[Article], project: Project) -> list[Article]:
    if any(found.kind == "home" for found in articles):
        return articles
    # A folder of guides without a home page still gets one, with the list of guides.
    home = Article(
        source="content/index.md",
        slug="index",
        url="",
        kind="home",
        title=project.name,
        summary=project.summary,
        text="",
        body="",
    )
    return [home, *articles]


def _images(folders: Folders, found: Iterable[Path]) -> Mapping[str, bytes]:
    """Return path from the project's folder -> content of every picture in the content folder."""
    suffixes = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif")
    return {
        path.relative_to(folders.root).as_posix(): path.read_bytes()
        for path in found
        if path.suffix.lower() in suffixes
    }
