"""Renamed pages: at each former address, named in the front matter's `was`, a page that leads on.

The way leads from a former address straight to a page, and no former address may be that of a page,
so there is no circle and no chain.
"""

import re
from collections.abc import Iterable
from typing import Any

from builder.content.article import Article
from builder.core.problem import Problem, located
from builder.core.project import Project
from builder.pages import page

TEMPLATE, SCRIPT = "moved.html", "moved.js"
_ADDRESS = re.compile(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*")
_TAKEN = ("assets", "embed", "search")


def pages(
    articles: Iterable[Article],
    templates: Any,  # noqa: ANN401 (a Jinja environment)
    base_url: str,
    project: Project,
) -> dict[str, bytes]:
    """Return path in the output -> page for every former address."""
    found = {}
    for article in articles:
        for was in article.was:
            html = templates.get_template(TEMPLATE).render(
                article=article,
                root=page.root_of(f"{was}/"),
                policy=page.POLICY,
                base_url=base_url,
                project=project,
            )
            found[f"{was}/index.html"] = html.encode()
    return found


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return former addresses that are none, that a page has now, or that two pages claim."""
    known = tuple(articles)
    now = {article.url.rstrip("/"): article.source for article in known}
    claimed: dict[str, str] = {}
    wrong: list[Problem] = []
    for article in known:
        for was in article.was:
            message = ""
            if not _ADDRESS.fullmatch(was) or was.partition("/")[0] in _TAKEN:
                message = f"was names '{was}'; an address is such as 'guides/old-name'"
            elif was in now:
                message = f"was names '{was}', which is the address of {now[was]}"
            elif was in claimed:
                message = f"was names '{was}', and so does {claimed[was]}"
            if message:
                wrong += located(article.source, article.text, f'"{was}"', message)
            claimed.setdefault(was, article.source)
    return wrong
