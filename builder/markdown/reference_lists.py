"""The lists that a page asks for, such as `[[glossary.*]]`, on a line of their own.

They hold what all pages share, so they are filled in when all articles are rendered.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builder.content.bibliography import Reference
from builder.content.library import Library, Term
from builder.markdown.extensions.glossary import term_id
from engine.core.numbers import DEFAULT
from engine.core.views import Table
from engine.draw.fragments import table_fragment

_BYTES = "bytes"


def tables(measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of every place, of its first visits and of those after them, as HTML."""
    for place, sides in measured.get("places", {}).items():
        for visit, said in (("first", "first visit"), ("again", "repeated visit")):
            rows = {side: numbers[visit] for side, numbers in sides.items()}
            names = list(dict.fromkeys(name for row in rows.values() for name in row))
            table = Table(
                title=f"{place[:1].upper()}{place[1:]}, {said}",
                columns=("Made with", *(_head(name) for name in names)),
                rows=tuple(
                    (side, *(_text(name, row.get(name)) for name in names))
                    for side, row in rows.items()
                ),
            )
            yield table_fragment(table, DEFAULT)


def _head(name: str) -> str:
    """Return a heading; the unit of bytes keeps its small letter."""
    return "kB" if name == _BYTES else f"{name[:1].upper()}{name[1:]}"


def _text(name: str, value: float | None) -> str:
    """Return a cell; a side has no number where it does not get that far."""
    if value is None:
        return "none"
    if name == _BYTES:
        return f"{value / 1000:,.0f}"
    return f"{value:,.3f}" if 0 < value < 1 else f"{value:,.0f}"


NAMES = ("glossary", "bibliography", "embedding", "kept", "imports", "measured")
MARKS = {f"[[{name}.*]]": f"<div>⟦list:{name}⟧</div>" for name in NAMES}

IMPORTS, _MEASURED = "⟦list:imports⟧", "⟦list:measured⟧"
KEPT = "[[kept.*]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page as the lists name it; `cites` are the keys of what it cites, its numbers included."""

    slug: str
    url: str
    title: str
    cites: tuple[str, ...]


def expanded(body: str) -> str:
    """Return the article's Markdown with a mark where a list is asked for."""
    if not any(mark in body for mark in MARKS):
        return body
    return "\n".join(MARKS.get(line, line) for line in body.splitlines())


def has_any(html: str) -> bool:
    """Say whether there is a mark to fill."""
    return "⟦list:" in html


def filled(
    html: str,
    library: Library,
    pages: Iterable[Page],
    calculators: Mapping[str, str],
    blocks: Any,  # noqa: ANN401
) -> str:
    """Return the HTML with its marks replaced.

    Args:
        html: of one page.
        library: terms and sources.
        pages: all pages that people have written.
        calculators: name -> title of every calculator.
        blocks: the module of blocks.html.
    """
    known = tuple(pages)
    by_title = sorted(calculators.items(), key=lambda one: one[1].lower())
    html = html.replace("⟦list:embedding⟧", str(blocks.embedding(by_title)))
    html = html.replace("⟦list:kept⟧", str(blocks.kept()))
    if _MEASURED in html:
        numbers = library.measured or {}
        shown = blocks.measured(numbers, tuple(tables(numbers))) if numbers else ""
        html = html.replace(_MEASURED, str(shown))
    html = html.replace("⟦list:glossary⟧", str(blocks.glossary(_terms(library, known))))
    return html.replace("⟦list:bibliography⟧", str(blocks.bibliography(_sources(library, known))))


def _terms(library: Library, pages: tuple[Page, ...]) -> list[tuple[Term, str, Page | None]]:
    """Return (term, its id, the page about it) by name."""
    by_slug: Mapping[str, Page] = {page.slug: page for page in pages}
    found = sorted(set(library.terms.values()), key=lambda term: term.name.lower())
    return [(term, term_id(term.name), by_slug.get(term.see)) for term in found]


def _sources(library: Library, pages: tuple[Page, ...]) -> list[tuple[Reference, tuple[Page, ...]]]:
    """Return (source, pages that cite it) by label."""
    found = sorted(library.references.values(), key=lambda one: one.place)
    return [(one, tuple(page for page in pages if one.key in page.cites)) for one in found]
