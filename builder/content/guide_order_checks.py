"""What is wrong between guides: circles of prerequisites, two at one place, two names of a path."""

from collections.abc import Callable, Iterable, Mapping

from builder.content.article import Article
from builder.core.problem import Problem


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return what is wrong between these articles; only their guides stand in an order."""
    found = tuple(articles)
    guides = [one for one in found if one.kind == "guide"]
    tabs = [one for one in found if one.kind == "tab"]
    return [
        *_circles({one.slug: one for one in guides}),
        *_places(guides, "of the path '{}'", lambda one: one.path),
        *_places(tabs, "of the tabs of {}", lambda one: ", ".join(one.requires)),
        *_letters(guides),
        *_addresses(found),
    ]


def _circles(guides: Mapping[str, Article]) -> list[Problem]:
    """Return one problem for each circle, at the guide of it that is named first."""
    found, done = [], set[str]()

    def visit(slug: str, way: tuple[str, ...]) -> None:
        if slug in way:
            circle = way[way.index(slug) :]
            if not done & set(circle):
                first = guides[min(circle)]
                message = f"requires itself: {' -> '.join((*circle, slug))}"
                found.append(Problem(first.source, line_of(first, "requires"), message))
            return
        if slug in done or slug not in guides:
            return
        for needed in guides[slug].requires:
            visit(needed, (*way, slug))
        done.add(slug)

    for slug in guides:
        visit(slug, ())
    return found


def _places(articles: list[Article], what: str, group: Callable[[Article], str]) -> list[Problem]:
    taken: dict[tuple[str, int], Article] = {}
    found = []
    for one in articles:
        first = taken.setdefault((group(one), one.order), one)
        if first is not one:
            name = what.format(group(one))
            message = f"order {one.order} {name} is also that of {first.source}"
            found.append(Problem(one.source, line_of(one, "order"), message))
    return found


def _letters(guides: list[Article]) -> list[Problem]:
    first: dict[str, Article] = {}
    found = []
    for one in guides:
        other = first.setdefault(one.path[:1], one)
        if other.path != one.path:
            message = f"the path '{one.path}' is called '{other.path}' in {other.source}"
            found.append(Problem(one.source, line_of(one, "path"), message))
    return found


def _addresses(articles: tuple[Article, ...]) -> list[Problem]:
    """Return the articles that would lie at one address."""
    first: dict[str, Article] = {}
    found = []
    for one in articles:
        other = first.setdefault(one.url.lower(), one)
        if other is not one:
            message = f"has the address of {other.source}: {one.url or 'the home page'}"
            found.append(Problem(one.source, 1, message))
    return found


def line_of(article: Article, key: str) -> int:
    """Return the line of a key of the front matter."""
    lines = article.text.splitlines()
    return next((n for n, line in enumerate(lines, 1) if line.lstrip().startswith(key)), 1)
