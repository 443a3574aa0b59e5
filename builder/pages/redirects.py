"""Redirect pages at the former URLs of renamed pages, which front matter lists as `was`.

A redirect leads straight to a page, and no former URL may be that of a page, so there are no cycles
and no chains.
"""

import re
from collections.abc import Iterable
from typing import Any

from builder.content.article import Article
from builder.core.problem import Problem, problems_where
from builder.core.project import Project
from builder.pages import page

TEMPLATE, SCRIPT = "moved.html", "moved.js"
_ADDRESS = re.compile(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*")
_RESERVED = ("assets", "embed", "search")


def redirect_pages(
    articles: Iterable[Article],
    templates: Any,  # noqa: ANN401 (a Jinja environment)
    base_url: str,
    project: Project,
) -> dict[str, bytes]:
    """Return path in the output -> HTML of the redirect page of every former URL."""
    redirects = {}
    for article in articles:
        for was in article.was:
            html = templates.get_template(TEMPLATE).render(
                article=article,
                root=page.relative_root(f"{was}/"),
                policy=page.POLICY,
                base_url=base_url,
                project=project,
            )
            redirects[f"{was}/index.html"] = html.encode()
    return redirects


def problems(articles: Iterable[Article]) -> list[Problem]:
    """Return the problems of former URLs: malformed, in use by a page, or claimed by two pages."""
    known = tuple(articles)
    now = {article.url.rstrip("/"): article.source for article in known}
    claimed: dict[str, str] = {}
    address_problems: list[Problem] = []
    for article in known:
        for former_url in article.was:
            message = ""
            if not _ADDRESS.fullmatch(former_url) or former_url.partition("/")[0] in _RESERVED:
                message = f"was names '{former_url}'; an address is such as 'guides/old-name'"
            elif former_url in now:
                message = f"was names '{former_url}', which is the address of {now[former_url]}"
            elif former_url in claimed:
                message = f"was names '{former_url}', and so does {claimed[former_url]}"
            if message:
                address_problems += problems_where(
                    article.source, article.text, f'"{former_url}"', message
                )
            claimed.setdefault(former_url, article.source)
    return address_problems
