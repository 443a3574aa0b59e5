"""Each published run's error with constants that were fitted without its source."""

from functools import cache

from engine.basis.units import Ratio
from engine.catalog.unseen_table import TEXT


@cache
def unseen_logs() -> dict[str, Ratio]:
    """Return row -> the logarithm of predicted over measured (`unseen_table.tsv`)."""
    pairs = (line.split("\t") for line in TEXT.splitlines())
    return {row: float(log) for row, log in pairs}
