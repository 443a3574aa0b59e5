"""Table of published training runs: settings and measurements of each source.

A row holds the columns of the source's own table, one spelling for one thing; what a table leaves
out is empty. Step times and peaks of memory are measured by others, none of them by this project.
"""

from collections.abc import Mapping
from functools import cache

from engine.catalog.published_runs_sources import SOURCES as SOURCES
from engine.catalog.published_table import TEXT

Row = Mapping[str, str]


@cache
def published_rows() -> tuple[Row, ...]:
    """Return all rows, each a mapping of column to text."""
    head, *lines = TEXT.splitlines()
    columns = head.split("\t")
    return tuple(dict(zip(columns, line.split("\t"), strict=True)) for line in lines)
