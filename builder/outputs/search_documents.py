"""Search documents: the pages, and calculators, terms, formulas, claims and sources on their own.

Each document is HTML for Pagefind; its headings with an id become link targets. A document for a
section of a page names the URL of that section.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from typing import Any

from builder.calculators.calculator_context import CalculatorContext
from builder.content.article import Article
from builder.content.library import Library
from builder.content.navigation import PageLink
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
    pages: Mapping[str, bytes],
    tools: Iterable[PageLink],
    calculators: Mapping[str, CalculatorContext],
    library: Library,
    language: str,
) -> dict[str, str]:
    """Return path -> HTML of every document.

    Args:
        articles: of the site.
        pages: path in the output -> finished page.
        tools: title and URL of each calculator's page.
        calculators: by name, with their default results.
        library: the glossary and the sources.
        language: of the site.
    """
    documents = {}
    for article in articles:
        path = f"{article.url}index.html"
        if article.kind != "home" and path in pages:
            documents[path] = _page(pages[path].decode(), article)
            for item in page_entries(article, pages[path].decode(), library):
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
    """Return what readers type for a term -> the pages that answer it, tools before guides.

    `pages` holds the title, the URL and the kind of each; `words` maps names of terms, in lower
    case, to numbers of pages.
    """
    by_slug = {article.slug: article for article in articles}
    glossary = by_slug.get("glossary")
    pages: dict[tuple[str, str, str], int] = {}
    words: dict[str, list[int]] = {}
    for term in dict.fromkeys(library.terms.values()):
        answers = [by_slug[slug] for slug in (*term.tools, term.see) if slug in by_slug]
        rows = [(item.title, item.url, KINDS.get(item.kind, "Page")) for item in answers]
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
    article_of, body_of = r"<article.*?</article>", r"<body.*?</body>"
    prose = re.search(article_of, html, re.DOTALL) or re.search(body_of, html, re.DOTALL)
    text = prose[0].replace("<body", "<div").replace("</body", "</div") if prose else ""
    return _document(text, KINDS.get(article.kind, "Page"), article.url)


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
    text = view.get("text") or view.get("caption") or _without_tags(str(view.get("html") or ""))
    more = f" {view['note']}" if view.get("note") else ""
    return f'<h2 id="{name}">{escape(str(title))}</h2><p>{escape(f"{text}{more}")}</p>'


def _without_tags(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()


# Search entries of reference pages: each formula, claim, source and answered question.

_SECTION = re.compile(
    r'<h3 id="(?P<id>[\w-]+)">(?P<title>.*?)</h3>(?P<text>.*?)(?=<h[23]\b|</article>)', re.DOTALL
)
_VALUE = re.compile(r'<mn data-slot="\w+">([^<]*)</mn>')
_TABLE = re.compile(r'<table class="stack\b.*?</table>', re.DOTALL)
_COLUMN = re.compile(r'<th scope="col">(.*?)</th>', re.DOTALL)
_ROW = re.compile(r'<tr role="row">(.*?)</tr>', re.DOTALL)
_CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", re.DOTALL)
_UNSPOKEN = re.compile(
    r"<(math|script|template|button)\b.*?</\1>|<a class=\"headerlink\".*?</a>", re.DOTALL
)


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
        yield from _formulas(html, article.url)
    elif article.slug == "claims":
        yield from _claims(html, article.url)
    elif article.slug == "bibliography":
        yield from _sources(library, article.url)
    elif article.slug == "questions":
        yield from _questions(html, article.url)


def _formulas(html: str, url: str) -> Iterator[SearchEntry]:
    """Yield every formula with its meaning, its symbols, and its value at the defaults."""
    for match in _SECTION.finditer(html):
        value = _VALUE.search(match["text"])
        example = f"With the inputs of the sheet: {value[1]}. " if value else ""
        after = match["text"].partition("</div></div>")[2] or match["text"]
        title = escape(_plain_text(match["title"]))
        text = f"<h1>{title}</h1><p>{example}{escape(_plain_text(after))}</p>"
        yield SearchEntry(name=match["id"], kind="Formula", html=text, url=f"{url}#{match['id']}")


def _claims(html: str, url: str) -> Iterator[SearchEntry]:
    """Yield every claim with its printed value, its correct value, the verdict and the reason."""
    rows = [
        (_COLUMN.findall(table), row)
        for table in _TABLE.findall(html)
        for row in _ROW.findall(table)
    ]
    for number, (names, row) in enumerate(rows):
        cells = dict(zip(("Claim", *names[1:]), map(_plain_text, _CELL.findall(row)), strict=True))
        details = {
            label: cells[label].rstrip(".") for label in ("Printed", "Right", "Verdict", "Why")
        }
        rest = " ".join(f"{label}: {text}." for label, text in details.items())
        text = f"<h1>{escape(cells['Claim'])}</h1><p>{escape(rest)}</p>"
        yield SearchEntry(name=str(number), kind="Claim", html=text, url=f"{url}#claims_checked")


def _questions(html: str, url: str) -> Iterator[SearchEntry]:
    """Yield every question with its answer as the page shows it."""
    for match in _SECTION.finditer(html):
        title = escape(_plain_text(match["title"]))
        text = f"<h1>{title}</h1><p>{escape(_plain_text(match['text']))}</p>"
        yield SearchEntry(name=match["id"], kind="Question", html=text, url=f"{url}#{match['id']}")


def _sources(library: Library, url: str) -> Iterator[SearchEntry]:
    """Yield every source; its title weighs less than that of a page which explains the topic."""
    for key, reference in library.references.items():
        citation = f"{reference.authors} ({reference.year}). {reference.where}."
        text = (
            f'<h1 data-pagefind-weight="2">{escape(reference.title)}</h1>'
            f"<p>{escape(f'{citation} {reference.used_for}'.strip())}</p>"
        )
        yield SearchEntry(name=key, kind="Source", html=text, url=f"{url}#ref-{key}")


def _plain_text(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", _UNSPOKEN.sub("", html)))).strip(
        " ·"
    )
