"""The files beside the pages: 404.html, robots.txt, .nojekyll, scripts, and the lists of pages."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from builder.content.article import Article
from builder.core.project import Project
from builder.outputs import feeds
from builder.pages.changed_numbers import Change
from builder.pages.page import POLICY
from builder.theme.assets import Shell, without_fonts


def extras(
    articles: Iterable[Article],
    shell: Shell,
    base_url: str,
    templates: Any,  # noqa: ANN401 (a Jinja environment)
    scripts: Mapping[str, str],
    changes: Iterable[Change],
    project: Project,
) -> dict[str, bytes]:
    """Return path in the output -> content; `scripts` lie beside the home page, where not empty.

    `changes` are numbers that were corrected; the feed names them beside the articles.
    """
    # 404.html is shown at any depth, so only an address from the host's root leads home.
    home = urlsplit(base_url).path or "/"
    missing = templates.get_template("missing.html").render(
        policy=POLICY,
        style=without_fonts(shell.style_text),
        home=home,
        shell=shell,
        project=project,
    )
    known = tuple(articles)
    found = {"404.html": missing, ".nojekyll": "", "robots.txt": "User-agent: *\nAllow: /\n"}
    found["llms.txt"] = feeds.llms(known, project.name, base_url)
    if base_url:
        found["robots.txt"] += f"Sitemap: {base_url}sitemap.xml\n"
        found["sitemap.xml"] = feeds.sitemap(known, base_url)
        found["feed.xml"] = feeds.atom(known, project.name, base_url, changes)
    found |= {name: text for name, text in scripts.items() if text}
    return {name: text.encode() for name, text in found.items()}
