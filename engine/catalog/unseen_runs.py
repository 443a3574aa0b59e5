"""Each published run's errors with constants fitted without its source, and without its model."""

from functools import cache

from engine.catalog.unseen_table import TEXT
from engine.core.derived_rows import DerivedRows, Value
from engine.core.units import Ratio

# How much the errors, and the ends of the ranges, are rounded in their files.
ROUNDED: Ratio = 1e-5


@cache
def unseen_logs() -> dict[str, Ratio]:
    """Return row -> the logarithm of predicted over measured, without its source."""
    return _derived({row: source for row, (source, _) in unseen_log_pairs().items()})


@cache
def unseen_log_pairs() -> dict[str, tuple[Ratio, Ratio]]:
    """Return row -> the logarithms without its source, and without its model."""
    lines = (line.split("\t") for line in TEXT.splitlines())
    return _derived({row: (float(source), float(model)) for row, source, model in lines})


def _derived(rows: dict[str, Value]) -> DerivedRows[Value]:
    return DerivedRows(rows, table="unseen_table.tsv", program="tests.validation.published")
