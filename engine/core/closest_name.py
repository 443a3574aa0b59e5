"""Spelling suggestions: the known name closest to a misspelled one."""

from collections.abc import Iterable


def closest(word: str, names: Iterable[str]) -> str:
    """Return the name with the smallest edit distance; "" if over a third of the word differs."""
    best = min(((edit_distance(word, name), name) for name in names), default=(0, ""))
    return best[1] if 3 * best[0] <= len(word) else ""


def edit_distance(first: str, second: str) -> int:
    """Return the Levenshtein distance of two words (Levenshtein 1966)."""
    distances = list(range(len(second) + 1))
    for count, letter in enumerate(first, 1):
        before, distances[0] = distances[0], count
        for column, other_letter in enumerate(second, 1):
            change = before + (letter != other_letter)
            before, distances[column] = (
                distances[column],
                min(change, distances[column] + 1, distances[column - 1] + 1),
            )
    return distances[-1]
