"""Search entries of reference pages: each formula, claim, source and answered question."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape

from builder.content.article import Article
from builder.content.library import Library

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
