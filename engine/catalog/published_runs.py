"""Table of published training runs: settings and measurements of each source.

A row holds the columns of the source's own table, one spelling for one thing; what a table leaves
out is empty. Step times and peaks of memory are measured by others, none of them by this project.
"""

from collections.abc import Mapping
from functools import cache

from engine.catalog.published_runs_sources import SOURCES as SOURCES
from engine.catalog.published_table import TEXT

Row = Mapping[str, str]


TABLE = "engine/catalog/published_table.tsv"


@cache
def published_rows() -> tuple[Row, ...]:
    """Return all rows, each a mapping of column to text."""
    return read_rows(TEXT)


def read_rows(text: str) -> tuple[Row, ...]:
    """Return the rows of a table whose first line names its columns.

    Raises:
        ValueError: a row has too few or too many columns, or the name of an earlier one; the
            message has its line.
    """
    head, *lines = text.splitlines()
    columns = head.split("\t")
    first: dict[str, int] = {}
    rows = []
    for line, cells in enumerate((line.split("\t") for line in lines), start=2):
        name = cells[0]
        if len(cells) != len(columns):
            raise ValueError(
                f"{TABLE}:{line}: row '{name}' has {len(cells)} columns, parted by tabs; the "
                f"first line names {len(columns)}"
            )
        if first.setdefault(name, line) != line:
            raise ValueError(f"{TABLE}:{line}: row '{name}' stands on line {first[name]}, too")
        rows.append(dict(zip(columns, cells, strict=True)))
    return tuple(rows)
