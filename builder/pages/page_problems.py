"""What is wrong in the finished pages, told at the line of what an author has written."""

from collections.abc import Mapping

from builder.core.problem import Problem, located
from builder.core.project import Way
from builder.pages import html_links, page
from builder.pages.all_pages import paths
from builder.pages.page_inputs import Made, Parts
from builder.project.project_file import FILE


def _way(about: str, path: str, parts: Parts) -> Way | None:
    """Return the link of the header that an address on a page comes from."""
    ways, root = parts.surface.project.navigation, page.root_of(path)
    return next((way for way in ways if about == root + way.address), None)


def problems(
    output: Mapping[str, bytes],
    parts: Parts,
    made: Made,
    known: set[str],
) -> list[Problem]:
    """Return what is wrong in the finished pages, save those with problems of their own."""
    every = ((path, one) for one in parts.texts.articles for path in paths(one))
    by_path = {path: article for path, article in every if path in made.facts}
    others = frozenset(path for path in output if path not in by_path)
    found: list[Problem] = []
    for path, about, message in html_links.wrong(made.facts, others, made.reach):
        article = by_path[path]
        way = _way(about, path, parts)
        if way:  # said once, not on every page
            told = message.replace(f"'{about}'", f"'{way.address}'", 1)
            found.append(Problem(FILE, way.line, told))
        elif article.source not in known:
            raw = made.written[article.source].get(about, about)
            told = message.replace(f"'{about}'", f"'{raw}'", 1)
            found += located(article.source, article.body, raw, told)
    return found
