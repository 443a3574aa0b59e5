"""What the page of a learning path shows of its guides; it grows with them by itself."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from builder.content import prerequisite_map
from builder.content.article import Article
from builder.content.page_links import Entry, entry
from builder.core.problem import Problem

_ABLE = re.compile(r"<p>After this guide you can.*?</p>\s*<ul>(.*?)</ul>", re.DOTALL)
_ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A guide of a path, and what a reader can do after it, as texts of HTML."""

    guide: Entry
    able: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A learning path: its guides in order, and the map of what builds on what."""

    steps: tuple[Step, ...]
    map: str


def way(path: Article, articles: Iterable[Article], prose: Mapping[str, str], root: str) -> Way:
    """Return what the page of a path shows.

    Args:
        path: the page.
        articles: all of them.
        prose: source -> HTML of a guide.
        root: way from the page to the output folder.
    """
    guides = {one.slug: one for one in articles if one.kind == "guide"}
    own = sorted(
        (one for one in guides.values() if one.path == path.path),
        key=lambda one: (one.order, one.slug),
    )
    names = {one.slug for one in own}
    before = dict.fromkeys(
        slug for one in own for slug in one.requires if slug in guides and slug not in names
    )
    rows = [*(guides[slug] for slug in before), *own]
    drawn = prerequisite_map.draw(
        [entry(one) for one in rows],
        set(before),
        {one.slug: one.requires for one in own},
        root,
    )
    steps = (Step(guide=entry(one), able=able(prose.get(one.source, ""))) for one in own)
    return Way(steps=tuple(steps), map=drawn)


def able(html: str) -> tuple[str, ...]:
    """Return what a guide says that a reader can do after it, without links and live numbers."""
    found = _ABLE.search(html)
    items = _ITEM.findall(found[1]) if found else ()
    return tuple(re.sub(r"<[^>]+>|⟦[^⟧]*⟧", "", item).strip().rstrip(";.") for item in items)


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return the pages of paths that no guide is on, and second pages of one path."""
    found = tuple(articles)
    known = sorted({one.path for one in found if one.kind == "guide"})
    seen: dict[str, str] = {}
    wrong = []
    for page in (one for one in found if one.kind == "path"):
        if page.path not in known:
            message = f"no guide is on the path '{page.path}'; there are {', '.join(known)}"
            wrong.append(Problem(page.source, 1, message))
        elif page.path in seen:
            wrong.append(Problem(page.source, 1, f"'{page.path}' has a page: {seen[page.path]}"))
        seen.setdefault(page.path, page.source)
    return wrong
