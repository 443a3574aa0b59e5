"""How many there are of something, in words."""

from collections.abc import Iterable

from builder.core.folders import RECEIPTS


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 page", "0 pages", "2 addresses"."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{count} {noun}{'' if count == 1 else plural}"


def pages_among(names: Iterable[str]) -> list[str]:
    """Return the pages among files of the output; the receipts of one are part of it."""
    beside = f"/{RECEIPTS}index.html"
    return [one for one in names if one.endswith(".html") and not f"/{one}".endswith(beside)]
