"""Pages as other pages show them: one, those of a path, those around one."""

from dataclasses import dataclass
from functools import lru_cache

from builder.content.article import Article
from builder.content.library import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page as other pages show it; `url` is relative to the output folder."""

    slug: str
    url: str
    kind: str
    title: str
    question: str
    summary: str
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPath:
    """A learning path: letter, name, its guides in order; `url` of its page, "" without one."""

    letter: str
    name: str
    guides: tuple[Entry, ...]
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolGroup:
    """The tools on the guides of a learning path, or on pages of none (`letter` and `name` "")."""

    letter: str
    name: str
    tools: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPath:
    """The guides for one kind of reader, in their order."""

    reader: Reader
    guides: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page stands among the others.

    `tabs`: a guide and the pages that are its tabs; `near`: the guides of its path around it, so
    that the pages of a long path do not grow with it.
    """

    here: Entry
    path: str
    previous: Entry | None
    following: Entry | None
    requires: tuple[Entry, ...]
    next: tuple[Entry, ...]
    tabs: tuple[Entry, ...] = ()
    near: tuple[Entry, ...] = ()


@lru_cache(maxsize=1 << 14)
def entry(article: Article) -> Entry:
    """Return the article as others show it."""
    return Entry(
        slug=article.slug,
        url=article.url,
        kind=article.kind,
        title=article.title,
        question=article.question,
        summary=article.summary,
        minutes=article.minutes,
    )
