"""The files beside the pages: 404.html, robots.txt, sitemap.xml, .nojekyll."""

from collections.abc import Iterable
from html import escape
from typing import Any
from urllib.parse import urlsplit

from builder.article import Article
from builder.assets import Shell, without_fonts
from builder.page import POLICY


def extras(
    articles: Iterable[Article],
    shell: Shell,
    base_url: str,
    templates: Any,  # noqa: ANN401 (a Jinja environment)
    keeper: str = "",
) -> dict[str, bytes]:
    """Return path in the output -> content; `keeper` is the script that keeps visited pages."""
    # 404.html is shown at any depth, so only an address from the host's root leads home.
    home = urlsplit(base_url).path or "/"
    missing = templates.get_template("missing.html").render(
        policy=POLICY, style=without_fonts(shell.style_text), home=home
    )
    found = {"404.html": missing, ".nojekyll": "", "robots.txt": "User-agent: *\nAllow: /\n"}
    if base_url:
        found["robots.txt"] += f"Sitemap: {base_url}sitemap.xml\n"
        found["sitemap.xml"] = sitemap(articles, base_url)
    if keeper:
        found["offline.js"] = keeper
    return {name: text.encode() for name, text in found.items()}


def sitemap(articles: Iterable[Article], base_url: str) -> str:
    """Return the sitemap of all articles (sitemaps.org protocol 0.9)."""
    rows = "".join(
        f"<url><loc>{escape(base_url + article.url)}</loc>"
        + (f"<lastmod>{article.updated}</lastmod>" if article.updated else "")
        + "</url>\n"
        for article in sorted(articles, key=lambda article: article.url)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )
