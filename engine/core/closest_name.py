"""Which of some names a misspelled one is taken to mean."""

from collections.abc import Iterable


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name that the fewest edits make of a word; "" if more than a third must change."""
    found = min(((edits(word, name), name) for name in names), default=(0, ""))
    return found[1] if 3 * found[0] <= len(word) else ""


def edits(one: str, other: str) -> int:
    """Return how many characters to insert, delete or replace (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for count, mine in enumerate(one, 1):
        before, row[0] = row[0], count
        for place, theirs in enumerate(other, 1):
            change = before + (mine != theirs)
            before, row[place] = row[place], min(change, row[place] + 1, row[place - 1] + 1)
    return row[-1]
