"""Files in the site's root folder: 404.html, robots.txt, .nojekyll, scripts, and lists of pages."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from builder.content.article import Article
from builder.content.navigation import shelf_urls
from builder.core.project import NavigationLink, Project
from builder.outputs import feeds
from builder.pages.changed_numbers import Change
from builder.pages.page import POLICY
from builder.theme.assets import Shell, without_fonts

MISSING = "missing.js"  # stands in 404.html, which knows no address of a script


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
    # 404.html is shown at any depth, so its links have to start at the host's root, or where its
    # script finds the site.
    all_articles, script = tuple(articles), scripts.get(MISSING, "")
    not_found = templates.get_template("missing.html").render(
        policy=allow_inline(POLICY, script),
        style=without_fonts(shell.style_text),
        home=urlsplit(base_url).path or "/",
        shell=shell,
        project=project,
        script=script,
        navigation=project.navigation or _shelf_links(all_articles),
    )
    files = {"404.html": not_found, ".nojekyll": "", "robots.txt": "User-agent: *\nAllow: /\n"}
    files["llms.txt"] = feeds.llms_txt(all_articles, project.name, base_url)
    if base_url:
        files["robots.txt"] += f"Sitemap: {base_url}sitemap.xml\n"
        files["sitemap.xml"] = feeds.sitemap(all_articles, base_url)
        files["feed.xml"] = feeds.atom(all_articles, project.name, base_url, changes)
    files |= {name: text for name, text in scripts.items() if text and name != MISSING}
    return {name: text.encode() for name, text in files.items()}


def allow_inline(policy: str, script: str) -> str:
    """Return a content security policy that lets this one script stand in the page."""
    if not script:
        return policy
    mark = b64encode(sha256(script.encode()).digest()).decode()
    return policy.replace("script-src 'self'", f"script-src 'self' 'sha256-{mark}'")


def _shelf_links(articles: Iterable[Article]) -> tuple[NavigationLink, ...]:
    """Return header links to the pages that list a folder."""
    return tuple(
        NavigationLink(label=slug.capitalize(), address=url, line=0)
        for slug, url in shelf_urls(articles).items()
    )
