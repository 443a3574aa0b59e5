"""Read the content folder: the only place where articles come from."""

from collections.abc import Mapping
from dataclasses import dataclass

from builder import article, library
from builder.article import Article
from builder.folders import Folders, digest, files
from builder.library import Library
from builder.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All articles, the library, and the digest of what the library's files hold.

    `broken` are the sources whose front matter cannot be used; links to them are not judged.
    """

    articles: tuple[Article, ...]
    library: Library
    library_digest: str
    broken: tuple[str, ...]
    problems: tuple[Problem, ...]


def read(folders: Folders, *, drafts: bool) -> Texts:
    """Return what the content folder holds; drafts only if asked for."""
    problems: list[Problem] = []
    articles: list[Article] = []
    broken: list[str] = []
    for path in files(folders.content, "*.md"):
        source = path.relative_to(folders.root).as_posix()
        found, wrong = article.parse(source, path.read_text("utf-8"))
        problems += wrong
        broken += [source] if found is None else []
        if found is not None and (drafts or not found.draft):
            articles.append(found)
    shelf = [
        path.read_text("utf-8") if path.is_file() else ""
        for path in (folders.root / name for name in library.FILES)
    ]
    known, wrong = library.parse(*shelf)
    return Texts(
        articles=tuple(_with_home(articles)),
        library=known,
        library_digest=digest(shelf),
        broken=tuple(broken),
        problems=(*problems, *wrong),
    )


def _with_home(articles: list[Article]) -> list[Article]:
    if any(found.kind == "home" for found in articles):
        return articles
    # A folder of guides without a home page still gets one, with the list of guides.
    home = Article(
        source="content/index.md",
        slug="index",
        url="",
        kind="home",
        title="Wallclock",
        summary="Interactive guides on distributed training.",
        text="",
        body="",
    )
    return [home, *articles]


def images(folders: Folders) -> Mapping[str, bytes]:
    """Return path from the project's folder -> content of every picture in the content folder."""
    suffixes = (".svg", ".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif")
    return {
        path.relative_to(folders.root).as_posix(): path.read_bytes()
        for path in files(folders.content)
        if path.suffix.lower() in suffixes
    }
