"""Checks of the guides' order: prerequisite cycles, duplicate positions, path names, URLs."""

from collections.abc import Callable, Iterable, Mapping

from builder.content.article import Article
from builder.core.problem import Problem


def guide_problems(articles: Iterable[Article]) -> list[Problem]:
    """Return the problems between these articles."""
    all_articles = tuple(articles)
    guides = [article for article in all_articles if article.kind == "guide"]
    tabs = [article for article in all_articles if article.kind == "tab"]
    return [
        *_cycle_problems({article.slug: article for article in guides}),
        *_duplicate_position_problems(guides, "of the path '{}'", lambda article: article.path),
        *_duplicate_position_problems(
            tabs, "of the tabs of {}", lambda article: ", ".join(article.requires)
        ),
        *_path_name_problems(guides),
        *_duplicate_url_problems(all_articles),
    ]


def _cycle_problems(guides: Mapping[str, Article]) -> list[Problem]:
    """Return one problem for each prerequisite cycle, at its alphabetically first guide."""
    problems, visited = [], set[str]()

    def visit(slug: str, path: tuple[str, ...]) -> None:
        if slug in path:
            cycle = path[path.index(slug) :]
            if not visited & set(cycle):
                first = guides[min(cycle)]
                message = f"requires itself: {' -> '.join((*cycle, slug))}"
                problems.append(
                    Problem(first.source, front_matter_line(first, "requires"), message)
                )
            return
        if slug in visited or slug not in guides:
            return
        for required in guides[slug].requires:
            visit(required, (*path, slug))
        visited.add(slug)

    for slug in guides:
        visit(slug, ())
    return problems


def _duplicate_position_problems(
    articles: list[Article], description: str, group: Callable[[Article], str]
) -> list[Problem]:
    first_at: dict[tuple[str, int], Article] = {}
    problems = []
    for article in articles:
        first = first_at.setdefault((group(article), article.order), article)
        if first is not article:
            name = description.format(group(article))
            message = f"order {article.order} {name} is also that of {first.source}"
            problems.append(Problem(article.source, front_matter_line(article, "order"), message))
    return problems


def _path_name_problems(guides: list[Article]) -> list[Problem]:
    first_by_letter: dict[str, Article] = {}
    problems = []
    for guide in guides:
        other = first_by_letter.setdefault(guide.path[:1], guide)
        if other.path != guide.path:
            message = f"the path '{guide.path}' is called '{other.path}' in {other.source}"
            problems.append(Problem(guide.source, front_matter_line(guide, "path"), message))
    return problems


def _duplicate_url_problems(articles: tuple[Article, ...]) -> list[Problem]:
    """Return problems for articles with the same URL."""
    first_by_url: dict[str, Article] = {}
    problems = []
    for article in articles:
        other = first_by_url.setdefault(article.url.lower(), article)
        if other is not article:
            message = f"has the address of {other.source}: {article.url or 'the home page'}"
            problems.append(Problem(article.source, 1, message))
    return problems


def front_matter_line(article: Article, key: str) -> int:
    """Return the line of a front-matter key."""
    lines = article.text.splitlines()
    return next((n for n, line in enumerate(lines, 1) if line.lstrip().startswith(key)), 1)
