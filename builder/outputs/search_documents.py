"""What can be found: the pages as they stand, and what they list as pages of their own.

Calculators, terms, formulas, claims and sources are listed.

Each document is HTML as Pagefind reads it: its headings with an id are places to go to. Where the
document stands for a place on another page, its `url` says where that is.
"""

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from builder.calculators.calculator_context import Live
from builder.content.article import Article
from builder.content.library import Library
from builder.content.navigation import Entry
from builder.markdown.extensions.glossary import term_id
from builder.outputs import search_entries

KINDS = {
    "guide": "Guide",
    "tool": "Tool",
    "tab": "Guide",
    "page": "Reference",
    "home": "Home",
    "path": "Path",
}


def all_of(
    articles: Iterable[Article],
    pages: Mapping[str, bytes],
    tools: Iterable[Entry],
    calculators: Mapping[str, Live],
    library: Library,
    language: str,
) -> dict[str, str]:
    """Return path -> HTML of every document.

    Args:
        articles: whose pages they are.
        pages: path in the output -> finished page.
        tools: where each calculator stands, by title.
        calculators: by name, with their default results.
        library: the glossary and the sources.
        language: of the texts.
    """
    found = {}
    for article in articles:
        path = f"{article.url}index.html"
        if article.kind != "home" and path in pages:
            found[path] = _page(pages[path].decode(), article)
            for item in search_entries.of(article, pages[path].decode(), library):
                place = f"_/{item.kind.lower()}-{item.name}/index.html"
                found[place] = _document(item.html, item.kind, item.url)
    where = {tool.title: tool.url for tool in tools}
    for name, one in calculators.items():
        if one.title in where:
            found[f"_/{name}/index.html"] = _calculator(one, where[one.title])
    glossary = next((one.url for one in articles if one.slug == "glossary"), "")
    if glossary and library.terms:
        for term in dict.fromkeys(library.terms.values()):
            text = f"<h1>{escape(term.name)}</h1><p>{escape(term.text)}</p>"
            url = f"{glossary}#{term_id(term.name)}"
            found[f"_/term-{term_id(term.name)}/index.html"] = _document(text, "Term", url)
    head = f'<!doctype html><html lang="{language}">'
    return {path: head + body for path, body in found.items()}


def _document(text: str, kind: str, url: str) -> str:
    place = f'<i data-pagefind-meta="place:{escape(url)}"></i>'
    main = f'<main data-pagefind-meta="kind:{kind}">{place}{text}</main>'
    return f"<body>{main}</body></html>"


def _page(html: str, article: Article) -> str:
    """Return a page's text under its headings, without what is no prose."""
    article_of, body_of = r"<article.*?</article>", r"<body.*?</body>"
    prose = re.search(article_of, html, re.DOTALL) or re.search(body_of, html, re.DOTALL)
    text = prose[0].replace("<body", "<div").replace("</body", "</div") if prose else ""
    return _document(text, KINDS.get(article.kind, "Page"), article.url)


def _calculator(one: Live, url: str) -> str:
    """Return a calculator: its question, its inputs, and each output with its value."""
    parts = [f"<h1>{escape(one.title)}</h1><p>{escape(one.question)}</p>"]
    labels = ", ".join(field.label for field in one.fields)
    parts.append(f"<p>Inputs: {escape(labels)}.</p>")
    for name, view in one.outputs.items():
        parts.append(_output(f"{one.name}-{name}", view))
    return _document("".join(parts), "Calculator", url)


def _output(name: str, view: Mapping[str, Any]) -> str:
    title = view.get("label") or view.get("title") or ""
    if not title:
        return ""
    said = view.get("text") or view.get("caption") or _bare(str(view.get("html") or ""))
    more = f" {view['note']}" if view.get("note") else ""
    return f'<h2 id="{name}">{escape(str(title))}</h2><p>{escape(f"{said}{more}")}</p>'


def _bare(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()
