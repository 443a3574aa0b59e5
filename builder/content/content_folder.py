"""Reads the content folder: articles, library files and images."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from builder.content import article, library, svg_checks
from builder.content.article import Article
from builder.content.library import Library
from builder.core import text_files
from builder.core.build_cache import BuildCache
from builder.core.folders import Folders, digest, files
from builder.core.problem import Problem
from builder.core.project import Project

_PARSER_DIGEST = digest((Path(__file__).with_name("article.py").read_bytes(),))


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteContent:
    """All articles and images, the library, and the digest of the library files.

    With `problems` it is incomplete: a file could not be read, so links to it are not checked.
    """

    articles: tuple[Article, ...]
    library: Library
    library_digest: str
    images: Mapping[str, bytes]
    problems: tuple[Problem, ...]


def read_content(
    folders: Folders, *, drafts: bool, build_cache: BuildCache | None = None
) -> SiteContent:
    """Return the content of the project; drafts only on request.

    With a build cache, an unchanged article is not parsed again.
    """
    cache = build_cache or BuildCache()
    paths = files(folders.content)
    problems = [
        *text_files.name_problems(folders, paths),
        *svg_checks.svg_file_problems(folders, paths),
    ]
    articles: list[Article] = []
    for path in paths:
        if not path.name.endswith(".md"):
            continue
        source = path.relative_to(folders.root).as_posix()
        text, file_problems = text_files.read_text(path, source)
        parsed, article_problems = (
            (None, file_problems) if file_problems else _parse_cached(source, text, cache)
        )
        problems += article_problems
        if parsed is not None and (drafts or not parsed.draft):
            articles.append(parsed)
    library_texts: list[str] = []
    for name in library.FILES:
        text, file_problems = text_files.read_text(folders.root / name, name)
        problems += file_problems
        library_texts.append(text)
    shared_library, file_problems = library.parse_library(*library_texts)
    return SiteContent(
        articles=tuple(_with_home_page(articles, folders.project)),
        library=shared_library,
        library_digest=digest(library_texts),
        images=_read_images(folders, paths),
        problems=(*problems, *file_problems),
    )


def _parse_cached(
    source: str, text: str, cache: BuildCache
) -> tuple[Article | None, list[Problem]]:
    key = digest((_PARSER_DIGEST, text))
    return cache.get(f"article {source}", key, partial(article.parse_article, source, text))


def _with_home_page(articles: list[Article], project: Project) -> list[Article]:
    if any(article.kind == "home" for article in articles):
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


def _read_images(folders: Folders, paths: Iterable[Path]) -> Mapping[str, bytes]:
    """Return path, relative to the project, -> content of every image in the content folder."""
    suffixes = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif")
    return {
        path.relative_to(folders.root).as_posix(): path.read_bytes()
        for path in paths
        if path.suffix.lower() in suffixes
    }
