"""Site navigation: learning paths, previous and next guides, tabs, tools."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from builder.content.article import SHELVES, Article
from builder.content.library import READERS, Reader
from builder.core.problem import Problem, problems_where


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A link to a page, with its texts; `url` is relative to the output folder."""

    slug: str
    url: str
    kind: str
    title: str
    question: str
    summary: str
    minutes: int
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPath:
    """A learning path: letter, name, guides in order; `url` and `question` of its page, or ""."""

    letter: str
    name: str
    guides: tuple[PageLink, ...]
    url: str = ""
    question: str = ""

    @property
    def minutes(self) -> int:
        """Return the minutes of its guides together."""
        return sum(guide.minutes for guide in self.guides)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolGroup:
    """The tools on the guides of a learning path, or on pages of none (`letter` and `name` "")."""

    letter: str
    name: str
    tools: tuple[PageLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolShelf:
    """The tools for whoever holds the same kind of thing, such as a file."""

    name: str
    tools: tuple[PageLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPath:
    """The guides for one kind of reader, in their order; `url` of the list's first page, or ""."""

    reader: Reader
    guides: tuple[PageLink, ...]
    url: str = ""
    minutes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePosition:
    """A page's position in the navigation.

    `tabs`: a guide and the pages that are its tabs; `near`: the guides of its path around it, so
    that the pages of a long path do not grow with it.
    """

    page: PageLink
    path: str
    previous: PageLink | None
    following: PageLink | None
    requires: tuple[PageLink, ...]
    next: tuple[PageLink, ...]
    tabs: tuple[PageLink, ...] = ()
    near: tuple[PageLink, ...] = ()


@lru_cache(maxsize=1 << 14)
def page_link(article: Article) -> PageLink:
    """Return the link to an article."""
    return PageLink(
        slug=article.slug,
        url=article.url,
        kind=article.kind,
        title=article.title,
        question=article.question,
        summary=article.summary,
        minutes=article.minutes,
        group=article.group,
    )


MAX_LISTED_GUIDES = 40  # guides of a path that the page of each lists


def learning_paths(articles: Iterable[Article]) -> tuple[LearningPath, ...]:
    """Return the learning paths by letter, with their guides in order."""
    all_articles = tuple(articles)
    pages = {article.path: article for article in all_articles if article.kind == "path"}
    guides_by_path: dict[str, list[Article]] = {}
    for article in _guides_in_order(all_articles):
        guides_by_path.setdefault(article.path, []).append(article)
    return tuple(
        LearningPath(
            letter=path.partition(" ")[0],
            name=path.partition(" ")[2],
            guides=tuple(page_link(guide) for guide in guides),
            url=pages[path].url if path in pages else "",
            question=pages[path].question if path in pages else "",
        )
        for path, guides in guides_by_path.items()
    )


def reader_paths(articles: Iterable[Article], readers: Iterable[Reader]) -> tuple[ReaderPath, ...]:
    """Return the guides for each kind of reader; readers without guides are left out."""
    all_articles = tuple(articles)
    courses = {article.slug: article for article in all_articles if article.kind == "course"}
    paths = (
        ReaderPath(
            reader=reader,
            guides=tuple(map(page_link, _guides_of(reader, all_articles))),
            url=courses[reader.key].url if reader.key in courses else "",
            minutes=courses[reader.key].minutes if reader.key in courses else 0,
        )
        for reader in readers
    )
    return tuple(path for path in paths if path.guides)


def _guides_of(reader: Reader, articles: tuple[Article, ...]) -> list[Article]:
    """Return the guides of a reader's list in the order to read them."""
    ordered = _guides_in_order(articles)
    if not reader.guides:
        return [guide for guide in ordered if reader.key in guide.readers]
    by_slug = {guide.slug: guide for guide in ordered}
    return [by_slug[slug] for slug in reader.guides if slug in by_slug]


def list_data(paths: Iterable[ReaderPath]) -> dict[str, dict[str, object]]:
    """Return key of a reader -> what a page needs that carries the reader's list along."""
    return {
        path.reader.key: {
            "title": path.reader.title,
            "url": path.url,
            "guides": [[guide.url, guide.title] for guide in path.guides],
        }
        for path in paths
    }


def shelf_urls(articles: Iterable[Article]) -> dict[str, str]:
    """Return slug -> URL of the pages that list a folder, in the order of the header."""
    urls = {article.slug: article.url for article in articles if article.kind == "shelf"}
    return {slug: urls[slug] for slug in SHELVES if slug in urls}


def tool_shelves(articles: Iterable[Article]) -> tuple[ToolShelf, ...]:
    """Return the tools' own pages in the groups of content/tools.md, empty groups left out."""
    all_articles = tuple(articles)
    names = (name for shelf in all_articles if shelf.kind == "shelf" for name in shelf.groups)
    tools = sorted(
        (page_link(article) for article in all_articles if article.kind == "tool"),
        key=lambda tool: tool.title,
    )
    shelves = (
        ToolShelf(name=name, tools=tuple(tool for tool in tools if tool.group == name))
        for name in names
    )
    return tuple(shelf for shelf in shelves if shelf.tools)


def group_problems(articles: Iterable[Article]) -> list[Problem]:
    """Return problems for tools whose group content/tools.md does not have."""
    all_articles = tuple(articles)
    shelves = [article for article in all_articles if article.kind == "shelf" and article.groups]
    names = [name for shelf in shelves for name in shelf.groups]
    return [
        problem
        for article in all_articles
        if article.kind == "tool" and names and article.group not in names
        for problem in problems_where(
            article.source,
            article.text,
            f'"{article.group}"',
            f"group is '{article.group}'; {shelves[0].source} has {', '.join(names)}",
        )
    ]


def reference_pages(articles: Iterable[Article]) -> tuple[PageLink, ...]:
    """Return the reference pages, sorted by title."""
    pages = (page_link(article) for article in articles if article.kind == "page")
    return tuple(sorted(pages, key=lambda page: page.title))


def tool_links(
    calculators: Iterable[tuple[str, str, str]], pages: Iterable[tuple[Article, Iterable[str]]]
) -> tuple[PageLink, ...]:
    """Return a link to every calculator that a page shows whole.

    Args:
        calculators: name, title and question of each.
        pages: each article with the calculators it shows whole; a tool's own page is preferred,
            then guides in order.
    """
    candidates = (page for page in pages if page[0].kind != "tab")  # tabs come after their guide
    ordered = sorted(
        candidates, key=lambda page: (page[0].kind != "tool", page[0].path, page[0].order)
    )
    first_page: dict[str, Article] = {}
    for article, whole in ordered:
        for name in whole:
            first_page.setdefault(name, article)
    links = []
    for name, title, question in calculators:
        if first_article := first_page.get(name):
            page = page_link(first_article)
            url = page.url if page.kind == "tool" else f"{page.url}#{name}"
            links.append(replace(page, url=url, kind="tool", title=title, question=question))
    return tuple(links)


def tools_by_learning_path(
    tools: Iterable[PageLink], paths: Iterable[LearningPath]
) -> tuple[ToolGroup, ...]:
    """Return the tools grouped by learning path, tools outside of all paths first."""
    remaining = list(tools)
    groups = []
    for path in paths:
        guides = {guide.url for guide in path.guides}
        in_path = tuple(tool for tool in remaining if tool.url.partition("#")[0] in guides)
        groups.append(ToolGroup(letter=path.letter, name=path.name, tools=in_path))
        remaining = [tool for tool in remaining if tool not in in_path]
    groups.insert(0, ToolGroup(letter="", name="", tools=tuple(remaining)))
    return tuple(group for group in groups if group.tools)


def page_positions(articles: Iterable[Article]) -> dict[str, PagePosition]:
    """Return source -> position of every article."""
    all_articles = tuple(articles)
    guides = {article.slug: article for article in all_articles if article.kind == "guide"}
    order = [article.slug for article in _guides_in_order(all_articles)]
    tabs = _tabs_by_guide(all_articles, guides)
    ranks = {slug: number for number, slug in enumerate(order)}
    nearby = _nearby_guides(_guides_in_order(all_articles))
    return {
        article.source: replace(
            _page_position(article, guides, order, ranks),
            tabs=_tab_links(article, tabs),
            near=nearby.get(article.slug, ()) if article.kind == "guide" else (),
        )
        for article in all_articles
    }


def _nearby_guides(ordered: list[Article]) -> dict[str, tuple[PageLink, ...]]:
    """Return slug of a guide -> guides of its path around it, itself included."""
    by_path: dict[str, list[Article]] = {}
    for guide in ordered:
        by_path.setdefault(guide.path, []).append(guide)
    nearby = {}
    for guides in by_path.values():
        entries = [page_link(guide) for guide in guides]
        for index, guide in enumerate(guides):
            start = max(0, min(index - MAX_LISTED_GUIDES // 2, len(entries) - MAX_LISTED_GUIDES))
            nearby[guide.slug] = tuple(entries[start : start + MAX_LISTED_GUIDES])
    return nearby


def _tabs_by_guide(
    articles: tuple[Article, ...], guides: Mapping[str, Article]
) -> dict[str, list[Article]]:
    """Return slug of a guide -> the guide and its tabs, in order."""
    tabs: dict[str, list[Article]] = {}
    for tab in sorted(
        (article for article in articles if article.kind == "tab"),
        key=lambda article: article.order,
    ):
        for slug in tab.requires:
            if slug in guides:
                tabs.setdefault(slug, [guides[slug]]).append(tab)
    return tabs


def _tab_links(article: Article, tabs: Mapping[str, list[Article]]) -> tuple[PageLink, ...]:
    slugs = article.requires if article.kind == "tab" else (article.slug,)
    return tuple(page_link(tab) for slug in slugs for tab in tabs.get(slug, ()))


def _guides_in_order(articles: Iterable[Article]) -> list[Article]:
    guides = [article for article in articles if article.kind == "guide"]
    return sorted(guides, key=lambda guide: (guide.path, guide.order, guide.slug))


def _page_position(
    article: Article, guides: Mapping[str, Article], order: list[str], ranks: Mapping[str, int]
) -> PagePosition:
    rank = ranks[article.slug] if article.kind == "guide" else -1
    previous = order[rank - 1] if rank > 0 else ""
    following = order[rank + 1] if 0 <= rank < len(order) - 1 else ""
    return PagePosition(
        page=page_link(article),
        path=article.path,
        previous=page_link(guides[previous]) if previous else None,
        following=page_link(guides[following]) if following else None,
        requires=tuple(page_link(guides[slug]) for slug in article.requires if slug in guides),
        next=tuple(page_link(guides[slug]) for slug in article.next if slug in guides),
    )


def reader_problems(articles: Iterable[Article], readers: Iterable[Reader]) -> list[Problem]:
    """Return problems for readers that are not in content/readers.toml, and for broken lists."""
    articles, readers = tuple(articles), tuple(readers)
    known = [reader.key for reader in readers]
    return [
        *(problem for reader in readers for problem in _list_problems(reader, articles)),
        *_unknown_reader_problems(articles, known),
    ]


def _list_problems(reader: Reader, articles: tuple[Article, ...]) -> list[Problem]:
    """Return problems of a reader's list that has an order of its own."""
    guides = {article.slug: article for article in articles if article.kind == "guide"}
    ranks = {slug: rank for rank, slug in enumerate(reader.guides)}
    name = f"the list '{reader.key}' of {READERS}"
    problems = [
        Problem(READERS, 1, f"'{reader.key}' lists the guide '{slug}', which does not exist")
        for slug in reader.guides
        if slug not in guides
    ]
    for guide in guides.values():
        if reader.guides and reader.key in guide.readers and guide.slug not in ranks:
            message = f"readers names '{reader.key}', but the guide is not on {name}"
            problems += problems_where(guide.source, guide.text, f'"{reader.key}"', message)
        for slug in guide.requires if guide.slug in ranks else ():
            if ranks.get(slug, len(ranks)) > ranks[guide.slug]:
                where = "comes later on" if slug in ranks else "is not on"
                message = f"requires names '{slug}', which {where} {name}"
                problems += problems_where(guide.source, guide.text, f'"{slug}"', message)
    return problems


def _unknown_reader_problems(articles: Iterable[Article], known: list[str]) -> list[Problem]:
    return [
        problem
        for article in articles
        for key in article.readers
        if key not in known
        for problem in problems_where(
            article.source,
            article.text,
            f'"{key}"',
            f"readers names '{key}', not in {READERS}; there are {', '.join(known)}",
        )
    ]


def slug_problems(articles: Iterable[Article]) -> list[Problem]:
    """Return problems with slugs: unknown guides, duplicate names."""
    all_articles = tuple(articles)
    slugs = {article.slug for article in all_articles if article.kind == "guide"}
    problems: list[Problem] = []
    first_source: dict[str, str] = {}
    first_with: dict[tuple[str, str], str] = {}
    for article in all_articles:
        if article.kind != "home" and article.slug in first_source:
            message = f"'{article.slug}' is also the name of {first_source[article.slug]}"
            problems.append(Problem(article.source, 1, message))
        first_source[article.slug] = article.source
        title_and_question = (article.title, article.question)
        if title_and_question in first_with and article.kind != "home":
            message = f"has the title and the question of {first_with[title_and_question]}"
            problems.append(Problem(article.source, 1, message))
        first_with[title_and_question] = article.source
        for key in ("requires", "next"):
            for slug in getattr(article, key):
                if slug not in {*slugs, *article.planned}:
                    message = f"{key} names the guide '{slug}', which does not exist"
                    hint = f"; there are {', '.join(sorted(slugs))}; 'planned' lists future ones"
                    problems += problems_where(
                        article.source, article.text, f'"{slug}"', message + hint
                    )
        for slug in sorted(slugs & set(article.planned)):
            message = f"the guide '{slug}' exists; take it out of 'planned'"
            problems.append(Problem(article.source, 1, message))
    return problems
