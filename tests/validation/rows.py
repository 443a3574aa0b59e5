"""The published runs of a table, as the engine reads them."""

import csv
from pathlib import Path

from engine.run import published
from engine.run.published import PublishedRun


def cases(table: Path) -> tuple[list[PublishedRun], dict[str, str]]:
    """Return the runs of the table that can be expressed, and why the others cannot."""
    with table.open(encoding="utf-8") as file:
        delimiter = "\t" if table.suffix == ".tsv" else ","
        return published.read_published_runs(csv.DictReader(file, delimiter=delimiter))
