"""Published training runs: what each source says of a run, and what it measured.

A row holds the columns of the source's own table, one spelling for one thing; what a table leaves
out is empty. Step times and peaks of memory are measured by others, none of them by this project.
"""

from collections.abc import Mapping
from functools import cache

from engine.catalog.published_runs_sources import SOURCES as SOURCES
from engine.catalog.published_table import TEXT

Row = Mapping[str, str]


@cache
def rows() -> tuple[Row, ...]:
    """Return every row: column -> what stands there."""
    head, *lines = TEXT.splitlines()
    columns = head.split("\t")
    return tuple(dict(zip(columns, line.split("\t"), strict=True)) for line in lines)
