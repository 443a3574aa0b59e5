"""Machine-readable lists of pages: sitemap, Atom feed, llms.txt."""

from collections.abc import Iterable
from html import escape

from builder.content.article import Article
from builder.markdown.library_reference import has_placement
from builder.pages.changed_numbers import Change

# Of a site that documents a library.
_SERVER = """
## Tools for assistants

`wallclock mcp` serves the engine behind these pages over the Model Context Protocol (standard input
and output, read-only): pip install 'wallclock-training[mcp]'. With `--site FOLDER` it serves the
text of a built site, too.
"""
_SECTIONS = (("guide", "Guides"), ("tool", "Tools"), ("page", "Reference"))


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


def atom(
    articles: Iterable[Article], name: str, base_url: str, changes: Iterable[Change] = ()
) -> str:
    """Return the Atom feed (RFC 4287) of dated articles and of corrections, the newest first.

    Args:
        articles: all of them.
        name: of the site.
        base_url: where it is published.
        changes: numbers that were corrected.
    """
    dated = [
        (str(item.updated), item.title, item.url, item.summary)
        for item in articles
        if item.updated and item.kind != "tab"
    ]
    corrected = [
        (item.date, f"Corrected: {item.title}", item.url, f"A number has changed: {item.title}.")
        for item in changes
    ]
    entries_sorted = sorted(
        sorted([*dated, *corrected], key=lambda item: item[2]), key=_date, reverse=True
    )
    newest = f"{entries_sorted[0][0]}T00:00:00Z" if entries_sorted else "1970-01-01T00:00:00Z"
    entries = "".join(
        f"<entry><title>{escape(title)}</title><id>{escape(base_url + url)}</id>"
        f'<link href="{escape(base_url + url)}"/><updated>{date}T00:00:00Z</updated>'
        f"<summary>{escape(summary)}</summary></entry>\n"
        for date, title, url, summary in entries_sorted
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>{escape(name)}</title><id>{escape(base_url)}</id>"
        f'<link href="{escape(base_url)}"/><link rel="self" href="{escape(base_url)}feed.xml"/>'
        f"<author><name>{escape(name)}</name></author><updated>{newest}</updated>\n{entries}</feed>\n"
    )


def _date(entry: tuple[str, ...]) -> str:
    return entry[0]


def llms_txt(articles: Iterable[Article], name: str, base_url: str) -> str:
    """Return llms.txt (llmstxt.org): the site's summary and links to its Markdown pages."""
    ordered = sorted(articles, key=lambda article: (article.path, article.order, article.slug))
    home = next((article for article in ordered if article.kind == "home"), None)
    parts = [f"# {name}\n\n> {home.summary if home else ''}\n"]
    for kind, title in _SECTIONS:
        rows = [
            f"- [{article.title}]({base_url}{article.url}index.md): "
            f"{article.question or article.summary}"
            for article in ordered
            if article.kind == kind
        ]
        if rows:
            parts.append(f"\n## {title}\n\n" + "\n".join(rows) + "\n")
    if any(has_placement(article.body) for article in ordered):
        parts.append(_SERVER)
    return "".join(parts)
