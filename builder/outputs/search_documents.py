"""Search documents: the pages, and calculators, terms, formulas, claims and sources on their own.

Each document is HTML for Pagefind; its headings with an id become link targets. A document for a
section of a page names the URL of that section.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import takewhile
from typing import Any

from builder.calculators.calculator_context import CalculatorContext
from builder.content.article import Article
from builder.content.library import Library
from builder.content.navigation import PageLink
from builder.core import html_tree
from builder.core.html_tree import Element
from builder.markdown.extensions.references import term_id

ASKED = "search/asked.json"
KINDS = {
    "guide": "Guide",
    "tool": "Tool",
    "tab": "Guide",
    "page": "Reference",
    "home": "Home",
    "shelf": "Reference",
    "path": "Path",
    "course": "Path",
}


def search_documents(
    articles: Iterable[Article],
    pages: Mapping[str, str],
    tools: Iterable[PageLink],
    calculators: Mapping[str, CalculatorContext],
    library: Library,
    language: str,
) -> dict[str, str]:
    """Return path -> HTML of every document.

    Args:
        articles: of the site.
        pages: path in the output -> HTML of the page's article.
        tools: title and URL of each calculator's page.
        calculators: by name, with their default results.
        library: the glossary and the sources.
        language: of the site.
    """
    documents = {}
    for article in articles:
        path = f"{article.url}index.html"
        if article.kind != "home" and path in pages:
            documents[path] = _page(pages[path], article)
            for item in page_entries(article, pages[path], library):
                document_path = f"_/{item.kind.lower()}-{item.name}/index.html"
                documents[document_path] = _document(item.html, item.kind, item.url)
    urls = {tool.title: tool.url for tool in tools}
    for name, calculator in calculators.items():
        if calculator.title in urls:
            documents[f"_/{name}/index.html"] = _calculator(calculator, urls[calculator.title])
    glossary = next(
        (calculator.url for calculator in articles if calculator.slug == "glossary"), ""
    )
    if glossary and library.terms:
        for term in dict.fromkeys(library.terms.values()):
            text = f"<h1>{escape(term.name)}</h1><p>{escape(term.text)}</p>"
            url = f"{glossary}#{term_id(term.name)}"
            documents[f"_/term-{term_id(term.name)}/index.html"] = _document(text, "Term", url)
    head = f'<!doctype html><html lang="{language}">'
    return {path: head + body for path, body in documents.items()}


def asked_words(articles: Iterable[Article], library: Library) -> dict[str, Any]:
    """Return the words that readers type for a term -> the pages that answer, tools before guides.

    `pages` holds the title, the URL and the kind of each; `words` maps names of terms, in lower
    case, to numbers of pages.
    """
    by_slug = {article.slug: article for article in articles}
    glossary = by_slug.get("glossary")
    pages: dict[tuple[str, str, str], int] = {}
    words: dict[str, list[int]] = {}
    for term in dict.fromkeys(library.terms.values()):
        answering_pages = [by_slug[slug] for slug in (*term.tools, term.see) if slug in by_slug]
        rows = [(item.title, item.url, KINDS.get(item.kind, "Page")) for item in answering_pages]
        if glossary:
            rows.append((term.name, f"{glossary.url}#{term_id(term.name)}", "Term"))
        numbers = [pages.setdefault(row, len(pages)) for row in rows]
        for word in (term.name, *term.asked):
            known = words.setdefault(word.lower(), [])
            known += [number for number in numbers if number not in known]
    return {"pages": [list(page) for page in pages], "words": words}


def _document(text: str, kind: str, url: str) -> str:
    address_mark = f'<i data-pagefind-meta="place:{escape(url)}"></i>'
    kinds = f'data-pagefind-meta="kind:{kind}" data-pagefind-filter="kind:{kind}"'
    main = f"<main {kinds}>{address_mark}{text}</main>"
    return f"<body>{main}</body></html>"


def _page(html: str, article: Article) -> str:
    """Return the search document of a page."""
    return _document(html, KINDS.get(article.kind, "Page"), article.url)


def _calculator(calculator: CalculatorContext, url: str) -> str:
    """Return the search document of a calculator: question, inputs, and outputs with values."""
    parts = [f"<h1>{escape(calculator.title)}</h1><p>{escape(calculator.question)}</p>"]
    labels = ", ".join(field.label for field in calculator.fields)
    parts.append(f"<p>Inputs: {escape(labels)}.</p>")
    for name, view in calculator.outputs.items():
        parts.append(_output(f"{calculator.name}-{name}", view))
    return _document("".join(parts), "Calculator", url)


def _output(name: str, view: Mapping[str, Any]) -> str:
    title = view.get("label") or view.get("title") or ""
    if not title:
        return ""
    text = (
        view.get("text")
        or view.get("caption")
        or _spoken([html_tree.parse(str(view.get("html") or ""))], " ")
    )
    more = f" {view['note']}" if view.get("note") else ""
    return f'<h2 id="{name}">{escape(str(title))}</h2><p>{escape(f"{text}{more}")}</p>'


# Search entries of reference pages: each formula, claim, source and answered question.

_UNSPOKEN = ("math", "script", "template", "button")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEntry:
    """A search entry: its kind, its HTML, and its URL below the home page."""

    name: str
    kind: str
    html: str
    url: str


def page_entries(article: Article, html: str, library: Library) -> Iterator[SearchEntry]:
    """Yield the entries of a reference page; none for any other page."""
    if article.slug == "formulas":
        yield from _formulas(html_tree.parse(html), article.url)
    elif article.slug == "claims":
        yield from _claims(html_tree.parse(html), article.url)
    elif article.slug == "bibliography":
        yield from _sources(library, article.url)
    elif article.slug == "questions":
        yield from _questions(html_tree.parse(html), article.url)


def _sections(page: Element) -> Iterator[tuple[Element, list["Element | str"]]]:
    """Yield each heading of the third level that has an id, and what follows until the next."""
    for heading in page.elements("h3"):
        if heading.get("id") and heading.parent:
            siblings = heading.parent.children
            after = siblings[siblings.index(heading) + 1 :]
            yield heading, [*takewhile(lambda node: not _is_heading(node), after)]


def _is_heading(node: "Element | str") -> bool:
    """Say whether a node is a heading, or a part of the page with a heading of its own."""
    if not isinstance(node, Element):
        return False
    return node.tag in ("h2", "h3") or node.first("h2", "h3") is not None


def _formulas(page: Element, url: str) -> Iterator[SearchEntry]:
    """Yield every formula with its meaning, its symbols, and its value at the defaults."""
    for heading, nodes in _sections(page):
        section = [node for node in nodes if isinstance(node, Element)]
        formula = next((node for node in section if _first_number(node)), None)
        value = _first_number(formula) if formula else None
        example = f"With the inputs of the sheet: {value.text()}. " if value else ""
        after = nodes[nodes.index(formula) + 1 :] if formula else nodes
        yield _section_entry(heading, "Formula", f"{example}{_spoken(after)}", url)


def _first_number(part: Element) -> Element | None:
    """Return the first number that stands in a formula."""
    return part.first("mn", where=lambda number: number.has("data-slot"))


def _section_entry(heading: Element, kind: str, words: str, url: str) -> SearchEntry:
    name, title = heading.get("id"), _spoken(heading.children)
    html = f"<h1>{escape(title)}</h1><p>{escape(words)}</p>"
    return SearchEntry(name=name, kind=kind, html=html, url=f"{url}#{name}")


def _claims(page: Element, url: str) -> Iterator[SearchEntry]:
    """Yield every claim with its printed value, its correct value, the verdict and the reason."""
    rows = []
    for table in page.elements("table"):
        if "stack" in table.classes:
            columns = [cell for cell in table.elements("th") if cell.get("scope") == "col"]
            names = [_spoken(cell.children) for cell in columns]
            body = (row for row in table.elements("tr") if row.get("role") == "row")
            rows += [(names, [*row.elements("td", "th")]) for row in body]
    for number, (names, row) in enumerate(rows):
        cells = dict(
            zip(("Claim", *names[1:]), (_spoken(cell.children) for cell in row), strict=True)
        )
        details = {
            label: cells[label].rstrip(".") for label in ("Printed", "Right", "Verdict", "Why")
        }
        details_text = " ".join(f"{label}: {text}." for label, text in details.items())
        text = f"<h1>{escape(cells['Claim'])}</h1><p>{escape(details_text)}</p>"
        yield SearchEntry(name=str(number), kind="Claim", html=text, url=f"{url}#claims_checked")


def _questions(page: Element, url: str) -> Iterator[SearchEntry]:
    """Yield every question with its answer as the page shows it."""
    for heading, nodes in _sections(page):
        yield _section_entry(heading, "Question", _spoken(nodes), url)


def _sources(library: Library, url: str) -> Iterator[SearchEntry]:
    """Yield every source; its title weighs less than that of a page which explains the topic."""
    for key, reference in library.references.items():
        citation = f"{reference.authors} ({reference.year}). {reference.where}."
        text = (
            f'<h1 data-pagefind-weight="2">{escape(reference.title)}</h1>'
            f"<p>{escape(f'{citation} {reference.used_for}'.strip())}</p>"
        )
        yield SearchEntry(name=key, kind="Source", html=text, url=f"{url}#ref-{key}")


def _spoken(nodes: Iterable["Element | str"], separator: str = "") -> str:
    """Return the words of a part of a page without formulas, buttons and links of headings."""
    words = html_tree.text(nodes, separator, without=_is_unspoken)
    return " ".join(words.split()).strip(" ·")


def _is_unspoken(element: Element) -> bool:
    return element.tag in _UNSPOKEN or "headerlink" in element.classes
