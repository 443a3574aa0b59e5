"""Sentences that name fields, as a reader knows these."""

from collections.abc import Iterable


def plainly(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return sentences that name fields, in plain words."""
    plain = (sentence.replace("_", " ") for sentence in sentences)
    return tuple(sentence[:1].upper() + sentence[1:] for sentence in plain)
