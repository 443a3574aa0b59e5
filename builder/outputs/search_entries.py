"""What can be found on the pages of lists: each formula, claim, source, and answered question."""

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
_SILENT = re.compile(
    r"<(math|script|template|button)\b.*?</\1>|<a class=\"headerlink\".*?</a>", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing to find: its kind, its words as HTML, and its place below the home page."""

    name: str
    kind: str
    html: str
    url: str


def of(article: Article, html: str, library: Library) -> Iterator[Entry]:
    """Yield what is on a page of lists; nothing for any other page."""
    if article.slug == "formulas":
        yield from _formulas(html, article.url)
    elif article.slug == "claims":
        yield from _claims(html, article.url)
    elif article.slug == "bibliography":
        yield from _sources(library, article.url)
    elif article.slug == "questions":
        yield from _questions(html, article.url)


def _formulas(html: str, url: str) -> Iterator[Entry]:
    """Yield every formula with its meaning, its symbols, and its value at the defaults."""
    for found in _SECTION.finditer(html):
        value = _VALUE.search(found["text"])
        said = f"With the inputs of the sheet: {value[1]}. " if value else ""
        after = found["text"].partition("</div></div>")[2] or found["text"]
        text = f"<h1>{escape(_bare(found['title']))}</h1><p>{said}{escape(_bare(after))}</p>"
        yield Entry(name=found["id"], kind="Formula", html=text, url=f"{url}#{found['id']}")


def _claims(html: str, url: str) -> Iterator[Entry]:
    """Yield every claim with what is printed, what is right, and why."""
    rows = [
        (_COLUMN.findall(one), row) for one in _TABLE.findall(html) for row in _ROW.findall(one)
    ]
    for number, (names, row) in enumerate(rows):
        cells = dict(zip(("Claim", *names[1:]), map(_bare, _CELL.findall(row)), strict=True))
        told = {label: cells[label].rstrip(".") for label in ("Printed", "Right", "Verdict", "Why")}
        rest = " ".join(f"{label}: {text}." for label, text in told.items())
        text = f"<h1>{escape(cells['Claim'])}</h1><p>{escape(rest)}</p>"
        yield Entry(name=str(number), kind="Claim", html=text, url=f"{url}#claims_checked")


def _questions(html: str, url: str) -> Iterator[Entry]:
    """Yield every question with its answer as the page shows it."""
    for found in _SECTION.finditer(html):
        text = f"<h1>{escape(_bare(found['title']))}</h1><p>{escape(_bare(found['text']))}</p>"
        yield Entry(name=found["id"], kind="Question", html=text, url=f"{url}#{found['id']}")


def _sources(library: Library, url: str) -> Iterator[Entry]:
    """Yield every source; its title weighs less than that of a page which explains the thing."""
    for key, one in library.references.items():
        who = f"{one.authors} ({one.year}). {one.where}."
        text = (
            f'<h1 data-pagefind-weight="2">{escape(one.title)}</h1>'
            f"<p>{escape(f'{who} {one.used_for}'.strip())}</p>"
        )
        yield Entry(name=key, kind="Source", html=text, url=f"{url}#ref-{key}")


def _bare(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", _SILENT.sub("", html)))).strip(" ·")
