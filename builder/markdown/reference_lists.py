"""Reference lists: fills placements such as `[[glossary.*]]` on a line of their own.

They list content of all pages, so they are filled in after all articles are rendered.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builder.content.bibliography import Reference
from builder.content.library import Library, Term
from builder.content.link_targets import fill_placeholders
from builder.markdown.extensions.references import term_id
from engine.core.numbers import DEFAULT
from engine.core.views import Table
from engine.draw.fragments import table_fragment

_BYTES = "bytes"


def measurement_tables(measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield the HTML tables of measured page loads: first and repeated visits of every place."""
    for connection, sides in measured.get("places", {}).items():
        for visit, visit_name in (("first", "first visit"), ("again", "repeated visit")):
            rows = {side: numbers[visit] for side, numbers in sides.items()}
            names = list(dict.fromkeys(name for row in rows.values() for name in row))
            table = Table(
                title=f"{connection[:1].upper()}{connection[1:]}, {visit_name}",
                columns=("Made with", *(_column_title(name) for name in names)),
                rows=tuple(
                    (side, *(_cell_text(name, row.get(name)) for name in names))
                    for side, row in rows.items()
                ),
            )
            yield table_fragment(table, DEFAULT)


def _column_title(name: str) -> str:
    """Return a column title, capitalized except for the unit kB."""
    return "kB" if name == _BYTES else f"{name[:1].upper()}{name[1:]}"


def _cell_text(name: str, value: float | None) -> str:
    """Return the text of a cell, "none" without a measured value."""
    if value is None:
        return "none"
    if name == _BYTES:
        return f"{value / 1000:,.0f}"
    return f"{value:,.3f}" if 0 < value < 1 else f"{value:,.0f}"


NAMES = ("glossary", "bibliography", "embedding", "kept", "imports", "measured")
PLACEHOLDERS = {f"[[{name}.*]]": f"<div>⟦list={name}⟧</div>" for name in NAMES}

IMPORTS = "⟦list=imports⟧"
SAVED_PAGES = "[[kept.*]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPage:
    """A page as the lists name it; `cites` are its citation keys, those of its numbers included."""

    slug: str
    url: str
    title: str
    cites: tuple[str, ...]


def insert_placeholders(body: str) -> str:
    """Return the article's Markdown with a placeholder for each list."""
    if not any(mark in body for mark in PLACEHOLDERS):
        return body
    return "\n".join(PLACEHOLDERS.get(line, line) for line in body.splitlines())


def has_placeholders(html: str) -> bool:
    """Say whether the HTML has a placeholder of a list."""
    return "⟦list=" in html


def fill_lists(
    html: str,
    library: Library,
    pages: Iterable[ListedPage],
    calculators: Mapping[str, str],
    blocks: Any,  # noqa: ANN401
    imports: str,
) -> str:
    """Return the HTML with its placeholders replaced by lists.

    Args:
        html: of one page.
        library: terms and sources.
        pages: all pages with an article.
        calculators: name -> title of every calculator.
        blocks: the module of blocks.html.
        imports: the import matrix, "" on a page without it.
    """
    listed = tuple(pages)
    by_title = sorted(calculators.items(), key=lambda item: item[1].lower())
    numbers = library.measured or {}
    lists: dict[str, Callable[[], object]] = {
        "embedding": lambda: blocks.embedding(by_title),
        "kept": blocks.kept,
        "imports": lambda: imports,
        "measured": lambda: (
            blocks.measured(numbers, tuple(measurement_tables(numbers))) if numbers else ""
        ),
        "glossary": lambda: blocks.glossary(_terms(library, listed)),
        "bibliography": lambda: blocks.bibliography(_sources(library, listed)),
    }
    return fill_placeholders(html, {"list": lambda name: str(lists[name]())})


def _terms(
    library: Library, pages: tuple[ListedPage, ...]
) -> list[tuple[Term, str, ListedPage | None]]:
    """Return (term, its id, the page about it) by name."""
    by_slug: Mapping[str, ListedPage] = {page.slug: page for page in pages}
    terms = sorted(set(library.terms.values()), key=lambda term: term.name.lower())
    return [(term, term_id(term.name), by_slug.get(term.see)) for term in terms]


def _sources(
    library: Library, pages: tuple[ListedPage, ...]
) -> list[tuple[Reference, tuple[ListedPage, ...]]]:
    """Return (source, pages that cite it) by label."""
    references = sorted(library.references.values(), key=lambda reference: reference.sort_key)
    return [
        (reference, tuple(page for page in pages if reference.key in page.cites))
        for reference in references
    ]
