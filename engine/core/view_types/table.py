"""Tables with text cells, citations and links to calculators."""

from dataclasses import dataclass

from engine.core.numbers import DEFAULT, Display
from engine.core.text import Text, render_text


@dataclass(frozen=True, slots=True)
class Citation:
    """A cell that links to entries of the reference list, by their keys of the bibliography."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CalculatorLink:
    """A cell that links to a calculator of the same page with the inputs of the row.

    Attributes:
        text: of the link.
        calculator: that it opens.
        query: its inputs as in an address, "calculator.input=value&...".
        keeps: whether inputs that the query does not name stay as the reader set them.
        page: where the calculator is, if not on the same page, as "guides/NAME"; the page of the
            link lies as deep.
        job: the reader's job as a query, to be kept on the device for other pages.
    """

    text: str
    calculator: str
    query: str
    keeps: bool = False
    page: str = ""
    job: str = ""


@dataclass(frozen=True, slots=True)
class WebLink:
    """A cell that links to a page outside of the site, by an address of the catalog."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class ColoredText:
    """A cell of a word in the color of a part; the word alone says what the color does."""

    text: str
    color: str


Cell = Text | Citation | CalculatorLink | WebLink | ColoredText


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of texts and citations; the first column names the row.

    `links` holds, for each row, the objects it belongs to, as in `Span`; empty if no row has any.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: Text = ""
    links: tuple[tuple[str, ...], ...] = ()


def cell_text(cell: Cell, display: Display = DEFAULT) -> str:
    """Return a cell as plain text: its sentence, citation keys or link text."""
    if isinstance(cell, CalculatorLink | WebLink | ColoredText):
        return cell.text
    return ", ".join(cell.keys) if isinstance(cell, Citation) else render_text(cell, display)


def table_texts(view: Table, display: Display = DEFAULT) -> list[list[str]]:
    """Return all cells as plain text, row by row."""
    return [[cell_text(cell, display) for cell in row] for row in view.rows]
