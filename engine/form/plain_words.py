"""Field names in sentences, as plain words."""

from collections.abc import Iterable


def plain_sentences(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return sentences with field names as plain words."""
    plain = (sentence.replace("_", " ") for sentence in sentences)
    return tuple(sentence[:1].upper() + sentence[1:] for sentence in plain)
