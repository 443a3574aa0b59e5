"""Files in the site's root folder: 404.html, robots.txt, .nojekyll, scripts, and lists of pages."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from builder.content.article import Article
from builder.core.project import Project
from builder.outputs import feeds
from builder.pages.changed_numbers import Change
from builder.pages.page import POLICY
from builder.theme.assets import Shell, without_fonts


def make_root_files(
    articles: Iterable[Article],
    shell: Shell,
    base_url: str,
    templates: Any,  # noqa: ANN401 (a Jinja environment)
    scripts: Mapping[str, str],
    changes: Iterable[Change],
    project: Project,
) -> dict[str, bytes]:
    """Return path in the output -> content of the root files.

    `scripts` are written unless empty; the feed lists `changes` of numbers besides articles.
    """
    # 404.html is shown at any depth, so its links have to start at the host's root.
    home = urlsplit(base_url).path or "/"
    not_found = templates.get_template("missing.html").render(
        policy=POLICY,
        style=without_fonts(shell.style_text),
        home=home,
        shell=shell,
        project=project,
    )
    all_articles = tuple(articles)
    files = {"404.html": not_found, ".nojekyll": "", "robots.txt": "User-agent: *\nAllow: /\n"}
    files["llms.txt"] = feeds.llms_txt(all_articles, project.name, base_url)
    if base_url:
        files["robots.txt"] += f"Sitemap: {base_url}sitemap.xml\n"
        files["sitemap.xml"] = feeds.sitemap(all_articles, base_url)
        files["feed.xml"] = feeds.atom(all_articles, project.name, base_url, changes)
    files |= {name: text for name, text in scripts.items() if text}
    return {name: text.encode() for name, text in files.items()}
