"""Where a reader can go: guides by learning path, what comes before and after, the tools."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from builder.content.article import Article
from builder.content.library import READERS, Reader
from builder.core.problem import Problem, located


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


LISTED = 40  # guides of a path that the page of each lists


def learning_paths(articles: Iterable[Article]) -> tuple[LearningPath, ...]:
    """Return the guides by path, paths by letter, guides by order."""
    known = tuple(articles)
    pages = {article.path: article.url for article in known if article.kind == "path"}
    found: dict[str, list[Article]] = {}
    for article in _in_order(known):
        found.setdefault(article.path, []).append(article)
    return tuple(
        LearningPath(
            letter=path.partition(" ")[0],
            name=path.partition(" ")[2],
            guides=tuple(entry(guide) for guide in guides),
            url=pages.get(path, ""),
        )
        for path, guides in found.items()
    )


def reader_paths(articles: Iterable[Article], readers: Iterable[Reader]) -> tuple[ReaderPath, ...]:
    """Return the guides for each reader; a reader for whom there is none is left out."""
    ordered = _in_order(articles)
    found = (
        ReaderPath(
            reader=reader,
            guides=tuple(entry(guide) for guide in ordered if reader.key in guide.readers),
        )
        for reader in readers
    )
    return tuple(path for path in found if path.guides)


def reference_pages(articles: Iterable[Article]) -> tuple[Entry, ...]:
    """Return the pages to look something up in, by title."""
    found = (entry(article) for article in articles if article.kind == "page")
    return tuple(sorted(found, key=lambda page: page.title))


def tools(
    calculators: Iterable[tuple[str, str, str]], pages: Iterable[tuple[Article, str]]
) -> tuple[Entry, ...]:
    """Return every calculator that stands whole on a page, with the address of its place there.

    Args:
        calculators: name, title and question of each.
        pages: each article with its HTML; a tool's own page is preferred, then guides in order.
    """
    whole = (page for page in pages if page[0].kind != "tab")  # tabs stand behind their guide
    ordered = sorted(whole, key=lambda page: (page[0].kind != "tool", page[0].path, page[0].order))
    first: dict[str, Article] = {}
    for article, html in ordered:
        for part in html.split('data-calculator="')[1:]:
            first.setdefault(part[: part.find('"')], article)
    found = []
    for name, title, question in calculators:
        if placed := first.get(name):
            here = entry(placed)
            url = here.url if here.kind == "tool" else f"{here.url}#{name}"
            found.append(replace(here, url=url, kind="tool", title=title, question=question))
    return tuple(found)


def tools_by_path(found: Iterable[Entry], paths: Iterable[LearningPath]) -> tuple[ToolGroup, ...]:
    """Return the tools by the path that they stand in, those outside of all paths first."""
    rest = list(found)
    groups = []
    for path in paths:
        guides = {guide.url for guide in path.guides}
        inside = tuple(tool for tool in rest if tool.url.partition("#")[0] in guides)
        groups.append(ToolGroup(letter=path.letter, name=path.name, tools=inside))
        rest = [tool for tool in rest if tool not in inside]
    groups.insert(0, ToolGroup(letter="", name="", tools=tuple(rest)))
    return tuple(group for group in groups if group.tools)


def places(articles: Iterable[Article]) -> dict[str, Place]:
    """Return source -> place of every article."""
    found = tuple(articles)
    guides = {article.slug: article for article in found if article.kind == "guide"}
    order = [article.slug for article in _in_order(found)]
    tabs = _tabs(found, guides)
    place = {slug: number for number, slug in enumerate(order)}
    near = _near(_in_order(found))
    return {
        article.source: replace(
            _place(article, guides, order, place),
            tabs=_tabs_of(article, tabs),
            near=near.get(article.slug, ()) if article.kind == "guide" else (),
        )
        for article in found
    }


def _near(ordered: list[Article]) -> dict[str, tuple[Entry, ...]]:
    """Return slug of a guide -> those of its path that its page lists, itself among them."""
    ways: dict[str, list[Article]] = {}
    for guide in ordered:
        ways.setdefault(guide.path, []).append(guide)
    found = {}
    for guides in ways.values():
        entries = [entry(guide) for guide in guides]
        for at, guide in enumerate(guides):
            begin = max(0, min(at - LISTED // 2, len(entries) - LISTED))
            found[guide.slug] = tuple(entries[begin : begin + LISTED])
    return found


def _tabs(articles: tuple[Article, ...], guides: Mapping[str, Article]) -> dict[str, list[Article]]:
    """Return slug of a guide -> the guide and its tabs, in order."""
    found: dict[str, list[Article]] = {}
    for tab in sorted((one for one in articles if one.kind == "tab"), key=lambda one: one.order):
        for slug in tab.requires:
            if slug in guides:
                found.setdefault(slug, [guides[slug]]).append(tab)
    return found


def _tabs_of(article: Article, tabs: Mapping[str, list[Article]]) -> tuple[Entry, ...]:
    slugs = article.requires if article.kind == "tab" else (article.slug,)
    return tuple(entry(tab) for slug in slugs for tab in tabs.get(slug, ()))


def _in_order(articles: Iterable[Article]) -> list[Article]:
    guides = [article for article in articles if article.kind == "guide"]
    return sorted(guides, key=lambda guide: (guide.path, guide.order, guide.slug))


def _place(
    article: Article, guides: Mapping[str, Article], order: list[str], place: Mapping[str, int]
) -> Place:
    at = place[article.slug] if article.kind == "guide" else -1
    before = order[at - 1] if at > 0 else ""
    after = order[at + 1] if 0 <= at < len(order) - 1 else ""
    return Place(
        here=entry(article),
        path=article.path,
        previous=entry(guides[before]) if before else None,
        following=entry(guides[after]) if after else None,
        requires=tuple(entry(guides[slug]) for slug in article.requires if slug in guides),
        next=tuple(entry(guides[slug]) for slug in article.next if slug in guides),
    )


def unknown_readers(articles: Iterable[Article], readers: Iterable[Reader]) -> list[Problem]:
    """Return the articles that name a reader who is not in content/readers.toml."""
    known = [reader.key for reader in readers]
    return [
        problem
        for article in articles
        for key in article.readers
        if key not in known
        for problem in located(
            article.source,
            article.text,
            f'"{key}"',
            f"readers names '{key}', not in {READERS}; there are {', '.join(known)}",
        )
    ]


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return what is wrong between articles: unknown guides, two of one name."""
    found = tuple(articles)
    slugs = {article.slug for article in found if article.kind == "guide"}
    wrong: list[Problem] = []
    seen: dict[str, str] = {}
    for article in found:
        if article.kind != "home" and article.slug in seen:
            message = f"'{article.slug}' is also the name of {seen[article.slug]}"
            wrong.append(Problem(article.source, 1, message))
        seen[article.slug] = article.source
        for key in ("requires", "next"):
            for slug in getattr(article, key):
                if slug not in {*slugs, *article.planned}:
                    message = f"{key} names the guide '{slug}', which does not exist"
                    hint = f"; there are {', '.join(sorted(slugs))}; 'planned' lists future ones"
                    wrong += located(article.source, article.text, f'"{slug}"', message + hint)
        for slug in sorted(slugs & set(article.planned)):
            message = f"the guide '{slug}' exists; take it out of 'planned'"
            wrong.append(Problem(article.source, 1, message))
    return wrong
